"""QDLP on three lists, newest first, and a dict of counts."""

from tests.naive.policies.s3fifo import Twin as S3Fifo


class Twin(S3Fifo):
    def insert(self, block, position, now):
        self.count[block] = 0
        if block in self.ghosts:
            self.ghosts.remove(block)
            self.main.insert(0, block)
        else:
            self.small.insert(0, block)

    def evict(self, now):
        if len(self.main) > self.main_limit and (victim := self.evict_main()) is not None:
            return victim
        while (block := self.oldest(self.small)) is not None:
            self.small.remove(block)
            if self.count[block] < self.threshold:
                self.remember(block)
                return block
            victim = self.evict_main() if len(self.main) >= self.main_limit else None
            self.main.insert(0, block)
            self.count[block] = 0
            if victim is not None:
                return victim
        return self.evict_main()
