; A maze collector: walk one tile per press, collect all pellets, keep away from the chaser.
;
; The game waits until `seed` is not zero (a program writes it, or Start takes it from DIV), then makes a maze from it.
; `score` counts pellets (two BCD bytes, the lower first); `state` is WAITING, PLAYING or OVER.

WAITING equ 0
PLAYING equ 1
OVER equ 2

COLUMNS equ 19 ; of the board, in tiles; walls are around it
ROWS equ 15
LIVES equ 3
TILE_STEPS equ 8 ; frames from tile to tile
REST equ 2 ; frames before the next step, so that a press of 8 frames is one tile
CHASER_PACE equ 4 ; frames per pixel of the chaser
REACH equ 6 ; pixels at which it has caught the player

RIGHT equ 1
LEFT equ 2
UP equ 3
DOWN equ 4

BLANK equ 0
WALL equ 1
PELLET equ 2
PLAYER equ 3
CHASER equ 4
DIGITS equ 5
HEART equ 15

    org 0xC000
state: ds 1
seed: ds 2 ; also the state of the random numbers
score: ds 2
lives: ds 1
pellets: ds 1 ; left to collect
player_x: ds 1 ; in pixels of the board
player_y: ds 1
player_direction: ds 1
player_steps: ds 1 ; pixels left of the present step
player_rest: ds 1
chaser_x: ds 1
chaser_y: ds 1
chaser_direction: ds 1
chaser_steps: ds 1
chaser_clock: ds 1
pad: ds 1 ; buttons that are down: right, left, up, down, a, b, select, start from bit 0 on
pad_new: ds 1 ; those that were not down before
frame_passed: ds 1
erase: ds 2 ; address in the map that becomes blank in the next vertical blank, or 0
frames: ds 2
variables_end:

    org 0xC100
shadow_oam: ds 160

    org 0xC200
board: ds 512 ; as the map in VRAM: 32 tiles per row

    org 0x40
    jp vblank
    org 0x48
    reti
    org 0x50
    reti
    org 0x58
    reti
    org 0x60
    reti

    org 0x150
start:
    di
    ld sp, 0xE000
    call prepare
    ld a, 0xE4
    ldh [BGP], a
    ldh [OBP0], a
    ld a, 0xD0
    ldh [OBP1], a
    ld a, 120 ; the last three rows belong to the score
    ldh [WY], a
    ld a, 7
    ldh [WX], a
    xor a
    ldh [SCX], a
    ldh [SCY], a
    ldh [IF], a
    call screen_on
    ld a, 1
    ldh [IE], a
    ei
    call wait_for_seed
    call begin

.play:
    call next_frame
    ld hl, frames
    inc [hl]
    jr nz, .count
    inc hl
    inc [hl]
.count:
    call read_pad
    ld a, [state]
    cp PLAYING
    jr nz, .over
    call move_player
    call move_chaser
    call check_caught
    call draw
    jr .play
.over:
    ld a, [pad_new]
    bit 7, a
    jr z, .play
    jp start

vblank:
    push af
    push bc
    push de
    push hl
    call HRAM
    ld hl, erase
    ld a, [hl+]
    ld e, a
    ld d, [hl]
    or d
    jr z, .digits
    xor a
    ld [de], a
    ld [hl-], a
    ld [hl], a
.digits:
    ld hl, MAP1 + 33
    ld a, [score + 1]
    call show_two
    ld a, [score]
    call show_two
    ld hl, MAP1 + 47
    call show_lives
    ld a, 1
    ld [frame_passed], a
    pop hl
    pop de
    pop bc
    pop af
    reti

; A new game in a maze from the seed.
begin:
    call screen_off
    ld a, LIVES
    ld [lives], a
    xor a
    ld [score], a
    ld [score + 1], a
    call make_maze
    call place
    call draw
    ld hl, board
    ld de, MAP0
    ld bc, 512
    call copy
    ld a, PLAYING
    ld [state], a
    jp screen_on

