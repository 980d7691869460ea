"""The operators of a program that old code tunes, as tasks. Nothing is tuned: see `tuning`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .._missing import remedy
from ..analysis import call_cost
from ..ir.expr import Call, Expr, Function
from ..ir.module import IRModule
from ..ir.op import Op, OpPattern
from ..ir.walk import post_order
from .compiling import say_once, typed_module


class ConfigSpace:
    """The schedules that a tuner may choose from: the one that the compiler uses."""

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Iterator[int]:
        return iter((0,))

    def get(self, index: int) -> int:
        return index

    def __repr__(self) -> str:
        return "ConfigSpace: the built-in schedule"


class Task:
    """One operator at the types that a program calls it with."""

    def __init__(self, call: Call, target: Any) -> None:
        self.call = call
        self.target = target
        self.target_host = None
        self.name = str(getattr(call.op, "name", call.op))
        self.args = tuple([arg.checked_type for arg in call.args])
        self.config_space = ConfigSpace()
        self.workload = (self.name, *[str(type_) for type_ in self.args], str(call.attrs))
        self.desc = self.name

    @property
    def workload_key(self) -> str:
        """The operator, the types of its arguments and its attributes, as text."""
        return str(list(self.workload))

    @property
    def compute_dag(self) -> str:
        """The call as Relay text."""
        return str(self.call)

    @property
    def flop(self) -> int:
        """The floating-point operations of one run."""
        return int(call_cost(self.call).flops)

    def __repr__(self) -> str:
        return f"Task(func_name={self.name}, args={self.args}, workload={self.workload})"


def tasks_of(
    mods: Sequence[IRModule | Function], params: Sequence[Mapping[str, Any] | None], target: Any, ops: Any
) -> tuple[list[Task], list[int]]:
    """Return a task for each different call of a convolution, matrix product or the like, and the number of
    calls. With `ops`, only calls of these operators count.
    """
    chosen = None if ops is None else {str(getattr(op, "name", op)) for op in ops}
    tasks: dict[tuple[str, ...], Task] = {}
    weights: dict[tuple[str, ...], int] = {}
    for mod, values in zip(mods, params, strict=True):
        module = typed_module(IRModule.from_expr(mod), values)
        for _, function in module.functions.items():
            for call in _calls(function, chosen):
                task = Task(call, target)
                tasks.setdefault(task.workload, task)
                weights[task.workload] = weights.get(task.workload, 0) + 1
    return list(tasks.values()), [weights[key] for key in tasks]


def _calls(function: Expr, chosen: set[str] | None) -> list[Call]:
    calls = [node for node in post_order(function) if isinstance(node, Call) and isinstance(node.op, Op)]
    if chosen is not None:
        return [call for call in calls if isinstance(call.op, Op) and call.op.name in chosen]
    return [call for call in calls if _is_product(call)]


def _is_product(call: Call) -> bool:
    """Whether a call is a convolution, a matrix product or the like: one with data and weights."""
    op = call.op
    return isinstance(op, Op) and op.pattern is OpPattern.OUT_ELEMWISE_FUSABLE and len(call.args) > 1


def say_untuned(what: str) -> None:
    """Warn, once for each tuner, that nothing is tuned, and name the replacement."""
    say_once(what, f"tunes nothing, and programs get the built-in schedules: {remedy('tvm.autotvm')}")


def touch(path: object) -> None:
    """Create an empty log if there is no file: old scripts copy and remove it."""
    with open(str(path), "a", encoding="utf-8"):
        pass
