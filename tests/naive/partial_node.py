"""Partial-node eviction as a generator of victims, written from the reference text."""

from __future__ import annotations

from tests.naive.prefix_tree import Tree
from tests.naive.rng import Twin as Rng
from tests.naive.simulation import NaivePolicy


class PartialNode(NaivePolicy):
    all_offered = True  # every block of a request may be evicted later on

    def __init__(self, capacity, params, seed):
        self.params, self.rng = params, Rng(seed)
        self.tree, self.touched = Tree(), {}
        self.deep_end, self.drain = params.evict_from == "tail", params.mode == "drain"

    def begin_allocation(self):
        arriving, resident = self.cache.arriving, self.cache.resident
        self.needed = len(arriving - resident) - (self.cache.capacity - len(resident))
        self.named, self.call = [], iter(())
        if self.cache.pin:
            self.tree.set_aside(self.cache.requests[self.cache.request])

    def path(self, request):
        path = self.cache.requests[request]
        self.tree.take_path(path)
        order = path[::-1] if self.cache.deepest_first else path
        self.tree.serve(order, order if self.all_offered else [])

    def hit(self, block, position, now):
        self.touched[block] = self.cache.stamp

    def insert(self, block, position, now):
        self.touched[block] = self.cache.stamp

    def evict(self, now):
        victim = next(self.call, None)
        if victim is None:
            progress = sum(block not in self.cache.arriving for block in self.named)
            self.call = self.evict_n(self.needed - progress, now)
            victim = next(self.call)
        self.named.append(victim)
        return victim

    def evict_n(self, n, now):
        while n:
            for block in self.batch(n, now):
                n -= 1
                yield block

    def batch(self, n, now):
        chunk = n if self.drain else min(n, self.params.micro_batch)
        members = self.tree.members
        if len(members) > self.params.n_sample:
            members = [members[self.rng.below(len(members))] for _ in range(self.params.n_sample)]
        node = min(members, key=lambda node: self.node_score(node, chunk, now))
        for block in self.tree.to_go(node, self.deep_end)[:chunk]:
            self.tree.expel(block)
            yield block

    def node_score(self, node, chunk, now):
        return self.score(self.tree.representative(node, chunk, self.drain, self.deep_end), now)

    def score(self, block, now):
        cost = self.cache.policy_cost(self.tree.cost_position(block))
        return cost / max(1, now - self.touched[block])
