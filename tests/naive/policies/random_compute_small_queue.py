"""The lowest cost per age among many draws, blocks never hit at a tenth."""

from tests.naive.policies.random_compute import Twin as RandomCompute


class Twin(RandomCompute):
    def score(self, block, now):
        penalty = self.params.one_hit_penalty if self.hits[block] == 0 else 1
        return self.cost[block] * penalty / max(1, now - self.touched[block])
