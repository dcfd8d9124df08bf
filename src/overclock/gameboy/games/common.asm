; What both games share: RAM from C000 to C3FF with `seed`, `score`, `lives`, `pad`, `pad_new`, `frame_passed` and
; `shadow_oam` in it, and `tiles`.

; Everything empty, the tiles in VRAM, the routine that writes OAM in HRAM; leaves the screen off.
prepare:
    call screen_off
    ld hl, 0xC000
    ld bc, 0x0400
    call clear
    ld hl, VRAM
    ld bc, 0x2000
    call clear
    ld hl, OAM
    ld bc, 160
    call clear
    ld hl, tiles
    ld de, VRAM
    ld bc, tiles.end - tiles
    call copy
    ld hl, dma_routine
    ld de, HRAM
    ld bc, dma_routine.end - dma_routine
    call copy
    ret

; Returns when `seed` is not zero: a program wrote it, or Start took it from DIV.
wait_for_seed:
    call next_frame
    call read_pad
    ld a, [pad_new]
    bit 7, a
    jr z, .seeded
    ldh a, [DIV]
    ld [seed], a
    ld a, 0x5A
    ld [seed + 1], a
.seeded:
    ld hl, seed
    ld a, [hl+]
    or [hl]
    jr z, wait_for_seed
    ret

; Waits for the next vertical blank.
next_frame:
    halt
    nop
    ld a, [frame_passed]
    or a
    jr z, next_frame
    xor a
    ld [frame_passed], a
    ret

; Copied to HRAM and run there: only that can be reached while OAM is written.
dma_routine:
    ld a, high(shadow_oam)
    ldh [DMA], a
    ld a, 40
.wait:
    dec a
    jr nz, .wait
    ret
.end:

; Buttons that are down, and of these the ones that were not: right, left, up, down, a, b, select, start from bit 0 on.
read_pad:
    ld a, 0x20
    ldh [P1], a
    ldh a, [P1]
    ldh a, [P1]
    cpl
    and 0x0F
    ld b, a
    ld a, 0x10
    ldh [P1], a
    ldh a, [P1]
    ldh a, [P1]
    ldh a, [P1]
    ldh a, [P1]
    cpl
    and 0x0F
    swap a
    or b
    ld b, a
    ld a, 0x30
    ldh [P1], a
    ld a, [pad]
    cpl
    and b
    ld [pad_new], a
    ld a, b
    ld [pad], a
    ret

; a = a random byte; changes hl.
random:
    ld hl, seed
    ld a, [hl+]
    ld h, [hl]
    ld l, a
    ld a, h
    rra
    ld a, l
    rra
    xor h
    ld h, a
    ld a, l
    rra
    ld a, h
    rra
    xor l
    ld l, a
    xor h
    ld h, a
    ld a, l
    ld [seed], a
    ld a, h
    ld [seed + 1], a
    ret

; Off only in the vertical blank, as the console wants it.
screen_off:
    ldh a, [LCDC]
    rlca
    ret nc
.wait:
    ldh a, [LY]
    cp 144
    jr c, .wait
    xor a
    ldh [LCDC], a
    ret

clear:
    xor a
    ld [hl+], a
    dec bc
    ld a, b
    or c
    jr nz, clear
    ret

copy:
    ld a, [hl+]
    ld [de], a
    inc de
    dec bc
    ld a, b
    or c
    jr nz, copy
    ret

; Two BCD digits of a as tiles to hl; changes b.
show_two:
    ld b, a
    swap a
    call .one
    ld a, b
.one:
    and 0x0F
    add DIGITS
    ld [hl+], a
    ret

; Adds one to the two BCD bytes of `score`.
score_one:
    ld a, [score]
    add 1
    daa
    ld [score], a
    ld a, [score + 1]
    adc 0
    daa
    ld [score + 1], a
    ret

; Hearts for `lives` of LIVES to hl.
show_lives:
    ld a, [lives]
    ld c, a
    ld b, LIVES
.hearts:
    ld a, c
    or a
    ld a, BLANK
    jr z, .lost
    dec c
    ld a, HEART
.lost:
    ld [hl+], a
    dec b
    jr nz, .hearts
    ret
