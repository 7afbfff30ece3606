"""S4-FIFO: S3-FIFO on lists, and where in the small queue a hit found its block."""

from tests.naive.policies.s3fifo import Twin as S3Fifo


class Twin(S3Fifo):
    def __init__(self, capacity, params, seed):
        super().__init__(capacity, params, seed)
        self.skip, self.ghosts_rise = params.skip, params.ghost_threshold == 0
        self.came = []  # every block that ever entered the small queue, one a time, the newest last

    def hit(self, block, position, now):
        if block in self.small:
            newer = self.came[::-1].index(block)
            if newer + 1 < int(self.skip * len(self.small)):
                return
        super().hit(block, position, now)

    def insert(self, block, position, now):
        if block in self.ghosts and not self.ghosts_rise:
            self.ghosts.remove(block)
        super().insert(block, position, now)
        if block in self.small:
            self.came.append(block)
