"""The exercise of chapter 7: `@map` and a fold of trees, written in Relay. How an answer, a string, is
parsed and run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any as Anything
from typing import NamedTuple

from ...ir.equal import structural_equal
from ...ir.errors import RelayError
from ...ir.module import IRModule

TYPES = """
type List[A] { Cons(A, List[A]), Nil }
type Tree[A] { Rose(A, List[Tree[A]]) }
"""
HOLE = "# Your code here."  # the placeholder for a solution in a text
MAP = """
def @map[A, B](%f: fn (A) -> B, %xs: List[A]) -> List[B] {
  match (%xs) {
    Cons(%x, %rest) => { let %y = %f(%x); Cons(%y, @map(%f, %rest)) },
    Nil => { Nil },
  }
}
"""
FOLD = """
def @fold[A, B](%f: fn (A, List[B]) -> B, %tree: Tree[A]) -> B {
  match (%tree) {
    Rose(%x, %children) => {
      %f(%x, @map(fn (%child: Tree[A]) -> B { @fold(%f, %child) }, %children))
    },
  }
}
"""


class Rose(NamedTuple):
    """A tree in Python: an integer, and subtrees."""

    value: int
    children: tuple[Rose, ...] = ()


class RefusedError(Exception):
    """An answer that cannot be tested as a program; `hint` says what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class Task(NamedTuple):
    """A function to write: its name, a correct definition, and the definitions that its text may use."""

    name: str
    right: str
    given: str


TASKS = {"map": Task("map", MAP, ""), "fold": Task("fold", FOLD, MAP)}


def read(task: Task, answer: str) -> IRModule:
    """Parse an answer, with the definitions that it may use. Raise a RefusedError unless it is a well-typed
    program with a function of the required name and type.
    """
    from ...text import parse
    from ...typing import infer_types

    inputs = parse(TYPES + task.given, "given")
    if any(line.strip().startswith("import") for line in answer.splitlines()):
        raise RefusedError(
            "an import",
            "Write it yourself: the definitions that you may use are available without an import.",
        )
    try:
        module = parse(answer, "answer", inputs)
        if all(var.name_hint != task.name for var in module.functions):
            raise RefusedError(f"a program without `@{task.name}`", f"Define it: `def @{task.name}…`.")
        typed = infer_types(module)
    except RelayError as error:
        raise RefusedError(str(error), _hint(str(error), answer)) from None
    expected = infer_types(parse(task.right, "right", inputs))[task.name].checked_type
    own = typed[task.name].checked_type
    if not structural_equal(own, expected):
        raise RefusedError(
            f"`@{task.name}` has the type {own}",
            f"Its type must be {expected}: keep the parameters, the result type and the type parameters.",
        )
    return module


def _hint(message: str, answer: str) -> str:
    if HOLE in answer:
        return "There is no answer yet: write it, then run the cell again."
    if "declared twice" in message:
        return "`List` and `Tree` are already declared: do not declare them again."
    return ""


def run(module: IRModule, main: str) -> Anything:
    """Run `def @main() { … }`, and return the result in Python: numbers, tuples, lists, trees."""
    from ...lower.executor import create_executor

    return plain(create_executor("debug", mod=with_main(module, main)).evaluate()())


def with_main(module: IRModule, main: str) -> IRModule:
    """Add a `@main` of this body to the module."""
    from ...text import parse

    return parse(f"def @main() {{ {main} }}", "main", module)


def plain(value: Anything) -> Anything:
    """Convert a result to Python: a list to a list, a tree to a Rose."""
    todo: list[tuple[Anything, bool]] = [(value, False)]
    done: list[Anything] = []
    while todo:  # lists and trees may be deep
        current, ready = todo.pop()
        fields: Sequence[Anything] = getattr(current, "fields", current if isinstance(current, tuple) else ())
        if not ready and fields:
            todo.append((current, True))
            todo += [(field, False) for field in fields]
            continue
        parts = [done.pop() for _ in fields]
        done.append(_built(current, parts))
    return done[0]


def _built(value: Anything, parts: list[Anything]) -> Anything:
    if isinstance(value, tuple):
        return tuple(parts)
    if not hasattr(value, "constructor"):
        return value.numpy().item()
    match value.constructor.name_hint, parts:
        case "Cons", [head, rest]:
            return [head, *rest]
        case "Rose", [number, children]:
            return Rose(number, tuple(children))
    return []


def list_text(items: Sequence[str]) -> str:
    """Write a list of expressions as one expression."""
    return "".join(f"Cons({item}, " for item in items) + "Nil" + ")" * len(items)


def tree_text(tree: Rose) -> str:
    """Write a tree of numbers as an expression."""
    built: dict[int, str] = {}
    pending = [tree]
    order = []
    while pending:
        node = pending.pop()
        order.append(node)
        pending += node.children
    for node in reversed(order):
        built[id(node)] = f"Rose({node.value}, {list_text([built[id(c)] for c in node.children])})"
    return built[id(tree)]
