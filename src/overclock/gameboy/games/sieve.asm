; A benchmark: the processor never rests. Primes up to 4,095 by sieve, counted, over and over; no HALT, no interrupts.

LIMIT equ 4096

    org 0xC000
rounds: ds 2
primes: ds 2
checksum: ds 1

    org 0xC800
sieve: ds LIMIT

    org 0x150
start:
    di
    ld sp, 0xE000
.round:
    ld hl, sieve
    ld bc, LIMIT
.clear:
    xor a
    ld [hl+], a
    dec bc
    ld a, b
    or c
    jr nz, .clear

    ld de, 2 ; the candidate
.candidate:
    ld hl, sieve
    add hl, de
    ld a, [hl]
    or a
    jr nz, .next
.multiple:
    add hl, de
    ld a, h
    cp high(sieve + LIMIT)
    jr nc, .next
    ld [hl], 1
    jr .multiple
.next:
    inc de
    ld a, e
    cp 64 ; the square of which is the limit
    jr nz, .candidate

    ld hl, sieve + 2
    ld bc, 0
.count:
    ld a, [hl+]
    or a
    jr nz, .composite
    inc bc
    ld a, [checksum]
    rlca
    xor l
    ld [checksum], a
.composite:
    ld a, h
    cp high(sieve + LIMIT)
    jr nz, .count
    ld a, c
    ld [primes], a
    ld a, b
    ld [primes + 1], a
    ldh [SCX], a
    ld hl, rounds
    inc [hl]
    jr nz, .round
    inc hl
    inc [hl]
    jr .round
