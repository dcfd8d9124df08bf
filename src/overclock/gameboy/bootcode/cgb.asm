; What runs before a game on a Game Boy Color: as dmg.asm, with palettes of four grays for games that know no color.

COLOR_FLAG equ 0x143
OLD_GAMES equ 0x04 ; for KEY0: work as a Game Boy

begin:
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

    ld a, 0x80 ; from color 0 on, one after the other
    ldh [BCPS], a
    ldh [OCPS], a
    ld c, 2
.palettes:
    ld hl, grays
    ld b, grays.end - grays
.colors:
    ld a, [hl+]
    ldh [BCPD], a
    ldh [OCPD], a
    dec b
    jr nz, .colors
    dec c
    jr nz, .palettes

    ld a, [COLOR_FLAG]
    bit 7, a
    jr nz, .colored
    ld a, OLD_GAMES
.colored:
    ldh [KEY0], a
    ld a, 0x91
    ldh [LCDC], a
    ld hl, 0x1180
    push hl
    pop af
    ld bc, 0x0000
    ld de, 0xFF56
    ld hl, 0x000D
    jp leave

grays:
    dw 0x7FFF, 0x56B5, 0x294A, 0x0000
.end:

    org 0xFC
leave:
    ld a, 0x11
    ldh [BOOT_OFF], a ; the next instruction is that of the game, at 0100