; Player and chaser at opposite corners.
place:
    ld a, 8
    ld [player_x], a
    ld [player_y], a
    ld a, (COLUMNS - 2) * 8
    ld [chaser_x], a
    ld a, (ROWS - 2) * 8
    ld [chaser_y], a
    xor a
    ld [player_steps], a
    ld [player_rest], a
    ld [chaser_steps], a
    ret

; Walls around, a pillar at every even place, and from half of the pillars a bar to the right or down. Such bars form
; trees that touch the border once, so every place can be reached. Pellets lie at all odd places.
make_maze:
    xor a
    ld [pellets], a
    ld c, 0
.row:
    ld b, 0
.column:
    call cell
    ld d, WALL
    ld a, b
    or a
    jr z, .put
    cp COLUMNS - 1
    jr z, .put
    ld a, c
    or a
    jr z, .put
    cp ROWS - 1
    jr z, .put
    ld a, b
    or c
    rra
    jr nc, .put ; both even
    ld d, BLANK
    ld a, b
    and c
    rra
    jr nc, .put
    ld a, [pellets]
    inc a
    ld [pellets], a
    ld d, PELLET
.put:
    ld [hl], d
    inc b
    ld a, b
    cp COLUMNS
    jr nz, .column
    inc c
    ld a, c
    cp ROWS
    jr nz, .row

    ld c, 2
.pillar_row:
    ld b, 2
.pillar:
    call random
    ld d, a
    rra
    jr nc, .next
    call cell
    ld a, 1
    bit 1, d
    jr nz, .bar
    ld a, 32
.bar:
    add l
    ld l, a
    jr nc, .near
    inc h
.near:
    ld [hl], WALL
.next:
    inc b
    inc b
    ld a, b
    cp COLUMNS - 1
    jr nz, .pillar
    inc c
    inc c
    ld a, c
    cp ROWS - 1
    jr nz, .pillar_row
    ret

; hl = the board's tile in column b, row c.
cell:
    ld a, c
    swap a
    rlca
    ld h, a
    and 0xE0
    or b
    ld l, a
    ld a, h
    and 1
    add high(board)
    ld h, a
    ret

; b, c = the tile of the pixels b, c.
to_tile:
    srl b
    srl b
    srl b
    srl c
    srl c
    srl c
    ret

; b, c moved by one in direction a.
neighbour:
    dec a
    jr nz, .left
    inc b
    ret
.left:
    dec a
    jr nz, .up
    dec b
    ret
.up:
    dec a
    jr nz, .down
    dec c
    ret
.down:
    inc c
    ret

; Zero flag: the tile next to pixels b, c in direction d is a wall.
is_wall:
    call to_tile
    ld a, d
    call neighbour
    call cell
    ld a, [hl]
    cp WALL
    ret

move_player:
    ld a, [player_rest]
    or a
    jr z, .rested
    dec a
    ld [player_rest], a
    ret
.rested:
    ld a, [player_steps]
    or a
    jr nz, .step
    ld a, [pad]
    ld d, RIGHT
    rra
    jr c, .wanted
    inc d
    rra
    jr c, .wanted
    inc d
    rra
    jr c, .wanted
    inc d
    rra
    ret nc
.wanted:
    ld a, [player_x]
    ld b, a
    ld a, [player_y]
    ld c, a
    call is_wall
    ret z
    ld a, d
    ld [player_direction], a
    ld a, TILE_STEPS
    ld [player_steps], a
