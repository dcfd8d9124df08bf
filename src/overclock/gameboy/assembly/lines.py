"""Taking a line of assembly apart, with quotes and brackets respected."""

from overclock.gameboy.assembly.errors import AssemblyError


def without_comment(line: str) -> str:
    """The line up to the first `;` outside quotes."""
    quote = ""
    for position, character in enumerate(line):
        if quote:
            escaped = line[position - 1] == "\\" and line[position - 2 : position] != "\\\\"
            quote = "" if character == quote and not escaped else quote
        elif character in "\"'":
            quote = character
        elif character == ";":
            return line[:position]
    return line


def split_operands(text: str) -> list[str]:
    """The operands of a line, split at commas outside quotes, brackets and parentheses."""
    if not text.strip():
        return []
    parts, depth, quote, start = [], 0, "", 0
    for position, character in enumerate(text):
        if quote:
            escaped = text[position - 1] == "\\" and text[position - 2 : position] != "\\\\"
            quote = "" if character == quote and not escaped else quote
        elif character in "\"'":
            quote = character
        elif character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:position].strip())
            start = position + 1
    parts.append(text[start:].strip())
    if "" in parts:
        raise AssemblyError(f"an operand is missing in {text!r}.")
    return parts
