; A benchmark: a game that waits for the vertical blank by reading LY in a loop, as many early games do.

    org 0xC000
frames: ds 2
position: ds 1

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
    ld hl, tiles
    ld de, VRAM
    ld b, tiles.end - tiles
.copy:
    ld a, [hl+]
    ld [de], a
    inc de
    dec b
    jr nz, .copy
    ld hl, MAP0
    ld bc, 0x0400
.map:
    ld a, l
    rrca
    xor h
    and 1
    ld [hl+], a
    dec bc
    ld a, b
    or c
    jr nz, .map
    ld a, 0xE4
    ldh [BGP], a
    ld a, 0x91
    ldh [LCDC], a

.frame:
    ldh a, [LY]
    cp 144
    jr nz, .frame
    ld hl, frames
    inc [hl]
    jr nz, .scroll
    inc hl
    inc [hl]
.scroll:
    ld hl, position
    inc [hl]
    ld a, [hl]
    ldh [SCX], a
    srl a
    ldh [SCY], a
.leave:
    ldh a, [LY]
    cp 144
    jr z, .leave
    jr .frame

tiles:
    ds 16

    pixels 3..1....
    pixels .3.1....
    pixels ..31....
    pixels 1113....
    pixels ....3111
    pixels ....13..
    pixels ....1.3.
    pixels ....1..3
.end:
