"""Random changes to the bytes of a log, each of a kind that somebody might try."""

KINDS = ("change a byte", "change a record", "take out", "swap", "insert", "repeat", "cut at the end", "cut inside")


def tampered(content, rng):
    """The bytes of a log with one change, and what was done; never the bytes as they were."""
    while True:
        kind = KINDS[rng.integers(len(KINDS))]
        changed = _CHANGES[kind](content, rng)
        if changed != content:
            return changed, kind


def _change_byte(content, rng):
    position = rng.integers(len(content))
    return content[:position] + bytes([rng.integers(256)]) + content[position + 1 :]


def _change_record(content, rng):
    lines = content.splitlines(keepends=True)
    line = rng.integers(len(lines))
    digits = [position for position, byte in enumerate(lines[line]) if chr(byte).isdigit()]
    position = digits[rng.integers(len(digits))]
    digit = str(rng.integers(10)).encode()
    lines[line] = lines[line][:position] + digit + lines[line][position + 1 :]
    return b"".join(lines)


def _take_out(content, rng):
    lines = content.splitlines(keepends=True)
    start = rng.integers(len(lines))
    return b"".join(lines[:start] + lines[start + rng.integers(1, 4) :])


def _swap(content, rng):
    lines = content.splitlines(keepends=True)
    first, second = rng.integers(len(lines), size=2)
    lines[first], lines[second] = lines[second], lines[first]
    return b"".join(lines)


def _insert(content, rng):
    lines = content.splitlines(keepends=True)
    place = rng.integers(len(lines) + 1)
    new = bytes(rng.integers(32, 127, size=rng.integers(1, 80)).tolist())
    return b"".join([*lines[:place], new + b"\n" * rng.integers(1, 3), *lines[place:]])


def _repeat(content, rng):
    lines = content.splitlines(keepends=True)
    return b"".join([*lines, lines[rng.integers(len(lines))]])


def _cut_end(content, rng):
    lines = content.splitlines(keepends=True)
    return b"".join(lines[: rng.integers(len(lines))])


def _cut_inside(content, rng):
    return content[: rng.integers(len(content))]


_CHANGES = {
    "change a byte": _change_byte,
    "change a record": _change_record,
    "take out": _take_out,
    "swap": _swap,
    "insert": _insert,
    "repeat": _repeat,
    "cut at the end": _cut_end,
    "cut inside": _cut_inside,
}
