; A paddle game: keep the ball in play, break all bricks.
;
; The game waits until `seed` is not zero (a program writes it, or Start takes it from DIV); serves are random.
; `score` counts bricks (two BCD bytes, the lower first); `state` is WAITING, PLAYING or OVER.

WAITING equ 0
PLAYING equ 1
OVER equ 2

LIVES equ 3
BRICK_ROW equ 4 ; the first of four rows of ten bricks
BRICK_ROWS equ 4
BRICKS equ 40
TOP equ 16 ; pixels of the status bar, above the field
BALL_SIZE equ 4
RIGHTMOST equ 160 - BALL_SIZE
PADDLE_WIDTH equ 32
PADDLE_Y equ 136
PADDLE_SPEED equ 3
SERVE_WAIT equ 24

BLANK equ 0
BRICK equ 1 ; and 2, its right half
PADDLE equ 3 ; left end, middle, right end
BALL equ 6
DIGITS equ 7
HEART equ 17
PADDLE_PARTS equ PADDLE_WIDTH / 8

STATUS_COLORS equ 0x1B
FIELD_COLORS equ 0xE4

    org 0xC000
state: ds 1
seed: ds 2
score: ds 2
lives: ds 1
bricks: ds 1 ; left to break
paddle_x: ds 1 ; left edge, in pixels
ball_x: ds 1 ; left upper corner
ball_y: ds 1
ball_dx: ds 1 ; pixels per frame, signed
ball_dy: ds 1
serve: ds 1 ; frames until the ball moves
pad: ds 1
pad_new: ds 1
frame_passed: ds 1
erase: ds 2 ; address in the map where a brick vanishes in the next vertical blank, or 0
ticks: ds 1 ; of the timer
sound_left: ds 1 ; ticks until silence
frames: ds 2

    org 0xC100
shadow_oam: ds 160

    org 0xC200
board: ds 512 ; as the map in VRAM: 32 tiles per row

    org 0x40
    jp vblank
    org 0x48
    jp stat
    org 0x50
    jp timer
    org 0x58
    reti
    org 0x60
    reti

    org 0x150
start:
    di
    ld sp, 0xE000
    call prepare
    ld a, FIELD_COLORS
    ldh [BGP], a
    ldh [OBP0], a
    xor a
    ldh [SCX], a
    ldh [SCY], a
    ldh [IF], a
    ldh [TMA], a
    ld a, 0x04 ; 4,096 Hz: sixteen interrupts a second
    ldh [TAC], a
    ld a, TOP - 1
    ldh [LYC], a
    ld a, 0x40
    ldh [STAT], a
    call screen_on
    ld a, 0x07
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
    call move_paddle
    call move_ball
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
    ld a, STATUS_COLORS
    ldh [BGP], a
    ld hl, erase
    ld a, [hl+]
    ld e, a
    ld d, [hl]
    or d
    jr z, .digits
    xor a
    ld [de], a
    inc de
    ld [de], a
    ld [hl-], a
    ld [hl], a
.digits:
    ld hl, MAP0 + 1
    ld a, [score + 1]
    call show_two
    ld a, [score]
    call show_two
    ld hl, MAP0 + 16
    call show_lives
    ld a, 1
    ld [frame_passed], a
    pop hl
    pop de
    pop bc
    pop af
    reti

; The status bar ends here.
stat:
    push af
    ld a, FIELD_COLORS
    ldh [BGP], a
    pop af
    reti

timer:
    push af
    push hl
    ld hl, ticks
    inc [hl]
    ld hl, sound_left
    ld a, [hl]
    or a
    jr z, .silent
    dec [hl]
    jr nz, .silent
    xor a
    ldh [NR12], a
.silent:
    pop hl
    pop af
    reti

begin:
    call screen_off
    ld a, LIVES
    ld [lives], a
    ld a, BRICKS
    ld [bricks], a
    ld a, (160 - PADDLE_WIDTH) / 2
    ld [paddle_x], a
    ld hl, board + BRICK_ROW * 32
    ld c, BRICK_ROWS
.row:
    ld b, 10
.brick:
    ld a, BRICK
    ld [hl+], a
    inc a
    ld [hl+], a
    dec b
    jr nz, .brick
    ld de, 12
    add hl, de
    dec c
    jr nz, .row
    call new_ball
    call draw
    ld hl, board
    ld de, MAP0
    ld bc, 512
    call copy
    ld a, PLAYING
    ld [state], a
    jp screen_on

; The ball in the middle of the field, going down to either side.
new_ball:
    call random
    ld d, a
    and 0x7F
    add 16
    ld [ball_x], a
    ld a, 72
    ld [ball_y], a
    ld a, 1
    ld [ball_dy], a
    bit 7, d
    jr z, .side
    ld a, -1
.side:
    ld [ball_dx], a
    ld a, SERVE_WAIT
    ld [serve], a
    ret

move_paddle:
    ld a, [pad]
    ld b, a
    ld a, [paddle_x]
    bit 0, b
    jr z, .left
    add PADDLE_SPEED
    cp 160 - PADDLE_WIDTH
    jr c, .left
    ld a, 160 - PADDLE_WIDTH
.left:
    bit 1, b
    jr z, .done
    sub PADDLE_SPEED
    jr nc, .done
    xor a
.done:
    ld [paddle_x], a
    ret

