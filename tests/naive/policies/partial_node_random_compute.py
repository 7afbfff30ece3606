"""Cost per age."""

from tests.naive.partial_node import PartialNode


class Twin(PartialNode):
    pass
