; What runs before a game on a Game Boy: sets the registers as the console leaves them and gives way to the game.
; It checks no logo and shows nothing, so a game begins within the first frames.

    ld sp, 0xFFFE
    ld a, 0x80
    ldh [NR52], a
    ldh [NR11], a
    ld a, 0xF3
    ldh [NR12], a
    ldh [NR51], a
    ld a, 0x77
    ldh [NR50], a
    ld a, 0xFC
    ldh [BGP], a
    ld a, 0x91
    ldh [LCDC], a
    ld hl, 0x01B0
    push hl
    pop af
    ld bc, 0x0013
    ld de, 0x00D8
    ld hl, 0x014D
    jp leave

    org 0xFC
leave:
    ld a, 0x01
    ldh [BOOT_OFF], a ; the next instruction is that of the game, at 0100