.step:
    ld a, [player_x]
    ld b, a
    ld a, [player_y]
    ld c, a
    ld a, [player_direction]
    call neighbour
    ld a, b
    ld [player_x], a
    ld a, c
    ld [player_y], a
    ld hl, player_steps
    dec [hl]
    ret nz
    ld a, REST
    ld [player_rest], a
    call to_tile
    call cell
    ld a, [hl]
    cp PELLET
    ret nz
    ld [hl], BLANK
    ld a, l
    ld [erase], a
    ld a, h
    add high(MAP0) - high(board)
    ld [erase + 1], a
    call score_one
    ld a, 0x40
    ldh [NR11], a
    ld a, 0xA1
    ldh [NR12], a
    ld a, 0x86
    ldh [NR14], a
    ld hl, pellets
    dec [hl]
    ret nz
    ld a, OVER
    ld [state], a
    ret

move_chaser:
    ld hl, chaser_clock
    inc [hl]
    ld a, [hl]
    cp CHASER_PACE
    ret c
    ld [hl], 0
    ld a, [chaser_steps]
    or a
    jr nz, .step
    call random
    cp 0x30
    jr c, .anywhere ; now and then
    call towards
    call .open
    jr nz, .go
    call random
.anywhere:
    and 3
    inc a
    ld d, a
    call .open
    ret z
.go:
    ld a, d
    ld [chaser_direction], a
    ld a, 8
    ld [chaser_steps], a
.step:
    ld a, [chaser_x]
    ld b, a
    ld a, [chaser_y]
    ld c, a
    ld a, [chaser_direction]
    call neighbour
    ld a, b
    ld [chaser_x], a
    ld a, c
    ld [chaser_y], a
    ld hl, chaser_steps
    dec [hl]
    ret
.open:
    ld a, [chaser_x]
    ld b, a
    ld a, [chaser_y]
    ld c, a
    jp is_wall

; d = the direction in which the player is further away from the chaser.
towards:
    ld a, [chaser_x]
    ld b, a
    ld a, [player_x]
    ld d, RIGHT
    sub b
    jr nc, .ahead
    cpl
    inc a
    ld d, LEFT
.ahead:
    ld e, a
    ld a, [chaser_y]
    ld b, a
    ld a, [player_y]
    ld c, DOWN
    sub b
    jr nc, .below
    cpl
    inc a
    ld c, UP
.below:
    cp e
    ret c
    ld d, c
    ret

check_caught:
    ld a, [chaser_x]
    ld b, a
    ld a, [player_x]
    call .near
    ret nc
    ld a, [chaser_y]
    ld b, a
    ld a, [player_y]
    call .near
    ret nc
    ld hl, lives
    dec [hl]
    jp nz, place
    ld a, OVER
    ld [state], a
    ret
.near:
    sub b
    jr nc, .sign
    cpl
    inc a
.sign:
    cp REACH
    ret

draw:
    ld hl, shadow_oam
    ld a, [player_y]
    add 16
    ld [hl+], a
    ld a, [player_x]
    add 8
    ld [hl+], a
    ld a, PLAYER
    ld [hl+], a
    xor a
    ld [hl+], a
    ld a, [chaser_y]
    add 16
    ld [hl+], a
    ld a, [chaser_x]
    add 8
    ld [hl+], a
    ld a, CHASER
    ld [hl+], a
    ld [hl], 0x10
    ret

screen_on:
    ld a, 0xF3 ; window with its own map, sprites, background
    ldh [LCDC], a
    ret

    include "common.asm"

tiles:
    ds 16 ; blank

    pixels 33333333
    pixels 32222223
    pixels 32222223
    pixels 32222223
    pixels 32222223
    pixels 32222223
    pixels 32222223
    pixels 33333333

    pixels ........
    pixels ........
    pixels ........
    pixels ...22...
    pixels ...22...
    pixels ........
    pixels ........
    pixels ........

    pixels ..3333..
    pixels .333333.
    pixels 33.33.33
    pixels 33333333
    pixels 33333333
    pixels 33....33
    pixels .333333.
    pixels ..3333..

    pixels 2......2
    pixels 22....22
    pixels .222222.
    pixels .2.22.2.
    pixels .222222.
    pixels ..2222..
    pixels .2....2.
    pixels 2......2

    include "digits.asm"
.end:
