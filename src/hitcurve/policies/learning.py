"""How a compiled policy learns: it labels examples as it goes, pauses when there are enough, and asks the model itself.

    compiled loop       notes uses, draws and labels examples (kernels/history.py, kernels/learner.py)
      pauses            at the first end of a request at which there are enough
    Python, here        LightGBM makes a model of them; its trees are copied into the policy's state
    compiled loop       goes on, and walks the trees wherever it wants a prediction (kernels/trees.py)

So a prediction is made at the moment of the eviction, from what is known then, and is what ``Booster.predict`` says, to
the last bit.  The model is arrays of the state like everything else: a checkpoint holds it, and a run in slices is one
run.  LightGBM runs on one thread with a fixed seed: the same seed, machine and version of LightGBM give the same model.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np

from hitcurve.errors import HitcurveError
from hitcurve.kernels.learner import Learner, N
from hitcurve.kernels.trees import Trees

MODEL = "examples in 1 .. 10,000,000, n_trees in 1 .. 1,000, n_leaves in 2 .. 255"


def model_fits(params: Any) -> bool:
    """Whether the parameters are as ``MODEL`` says."""
    examples, trees, leaves = params.examples, params.n_trees, params.n_leaves
    return 1 <= examples <= 10_000_000 and 1 <= trees <= 1_000 and 2 <= leaves <= 255


def require_lightgbm(policy: str) -> None:
    """HitcurveError where LightGBM is not installed.  Does not import it: that takes a second."""
    if find_spec("lightgbm") is None:
        raise HitcurveError(f"{policy} needs LightGBM: pip install 'hitcurve[learned]'")


def trained(features: np.ndarray, labels: np.ndarray, params: Any, seed: int) -> Any:
    """LightGBM's booster for the examples; ``params``: of the policy, with n_trees, n_leaves and leaf_examples."""
    import lightgbm

    settings = {
        "objective": "regression",
        "num_leaves": params.n_leaves,
        "min_data_in_leaf": params.leaf_examples,
        "learning_rate": 0.1,
        "feature_fraction": 0.8,
        "bagging_fraction": 0.8,
        "bagging_freq": 5,
        "use_missing": False,
        "seed": seed % 2**31,
        "num_threads": 1,
        "deterministic": True,
        "force_row_wise": True,
        "verbosity": -1,
    }
    return lightgbm.train(settings, lightgbm.Dataset(features, labels, params=settings), params.n_trees)


def plant(trees: Trees, booster: Any) -> None:
    """Copy a booster's trees."""
    model = booster.dump_model()["tree_info"]
    node = leaf = 0

    def copied(part: dict[str, Any]) -> int:
        nonlocal node, leaf
        if "leaf_value" in part:
            trees.leaf[leaf] = part["leaf_value"]
            leaf += 1
            return ~(leaf - 1)
        here = node
        node += 1
        trees.feature[here] = part["split_feature"]
        trees.threshold[here] = part["threshold"]
        trees.child[here] = copied(part["left_child"]), copied(part["right_child"])
        return here

    for t, tree in enumerate(model):
        trees.root[t] = copied(tree["tree_structure"])
    trees.n_trees[0] = len(model)


def learning(serve: Callable[..., int]) -> Callable[..., int]:
    """The ``replay`` of a policy from its compiled one, which pauses when a model is due.

    The state has ``learner``, ``params`` and ``seed``.  Returns after each model that was made, with the next request
    to serve, so that whoever waits may look up.
    """

    def replay(frame: Any, state: Any, begin: int, end: int) -> int:
        done = serve(frame, state, begin, end)
        learner: Learner = state.learner
        if learner.numbers[N] == len(learner.labels):
            plant(learner.trees, trained(learner.features, learner.labels, state.params, state.seed))
            learner.numbers[N] = 0
        return done

    return replay
