; A benchmark: forty moving sprites of both sizes, a scrolling background and a window that slides, paced by HALT.

    org 0xC000
frame_passed: ds 1
frames: ds 1
lcdc: ds 1

    org 0xC100
shadow_oam: ds 160

    org 0x40
    jp vblank
    org 0x48
    reti

    org 0x150
start:
    di
    ld sp, 0xE000
.off:
    ldh a, [LY]
    cp 145
    jr nz, .off
    xor a
    ldh [LCDC], a
    ld hl, VRAM
    ld bc, 0x2000
    ld d, 0x35
.fill:
    ld a, d
    add l
    rlca
    xor h
    ld d, a
    ld [hl+], a
    dec bc
    ld a, b
    or c
    jr nz, .fill
    ld hl, shadow_oam
    ld b, 160
.sprites:
    ld a, d
    add 0x4D
    rlca
    ld d, a
    ld [hl+], a
    dec b
    jr nz, .sprites
    ld hl, dma_routine
    ld de, HRAM
    ld b, dma_routine.end - dma_routine
.copy:
    ld a, [hl+]
    ld [de], a
    inc de
    dec b
    jr nz, .copy
    ld a, 0xE4
    ldh [BGP], a
    ldh [OBP0], a
    ld a, 0x1B
    ldh [OBP1], a
    ld a, 0xF3
    ld [lcdc], a
    ldh [LCDC], a
    xor a
    ldh [IF], a
    inc a
    ldh [IE], a
    ei

.frame:
    halt
    nop
    ld a, [frame_passed]
    or a
    jr z, .frame
    xor a
    ld [frame_passed], a
    ld hl, shadow_oam
    ld b, 40
.move:
    ld a, [hl]
    inc a
    ld [hl+], a
    ld a, b
    and 3
    add [hl]
    ld [hl+], a
    inc hl
    inc hl
    dec b
    jr nz, .move
    ld hl, frames
    inc [hl]
    ld a, [hl]
    ldh [SCX], a
    rrca
    ldh [SCY], a
    and 0x7F
    ldh [WY], a
    xor 0x7F
    ldh [WX], a
    ld a, [hl]
    and 0x3F
    jr nz, .frame
    ld a, [lcdc]
    xor 0x04 ; small and tall sprites in turn
    ld [lcdc], a
    jr .frame

vblank:
    push af
    call HRAM
    ld a, [lcdc]
    ldh [LCDC], a
    ld a, 1
    ld [frame_passed], a
    pop af
    reti

dma_routine:
    ld a, high(shadow_oam)
    ldh [DMA], a
    ld a, 40
.wait:
    dec a
    jr nz, .wait
    ret
.end:
