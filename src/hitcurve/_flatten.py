"""Makes one flat function of an entry or part and the helpers it calls, before numba gives types to anything.

numba's own inlining translates a helper anew at each call, copies it twice, and leaves variables that hold whole
states.  Here a helper is translated once a process, its parameters become the caller's variables, and the fields of
NamedTuple arguments are read once, at the start, since such tuples never change.  Policies compile in 0.6 of the time.

numba's developer manual describes own passes under "Customizing the Compiler"; what they work on differs from release
to release, hence the narrow range of releases in ``pyproject.toml``.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from numba.core import compiler, ir, ir_utils, types, untyped_passes
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.errors import UnsupportedError
from numba.core.inline_closurecall import _add_definitions, _get_callee_args, callee_ir_validator
from numba.core.postproc import PostProcessor

MOST_HELPERS = 10_000  # calls inlined into one function; more mean that a helper calls itself

Path = tuple[Any, ...]  # the number of an argument, then names of fields


class Translated:
    """numba's intermediate form of a helper, shared by all that call it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        form = compiler.run_frontend(function)
        callee_ir_validator(form)
        self.blocks = ir_utils.simplify_CFG(form.blocks)
        self.assigned = Counter(line.target.name for line in assignments(self.blocks))
        returned = {b.terminator.value.name for b in self.blocks.values() if isinstance(b.terminator, ir.Return)}
        for line in assignments(self.blocks):
            if line.target.name in returned and isinstance(line.value, ir.Expr) and line.value.op == "cast":
                line.value = line.value.value  # a cast to the type of returned values, of which there are none now


translated = cache(Translated)


def assignments(blocks: dict[int, Any]) -> Iterator[Any]:
    return (line for block in blocks.values() for line in block.body if isinstance(line, ir.Assign))


def called_helper(form: Any, line: Any) -> Any:
    """The Python function of the helper that a statement calls, or None."""
    if not isinstance(line, ir.Assign) or not isinstance(line.value, ir.Expr) or line.value.op != "call":
        return None
    callee = ir_utils.guard(ir_utils.get_definition, form, line.value.func)  # None: one of several
    if isinstance(callee, ir.Expr) and callee.op == "getattr":
        callee = ir_utils.guard(ir_utils.resolve_func_from_module, form, callee)
    elif isinstance(callee, (ir.Global, ir.FreeVar, ir.Const)):
        callee = callee.value
    return callee.py_func if getattr(callee, "targetoptions", {}).get("inline") == "always" else None


class Inliner:
    """Puts the bodies of helpers into the intermediate form of their caller, until none is called."""

    def __init__(self, form: Any) -> None:
        self.form = form
        self.scope = form.blocks[min(form.blocks)].scope
        self.free_label = max(form.blocks) + 1

    def run(self) -> None:
        waiting = sorted(self.form.blocks, reverse=True)
        n_helpers = 0
        while waiting:
            block = self.form.blocks[waiting.pop()]
            for i, line in enumerate(block.body):
                function = called_helper(self.form, line)
                if function is not None:
                    n_helpers += 1
                    if n_helpers > MOST_HELPERS:
                        raise UnsupportedError(f"helper {function.__name__} calls itself", loc=line.loc)
                    waiting.extend(self.inline(block, i, function))
                    break

    def inline(self, block: Any, i: int, function: Callable[..., Any]) -> list[int]:
        """Replace the call at ``block.body[i]``; the labels of all blocks that this made, the first one last."""
        call = block.body[i]
        helper = translated(function)
        arguments = _get_callee_args(call.value, function, call.loc, self.form)
        variables: dict[str, Any] = {}
        for line in assignments(helper.blocks):
            name, argument = line.target.name, arguments[line.value.index] if isinstance(line.value, ir.Arg) else None
            if isinstance(argument, ir.Var) and helper.assigned[name] == 1:
                variables[name] = argument
            elif name not in variables:
                variables[name] = self.scope.redefine(f"{function.__name__}.{name}", line.loc)
        labels = {label: self.free_label + k for k, label in enumerate(sorted(helper.blocks))}
        after = self.free_label + len(labels)
        self.free_label = after + 1

        for label, source in helper.blocks.items():
            made = self.form.blocks[labels[label]] = ir.Block(self.scope, source.loc)
            for line in source.body:
                if isinstance(line, ir.Return):
                    made.append(ir.Assign(variables[line.value.name], call.target, line.loc))
                    made.append(ir.Jump(after, line.loc))
                elif not isinstance(line, ir.Assign) or not isinstance(line.value, ir.Arg):
                    made.append(copied(line, variables, labels))
                elif variables[line.target.name] is not arguments[line.value.index]:
                    made.append(ir.Assign(arguments[line.value.index], variables[line.target.name], line.loc))
        rest = self.form.blocks[after] = ir.Block(self.scope, block.loc)
        rest.body = block.body[i + 1 :]
        block.body = [*block.body[:i], ir.Jump(labels[min(labels)], call.loc)]

        self.form._definitions[call.target.name].remove(call.value)
        for label in labels.values():
            _add_definitions(self.form, self.form.blocks[label])
        return [after, *sorted(labels.values(), reverse=True)]