move_ball:
    ld hl, serve
    ld a, [hl]
    or a
    jr z, .moving
    dec [hl]
    ret
.moving:
    ld a, [ball_dx]
    ld b, a
    ld a, [ball_x]
    add b
    cp 0xF0
    jr c, .not_left
    xor a
    jr .sideways
.not_left:
    cp RIGHTMOST + 1
    jr c, .no_wall
    ld a, RIGHTMOST
.sideways:
    ld [ball_x], a
    xor a
    sub b
    ld [ball_dx], a
    jr .down
.no_wall:
    ld [ball_x], a
.down:
    ld a, [ball_dy]
    ld b, a
    ld a, [ball_y]
    add b
    ld [ball_y], a
    cp TOP
    jr nc, .field
    ld a, TOP
    ld [ball_y], a
    ld a, 1
    ld [ball_dy], a
    ret
.field:
    cp 148
    jr nc, lost
    call hit_brick
    jp hit_paddle

lost:
    ld hl, lives
    dec [hl]
    jp nz, new_ball
    ld a, OVER
    ld [state], a
    ret

; The brick under the middle of the ball, if any, breaks and sends it back.
hit_brick:
    ld a, [ball_y]
    add BALL_SIZE / 2
    srl a
    srl a
    srl a
    ld c, a
    sub BRICK_ROW
    cp BRICK_ROWS
    ret nc
    ld a, [ball_x]
    add BALL_SIZE / 2
    srl a
    srl a
    srl a
    and 0xFE ; the left half of a brick
    ld b, a
    ld a, c
    swap a
    rlca
    or b
    ld l, a
    ld h, high(board)
    ld a, [hl]
    or a
    ret z
    ld [hl], BLANK
    ld a, l
    ld [erase], a
    inc l
    ld [hl], BLANK
    ld a, high(MAP0)
    ld [erase + 1], a
    xor a
    ld hl, ball_dy
    sub [hl]
    ld [hl], a
    call score_one
    ld a, 0x87
    call beep
    ld hl, bricks
    dec [hl]
    ret nz
    ld a, OVER
    ld [state], a
    ret

    assert BRICK_ROW + BRICK_ROWS <= 8, "hit_brick knows only the first page of the board"

; Where the ball meets the paddle decides how steep it goes back.
hit_paddle:
    ld a, [ball_dy]
    rla
    ret c ; going up
    ld a, [ball_y]
    cp PADDLE_Y - BALL_SIZE
    ret c
    cp PADDLE_Y
    ret nc
    ld a, [paddle_x]
    ld b, a
    ld a, [ball_x]
    add BALL_SIZE - 1
    sub b
    ret c
    cp PADDLE_WIDTH + BALL_SIZE - 1
    ret nc
    ld b, -2
    cp 4
    jr c, .bounce
    ld b, -1
    cp 18
    jr c, .bounce
    ld b, 1
    cp 31
    jr c, .bounce
    ld b, 2
.bounce:
    ld a, b
    ld [ball_dx], a
    ld a, -1
    ld [ball_dy], a
    ld a, 0x86
    jp beep

; A short tone; a is its height and its start.
beep:
    ld b, a
    ld a, 0x80
    ldh [NR11], a
    ld a, 0xA0
    ldh [NR12], a
    ld a, b
    ldh [NR14], a
    ld a, 2
    ld [sound_left], a
    ret

draw:
    ld hl, shadow_oam
    ld a, [ball_y]
    add 16
    ld [hl+], a
    ld a, [ball_x]
    add 8
    ld [hl+], a
    ld a, BALL
    ld [hl+], a
    xor a
    ld [hl+], a
    ld a, [paddle_x]
    add 8
    ld b, a
    ld c, PADDLE_PARTS
    ld d, PADDLE
.part:
    ld a, PADDLE_Y + 16
    ld [hl+], a
    ld a, b
    ld [hl+], a
    add 8
    ld b, a
    ld a, d
    ld [hl+], a
    xor a
    ld [hl+], a
    ld d, PADDLE + 1
    dec c
    ret z
    ld a, c
    dec a
    jr nz, .part
    inc d
    jr .part

screen_on:
    ld a, 0x93
    ldh [LCDC], a
    ret

    include "common.asm"

tiles:
    ds 16 ; blank

    pixels ........
    pixels .1111111
    pixels .1222222
    pixels .1222222
    pixels .1222222
    pixels .1222222
    pixels .1111111
    pixels ........

    pixels ........
    pixels 1111111.
    pixels 2222221.
    pixels 2222221.
    pixels 2222221.
    pixels 2222221.
    pixels 1111111.
    pixels ........

    pixels .3333333
    pixels 33333333
    pixels 33333333
    pixels .3333333
    pixels ........
    pixels ........
    pixels ........
    pixels ........

    pixels 33333333
    pixels 33333333
    pixels 33333333
    pixels 33333333
    pixels ........
    pixels ........
    pixels ........
    pixels ........

    pixels 3333333.
    pixels 33333333
    pixels 33333333
    pixels 3333333.
    pixels ........
    pixels ........
    pixels ........
    pixels ........

    pixels .33.....
    pixels 3333....
    pixels 3333....
    pixels .33.....
    pixels ........
    pixels ........
    pixels ........
    pixels ........

    include "digits.asm"
.end:
