"""The public opcode table of the SM83, 16 instructions per line; - is unused, n8 n16 e8 a8 stand for numbers."""

TABLE = """
nop | ld bc,n16 | ld [bc],a | inc bc | inc b | dec b | ld b,n8 | rlca | ld [n16],sp | add hl,bc | ld a,[bc] | dec bc | inc c | dec c | ld c,n8 | rrca
stop | ld de,n16 | ld [de],a | inc de | inc d | dec d | ld d,n8 | rla | jr e8 | add hl,de | ld a,[de] | dec de | inc e | dec e | ld e,n8 | rra
jr nz,e8 | ld hl,n16 | ld [hl+],a | inc hl | inc h | dec h | ld h,n8 | daa | jr z,e8 | add hl,hl | ld a,[hl+] | dec hl | inc l | dec l | ld l,n8 | cpl
jr nc,e8 | ld sp,n16 | ld [hl-],a | inc sp | inc [hl] | dec [hl] | ld [hl],n8 | scf | jr c,e8 | add hl,sp | ld a,[hl-] | dec sp | inc a | dec a | ld a,n8 | ccf
ld b,b | ld b,c | ld b,d | ld b,e | ld b,h | ld b,l | ld b,[hl] | ld b,a | ld c,b | ld c,c | ld c,d | ld c,e | ld c,h | ld c,l | ld c,[hl] | ld c,a
ld d,b | ld d,c | ld d,d | ld d,e | ld d,h | ld d,l | ld d,[hl] | ld d,a | ld e,b | ld e,c | ld e,d | ld e,e | ld e,h | ld e,l | ld e,[hl] | ld e,a
ld h,b | ld h,c | ld h,d | ld h,e | ld h,h | ld h,l | ld h,[hl] | ld h,a | ld l,b | ld l,c | ld l,d | ld l,e | ld l,h | ld l,l | ld l,[hl] | ld l,a
ld [hl],b | ld [hl],c | ld [hl],d | ld [hl],e | ld [hl],h | ld [hl],l | halt | ld [hl],a | ld a,b | ld a,c | ld a,d | ld a,e | ld a,h | ld a,l | ld a,[hl] | ld a,a
add a,b | add a,c | add a,d | add a,e | add a,h | add a,l | add a,[hl] | add a,a | adc a,b | adc a,c | adc a,d | adc a,e | adc a,h | adc a,l | adc a,[hl] | adc a,a
sub a,b | sub a,c | sub a,d | sub a,e | sub a,h | sub a,l | sub a,[hl] | sub a,a | sbc a,b | sbc a,c | sbc a,d | sbc a,e | sbc a,h | sbc a,l | sbc a,[hl] | sbc a,a
and a,b | and a,c | and a,d | and a,e | and a,h | and a,l | and a,[hl] | and a,a | xor a,b | xor a,c | xor a,d | xor a,e | xor a,h | xor a,l | xor a,[hl] | xor a,a
or a,b | or a,c | or a,d | or a,e | or a,h | or a,l | or a,[hl] | or a,a | cp a,b | cp a,c | cp a,d | cp a,e | cp a,h | cp a,l | cp a,[hl] | cp a,a
ret nz | pop bc | jp nz,n16 | jp n16 | call nz,n16 | push bc | add a,n8 | rst 0x00 | ret z | ret | jp z,n16 | - | call z,n16 | call n16 | adc a,n8 | rst 0x08
ret nc | pop de | jp nc,n16 | - | call nc,n16 | push de | sub a,n8 | rst 0x10 | ret c | reti | jp c,n16 | - | call c,n16 | - | sbc a,n8 | rst 0x18
ldh [a8],a | pop hl | ldh [c],a | - | - | push hl | and a,n8 | rst 0x20 | add sp,e8 | jp hl | ld [n16],a | - | - | - | xor a,n8 | rst 0x28
ldh a,[a8] | pop af | ldh a,[c] | di | - | push af | or a,n8 | rst 0x30 | ld hl,sp+e8 | ld sp,hl | ld a,[n16] | ei | - | - | cp a,n8 | rst 0x38
"""  # noqa: E501 - a table
ROTATIONS = ("rlc", "rrc", "rl", "rr", "sla", "sra", "swap", "srl")
OPERANDS = ("b", "c", "d", "e", "h", "l", "[hl]", "a")


def plain() -> dict[int, str]:
    """The instruction of each opcode."""
    words = [word.strip() for line in TABLE.strip().splitlines() for word in line.split("|")]
    return {opcode: word for opcode, word in enumerate(words) if word != "-"}


def prefixed() -> dict[int, str]:
    """The instruction of each opcode behind CB."""
    found = {8 * i + j: f"{name} {operand}" for i, name in enumerate(ROTATIONS) for j, operand in enumerate(OPERANDS)}
    for i, name in enumerate(("bit", "res", "set"), start=1):
        found |= {
            64 * i + 8 * bit + j: f"{name} {bit},{operand}" for bit in range(8) for j, operand in enumerate(OPERANDS)
        }
    return found
