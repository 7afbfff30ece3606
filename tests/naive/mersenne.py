"""The 64-bit Mersenne twister of Matsumoto and Nishimura, from its published recurrence; test vectors draw from it."""

from __future__ import annotations

MASK = 2**64 - 1


class Mersenne64:
    """``next(self)`` is the next 64-bit number."""

    def __init__(self, seed: int) -> None:
        self.words = [seed]
        for i in range(1, 312):
            last = self.words[-1]
            self.words.append((6364136223846793005 * (last ^ (last >> 62)) + i) & MASK)
        self.at = 312

    def __next__(self) -> int:
        if self.at == 312:
            for i in range(312):
                x = (self.words[i] & 0xFFFFFFFF80000000) | (self.words[(i + 1) % 312] & 0x7FFFFFFF)
                self.words[i] = self.words[(i + 156) % 312] ^ (x >> 1) ^ (0xB5026F5AA96619E9 if x & 1 else 0)
            self.at = 0
        x = self.words[self.at]
        self.at += 1
        x ^= (x >> 29) & 0x5555555555555555
        x ^= (x << 17) & 0x71D67FFFEDA60000
        x ^= (x << 37) & 0xFFF7EEE000000000
        return x ^ (x >> 43)
