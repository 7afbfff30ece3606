"""Parameters of policies: numbers, and choices between words."""

from __future__ import annotations

from typing import Literal, NamedTuple

import pytest

from hitcurve.errors import BadParameter, UnknownName
from hitcurve.policies.policy import Policy
from hitcurve.report.policies import parameters


class Params(NamedTuple):
    share: float = 0.5  # of the capacity
    end: Literal["head", "tail"] = "head"  # where it begins


POLICY = Policy("some", new_state=lambda *_: None, replay=lambda *_: 0, params=Params)


def test_a_choice_of_words_takes_its_words():
    assert POLICY.with_params() == (0.5, "head")
    assert POLICY.with_params(end="tail", share="0.25") == (0.25, "tail")
    assert POLICY.with_params(**POLICY.with_params(end="tail")._asdict()).end == "tail"


@pytest.mark.parametrize("wrong", ["tale", "", "Head", 1, None])
def test_another_word_is_answered_with_the_known_ones(wrong):
    with pytest.raises(UnknownName, match=r"unknown value of some\.end .*head"):
        POLICY.with_params(end=wrong)


def test_numbers_are_numbers():
    with pytest.raises(BadParameter, match=r"some\.share: wanted float, found 'x'"):
        POLICY.with_params(share="x")


def test_the_list_shows_the_words():
    assert parameters(POLICY) == [
        {"name": "share", "type": "float", "default": 0.5, "what": "of the capacity"},
        {"name": "end", "type": "head | tail", "default": "head", "what": "where it begins"},
    ]
