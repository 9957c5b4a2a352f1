"""xxh64 with seed 0, as its specification writes it down."""

WORD = (1 << 64) - 1
P1, P2, P3, P4, P5 = (
    0x9E3779B185EBCA87,
    0xC2B2AE3D27D4EB4F,
    0x165667B19E3779F9,
    0x85EBCA77C2B2AE63,
    0x27D4EB2F165667C5,
)


def rotate(word: int, by: int) -> int:
    return (word << by | word >> (64 - by)) & WORD


def mix(lane: int, word: int) -> int:
    return rotate((lane + word * P2) & WORD, 31) * P1 & WORD


def xxh64(data: bytes) -> str:
    read = lambda at, size: int.from_bytes(data[at : at + size], "little")
    at = 0
    if len(data) >= 32:
        lanes = [(P1 + P2) & WORD, P2, 0, -P1 & WORD]
        while at + 32 <= len(data):
            lanes = [mix(lane, read(at + 8 * i, 8)) for i, lane in enumerate(lanes)]
            at += 32
        state = sum(rotate(lane, by) for lane, by in zip(lanes, (1, 7, 12, 18))) & WORD
        for lane in lanes:
            state = ((state ^ mix(0, lane)) * P1 + P4) & WORD
    else:
        state = P5
    state = (state + len(data)) & WORD
    while at + 8 <= len(data):
        state = (rotate(state ^ mix(0, read(at, 8)), 27) * P1 + P4) & WORD
        at += 8
    if at + 4 <= len(data):
        state = (rotate(state ^ read(at, 4) * P1 & WORD, 23) * P2 + P3) & WORD
        at += 4
    for byte in data[at:]:
        state = rotate(state ^ byte * P5 & WORD, 11) * P1 & WORD
    state = (state ^ state >> 33) * P2 & WORD
    state = (state ^ state >> 29) * P3 & WORD
    return f"{state ^ state >> 32:016x}"
