"""Eviction by session, slow and obvious: a Counter of claims, a dict of paths.  Written from the reference text."""

from __future__ import annotations

from collections import Counter

from tests.naive.simulation import NEVER, NaivePolicy


class Sessions(NaivePolicy):
    """Blocks stay while a session claims them; ``choose()`` names the session that gives up its claims."""

    def __init__(self, capacity, params, seed):
        self.claims = Counter()
        self.paths = {}  # of each session with claims: the blocks of its latest request
        self.leaving = []  # blocks that nobody claims any more
        self.tick = 0  # requests with blocks so far

    def session(self, request):
        named = self.cache.context.session[request]
        return ("alone", request) if named is None else named

    def next_request(self, request):
        """Number of the session's next request that will be served and holds blocks."""
        later = range(request + 1, len(self.cache.requests))
        fits = (r for r in later if 0 < len(set(self.cache.requests[r])) <= self.cache.capacity)
        return next((r for r in fits if self.session(r) == self.session(request)), NEVER)

    def path(self, request):
        blocks = self.cache.requests[request]
        if not blocks:
            return
        self.tick += 1
        session = self.session(request)
        old = self.paths.pop(session, None)
        self.claims.update(blocks)
        self.paths[session] = blocks
        if old is not None:
            self.unclaim(old)
        self.serve(session, request, old is None)

    def unclaim(self, blocks):
        for block in blocks:
            self.claims[block] -= 1
            if self.claims[block] == 0 and not self.cache.pinned(block):
                self.leaving.append(block)

    def release(self):
        return self.leaving.pop(0) if self.leaving else None

    def evict(self, now):
        while not self.leaving:
            self.unclaim(self.paths.pop(self.choose()))
        return self.leaving.pop(0)

    def hit(self, block, position, now):
        assert self.claims[block] > 0

    def insert(self, block, position, now):
        assert self.claims[block] > 0

    def serve(self, session, request, new):
        """The session's path is now that of the request; ``new``: it had none."""
        raise AssertionError

    def choose(self):
        """A session with a path, forgotten."""
        raise AssertionError
