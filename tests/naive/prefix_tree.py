"""The prefix tree of nodes that are lists of blocks, and a list of the nodes to draw from."""

from __future__ import annotations

from collections.abc import Iterable


class Node:
    def __init__(self, parent: Node | None, depth: int) -> None:
        self.blocks: list[int] = []
        self.parent, self.depth = parent, depth
        self.children: list[Node] = []


class Tree:
    """``resident`` blocks, of them the ``drawable`` and those set ``aside``; ``members``: nodes with a drawable one."""

    def __init__(self) -> None:
        self.node_of: dict[int, Node] = {}
        self.resident: set[int] = set()
        self.drawable: set[int] = set()
        self.aside: set[int] = set()
        self.members: list[Node] = []

    def nodes(self) -> list[Node]:
        return list(dict.fromkeys(self.node_of[block] for block in sorted(self.node_of)))

    def cost_position(self, block: int) -> int:
        """Where the block stood in the path that brought it."""
        node = self.node_of[block]
        return node.depth + node.blocks.index(block)

    def take_path(self, path: list[int]) -> None:
        before, growing = None, None
        for position, block in enumerate(path):
            if block in self.node_of:
                growing = None
            else:
                if growing is None:
                    growing = self.new_node_below(before, position)
                growing.blocks.append(block)
                self.node_of[block] = growing
            before = block

    def new_node_below(self, block: int | None, depth: int) -> Node:
        if block is None:
            return Node(None, depth)
        parent = self.node_of[block]
        if block != parent.blocks[-1]:
            self.cut(parent, parent.blocks.index(block) + 1)
        node = Node(parent, depth)
        parent.children.append(node)
        return node

    def cut(self, upper: Node, rank: int) -> None:
        lower = Node(upper, upper.depth + rank)
        lower.blocks, lower.children = upper.blocks[rank:], upper.children
        upper.blocks, upper.children = upper.blocks[:rank], [lower]
        for child in lower.children:
            child.parent = lower
        for block in lower.blocks:
            self.node_of[block] = lower
        self.settle(lower)
        self.settle(upper)

    def settle(self, node: Node) -> None:
        """A node is a member exactly while it has a drawable block; the last member fills a gap."""
        wanted = not self.drawable.isdisjoint(node.blocks)
        if wanted and node not in self.members:
            self.members.append(node)
        elif not wanted and node in self.members:
            last = self.members.pop()
            if last is not node:
                self.members[self.members.index(node)] = last

    def serve(self, path: list[int], offered: Iterable[int]) -> None:
        """In the order of access: all are resident, those set aside and those offered drawable."""
        offered = {*offered, *self.aside}
        for block in path:
            self.resident.add(block)
            if block in offered:
                self.offer(block)
        self.aside.difference_update(path)

    def set_aside(self, path: list[int]) -> None:
        for block in path:
            if block in self.drawable:
                self.withhold(block)
                self.aside.add(block)

    def offer(self, block: int) -> None:
        self.drawable.add(block)
        self.settle(self.node_of[block])

    def withhold(self, block: int) -> None:
        self.drawable.discard(block)
        self.settle(self.node_of[block])

    def expel(self, block: int) -> None:
        self.withhold(block)
        self.resident.remove(block)
        node: Node | None = self.node_of[block]
        while node is not None and not node.children and self.resident.isdisjoint(node.blocks):
            for block in node.blocks:
                del self.node_of[block]
            if node.parent is not None:
                node.parent.children.remove(node)
            node = node.parent

    def ranked(self, node: Node, deep_end: bool) -> list[int]:
        """All blocks of a node from the end that evictions begin at."""
        return node.blocks[::-1] if deep_end else node.blocks

    def to_go(self, node: Node, deep_end: bool) -> list[int]:
        return [block for block in self.ranked(node, deep_end) if block in self.drawable]

    def representative(self, node: Node, n: int, whole: bool, deep_end: bool) -> int:
        ranked = self.ranked(node, deep_end)
        ranks = [rank for rank, block in enumerate(ranked) if block in self.drawable]
        start = min(n, len(ranked)) // 2 if whole else min(ranks[0] + n // 2, len(ranked) - 1)
        return ranked[min(ranks, key=lambda rank: (abs(rank - start), rank))]
