"""The seeded stream of random numbers that the project documents: xoroshiro128+ (Blackman and Vigna) with shifts 24, 16, 37.

State from a seed s of 32 bits: words (-1, ~s) and (s, 0), high half first. An output is the low half of the sum of both words.
The seed of a named stream is the first 32 bits of SHA-256 of "SEED/NAME".
"""

import hashlib
import math

WORD = (1 << 64) - 1
HALF = (1 << 32) - 1


def rotate(word: int, by: int) -> int:
    return (word << by | word >> (64 - by)) & WORD


class Stream:
    def __init__(self, seed: int, name: str) -> None:
        start = int(hashlib.sha256(f"{seed}/{name}".encode()).hexdigest()[:8], 16)
        self.first = HALF << 32 | (~start & HALF)
        self.second = start << 32

    def next(self) -> int:
        """A whole number below 2^32: the signed output, shifted by 2^31."""
        output = (self.first + self.second) & HALF
        mixed = self.first ^ self.second
        self.first = rotate(self.first, 24) ^ mixed ^ (mixed << 16 & WORD)
        self.second = rotate(mixed, 37)
        return (output + (1 << 31)) & HALF

    def integer(self, size: int) -> int:
        """In 0 ... size - 1, without bias: outputs beyond the last whole multiple of size are drawn again."""
        most = (1 << 32) // size * size
        while (drawn := self.next()) >= most:
            pass
        return drawn % size

    def uniform(self) -> float:
        """In [0, 1), of 53 bits; only for the inputs of cases."""
        return (self.integer(1 << 26) * (1 << 27) + self.integer(1 << 27)) / (1 << 53)

    def normal(self) -> float:
        """Standard normal (Box and Muller); only for the inputs of cases."""
        return math.sqrt(-2 * math.log(1 - self.uniform())) * math.cos(2 * math.pi * self.uniform())
