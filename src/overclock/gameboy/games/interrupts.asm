; A benchmark: interrupts all the time. The timer every 256 cycles or so, STAT on every line, the vertical blank; the
; program itself halts.

    org 0xC000
timer_count: ds 2
line_count: ds 2
frame_count: ds 2
sum: ds 1

    org 0x40
    jp vblank
    org 0x48
    jp stat
    org 0x50
    jp timer

    org 0x150
start:
    di
    ld sp, 0xE000
    ld a, 0xE4
    ldh [BGP], a
    ld a, 0xF0
    ldh [TMA], a
    ldh [TIMA], a
    ld a, 0x05
    ldh [TAC], a
    ld a, 0x08
    ldh [STAT], a
    xor a
    ldh [IF], a
    ld a, 0x07
    ldh [IE], a
    ei
.idle:
    halt
    nop
    ld hl, sum
    inc [hl]
    jr .idle

timer:
    push af
    push hl
    ld hl, timer_count
    inc [hl]
    jr nz, .done
    inc hl
    inc [hl]
.done:
    pop hl
    pop af
    reti

stat:
    push af
    push hl
    ld hl, line_count
    inc [hl]
    jr nz, .scroll
    inc hl
    inc [hl]
.scroll:
    ldh a, [LY]
    ldh [SCX], a
    pop hl
    pop af
    reti

vblank:
    push af
    push hl
    ld hl, frame_count
    inc [hl]
    jr nz, .done
    inc hl
    inc [hl]
.done:
    pop hl
    pop af
    reti
