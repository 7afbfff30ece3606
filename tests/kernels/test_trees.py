"""A model's trees, copied into arrays, answer what LightGBM's booster answers, to the last bit."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

pytest.importorskip("lightgbm")

from hitcurve._jit import entry
from hitcurve.kernels.trees import new_trees, predict
from hitcurve.policies.learning import plant, trained


class Params(NamedTuple):
    n_trees: int
    n_leaves: int
    leaf_examples: int = 5


@entry
def answer(trees, rows, r):
    return predict(trees, rows, r)


@pytest.mark.parametrize("params", [Params(1, 2), Params(8, 4), Params(32, 32), Params(3, 255, 1)])
@pytest.mark.parametrize("seed", range(3))
def test_the_trees_answer_as_the_booster_does(params, seed):
    rng = np.random.default_rng(seed)
    rows = rng.choice([-1, 0, 1, 2.5, 1e6, 1e-30], (600, 7)).astype(np.float32)
    rows[:, :2] = rng.integers(0, 40, (600, 2))
    rows[:, 2] = 2.0 ** -rng.uniform(0, 30, 600)
    labels = np.log1p(rows[:, 0] * 3 + (rows[:, 3] < 0) * 90 + rows[:, 2]).astype(np.float32)
    trees = new_trees(params.n_trees, params.n_leaves)
    for learnt in (slice(0, 300), slice(300, 600)):  # the second model takes the place of the first
        booster = trained(rows[learnt], labels[learnt], params, seed)
        plant(trees, booster)
        answers = [answer(trees, rows, r) for r in range(len(rows))]
        assert answers == booster.predict(rows, num_threads=1).tolist()
        assert len(set(answers)) > 1


def test_labels_that_are_all_one_make_trees_without_a_split():
    rows = np.arange(40, dtype=np.float32)[:, None]
    trees = new_trees(4, 8)
    booster = trained(rows, np.full(40, 2.5, np.float32), Params(4, 8), 0)
    plant(trees, booster)
    assert answer(trees, rows, 3) == booster.predict(rows, num_threads=1)[3] == 2.5


def test_the_same_seed_makes_the_same_model():
    rng = np.random.default_rng(5)
    rows, labels = rng.random((500, 6), np.float32), rng.random(500, np.float32)
    texts = [trained(rows, labels, Params(16, 16), seed).model_to_string() for seed in (3, 3, 4)]
    assert texts[0] == texts[1] != texts[2].replace("seed: 4", "seed: 3")
