"""LHD with cost: density times cost, no explorers, nothing special about the last age."""

from tests.naive.policies.lhd import Twin as Lhd


class Twin(Lhd):
    def score(self, block, now):
        return self.density_of(block, self.age(block, now)) * self.cost[block]

    def explore(self, block):
        pass
