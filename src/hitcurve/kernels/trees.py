"""A model of boosted regression trees in arrays, so that compiled loops can ask it: its answer is a sum over all trees.

    node    row[feature] <= threshold: go to child[0], else to child[1]
    child   0 and above: a node; below: leaf ~child

Trees are made elsewhere and copied in.  A tree without a split is its one leaf.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import helper


class Trees(NamedTuple):
    """Room for a model; ``root[:n_trees[0]]`` are its trees, none before there is a model."""

    feature: np.ndarray  # int32 (nodes,)
    threshold: np.ndarray  # float64 (nodes,)
    child: np.ndarray  # int32 (nodes, 2)
    leaf: np.ndarray  # float64 (leaves,): what the tree adds
    root: np.ndarray  # int32 (trees,): a child, see above
    n_trees: np.ndarray  # int64 [0]


def new_trees(n_trees: int, n_leaves: int) -> Trees:
    """Room for ``n_trees`` trees of at most ``n_leaves`` leaves each."""
    n_nodes = n_trees * (n_leaves - 1)
    return Trees(
        feature=np.zeros(n_nodes, np.int32),
        threshold=np.zeros(n_nodes),
        child=np.zeros((n_nodes, 2), np.int32),
        leaf=np.zeros(n_trees * n_leaves),
        root=np.zeros(n_trees, np.int32),
        n_trees=np.zeros(1, np.int64),
    )


@helper
def predict(trees, rows, r):
    """The model's answer to row r, summed in the order of the trees.  Cost O(depths of the trees)."""
    total = 0.0
    for t in range(trees.n_trees[0]):
        place = np.int64(trees.root[t])
        while place >= 0:
            right = rows[r, trees.feature[place]] > trees.threshold[place]
            place = np.int64(trees.child[place, 1 if right else 0])
        total += trees.leaf[~place]
    return total