def copied(node: Any, variables: dict[str, Any], labels: dict[int, int]) -> Any:
    """A statement, or a part of one, with other variables and labels."""
    if isinstance(node, ir.Var):
        return variables.get(node.name, node)
    if type(node) in (list, tuple):
        return type(node)(copied(each, variables, labels) for each in node)
    if isinstance(node, ir.Expr):
        return ir.Expr(node.op, node.loc, **{name: copied(v, variables, labels) for name, v in node._kws.items()})
    if not isinstance(node, ir.Stmt):
        return node
    made = copy.copy(node)
    for name, value in vars(node).items():
        if isinstance(value, int) and name in ("target", "truebr", "falsebr"):
            setattr(made, name, labels.get(value, value))
        else:
            setattr(made, name, copied(value, variables, labels))
    return made


class Fields:
    """Which variables of a function hold a NamedTuple argument, a field of one, a field of a field, and so on."""

    def __init__(self, form: Any, arguments: tuple[Any, ...]) -> None:
        self.arguments = arguments
        self.value: dict[str, Any] = {}  # of variables that are assigned once
        for line in assignments(form.blocks):
            self.value[line.target.name] = None if line.target.name in self.value else line.value
        self.path = cache(self._path)

    def _path(self, name: str) -> Path | None:
        value = self.value.get(name)
        if isinstance(value, ir.Arg):
            return (value.index,) if isinstance(self.arguments[value.index], types.BaseNamedTuple) else None
        if isinstance(value, ir.Var):
            return self.path(value.name)
        if isinstance(value, ir.Expr) and value.op == "getattr" and (path := self.path(value.value.name)):
            kind: Any = self.arguments[path[0]]
            for field in path[1:]:
                kind = kind.types[kind.fields.index(field)]
            if value.attr in getattr(kind, "fields", ()):
                return (*path, value.attr)
        return None


def read_once(form: Any, arguments: tuple[Any, ...]) -> None:
    """Read the fields of NamedTuple arguments, and of those in them, at the start of the function."""
    fields = Fields(form, arguments)
    first = form.blocks[min(form.blocks)]
    start = sum(isinstance(line, ir.Assign) and isinstance(line.value, ir.Arg) for line in first.body)
    holding = {path: line.target for line in first.body[:start] if (path := fields.path(line.target.name))}
    reads: list[Any] = []

    def variable(path: Path) -> Any:
        if path not in holding:
            whole = variable(path[:-1])
            holding[path] = first.scope.redefine(f"{whole.name}.{path[-1]}", first.loc)
            reads.append(ir.Assign(ir.Expr.getattr(whole, path[-1], first.loc), holding[path], first.loc))
        return holding[path]

    for block in form.blocks.values():
        body = block.body[start:] if block is first else block.body
        block.body = block.body[:start] if block is first else []
        for line in body:
            if not (isinstance(line, ir.Assign) and fields.path(line.target.name)):
                used = {each.name: variable(path) for each in line.list_vars() if (path := fields.path(each.name))}
                block.append(copied(line, used, {}) if used else line)
    first.body[start:start] = reads


@register_pass(mutates_CFG=True, analysis_only=False)
class Flatten(FunctionPass):  # type: ignore[misc]
    _name = "hitcurve_flatten"

    def __init__(self) -> None:
        super().__init__()  # abstract in numba

    def run_pass(self, state: Any) -> bool:
        form = state.func_ir
        Inliner(form).run()
        read_once(form, state.args)
        form.blocks = ir_utils.simplify_CFG(form.blocks)
        form._definitions = ir_utils.build_definitions(form.blocks)
        PostProcessor(form).run()
        return True


class Compiler(compiler.CompilerBase):  # type: ignore[misc]
    """numba's compiler, with ``Flatten`` before all that looks at more than one statement."""

    def define_pipelines(self) -> list[Any]:
        passes = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(Flatten, untyped_passes.IRProcessing)
        passes.finalize()
        return [passes]
