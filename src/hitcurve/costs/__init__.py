"""Cost models: what computing a block again costs, by its position.  One file each, listed here and nowhere else."""

from __future__ import annotations

from hitcurve.costs import linear, position, qwen3coder30b_blksz_16, qwen3coder30b_blksz_64, table, uniform
from hitcurve.costs.cost import Cost, CostModel
from hitcurve.errors import BadParameter, UnknownName

MODELS: tuple[CostModel, ...] = (
    uniform.MODEL,
    position.MODEL,
    linear.MODEL,
    table.MODEL,
    qwen3coder30b_blksz_16.MODEL,
    qwen3coder30b_blksz_64.MODEL,
)

__all__ = ["MODELS", "Cost", "CostModel", "cost_named"]


def cost_named(text: str, **options: str | None) -> Cost:
    """The cost of ``uniform``, ``linear:865,2``, ``table:costs.txt`` ...; ``extend="last"`` is for tables.

    >>> cost_named("linear:865,2").of_positions(3)
    array([865., 867., 869.])
    """
    name, colon, argument = text.partition(":")
    model = next((m for m in MODELS if m.name == name.strip().lower()), None)
    if model is None:
        raise UnknownName("cost model", name, [m.name for m in MODELS])
    if bool(colon) != bool(model.argument):
        wanted = f"{model.name}:{model.argument}" if model.argument else model.name
        raise BadParameter(f"cost {name}: wanted {wanted}, found {text!r}")
    given = {option: value for option, value in options.items() if value is not None}
    for option in given:
        if option not in model.options:
            raise BadParameter(f"cost {model.name}: has no option {option!r}")
    return model.make(*([argument.strip()] if colon else []), **given)
