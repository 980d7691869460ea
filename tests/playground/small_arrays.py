"""Evaluate each operator's example, with NumPy or, where it is hidden, with the page's small arrays.

Run as a program, it hides NumPy and writes the results as JSON.
"""

from __future__ import annotations

import json
import sys
from typing import Any

Result = dict[str, Any]  # "values" with their shapes and types, or the "error"


def arguments(types: list[tuple[tuple[int, ...], str]]) -> list[Any]:
    """Values that are the same with both kinds of arrays: eighths of both signs, small indices."""
    import numpy as np

    results = []
    for number, (shape, dtype) in enumerate(types):
        count = 1
        for extent in shape:
            count *= extent
        if dtype == "bool":
            values: list[Any] = [(i * 7 + number) % 3 == 0 for i in range(count)]
        elif dtype.startswith(("int", "uint")):
            values = [(i * 5 + number) % 2 for i in range(count)]
        else:
            values = [((i * 37 + number * 11) % 29 - 13) / 8 for i in range(count)]
        results.append(np.array(values, dtype).reshape(shape))
    return results


def example_of(op: Any) -> tuple[Any, list[tuple[tuple[int, ...], str]]] | None:
    """The module of an operator's example, and its arguments' types."""
    from relay_explorer.ir.expr import Function
    from relay_explorer.ir.module import IRModule
    from relay_explorer.ir.types import TensorType
    from relay_explorer.ir.walk import free_vars

    call = op.example() if op.example is not None else None
    if call is None:
        return None
    params = free_vars(call)
    types = [p.type_annotation for p in params if isinstance(p.type_annotation, TensorType)]
    if len(types) != len(params) or not all(type_.is_static for type_ in types):
        return None
    module = IRModule.from_expr(Function(params, call))
    return module, [(tuple(type_.concrete_shape), type_.dtype) for type_ in types]


def flat(value: Any) -> list[tuple[list[int], str, list[Any]]]:
    if isinstance(value, tuple):
        return [part for inner in value for part in flat(inner)]
    elements = value.reshape(-1).tolist()
    return [([int(n) for n in value.shape], str(value.dtype), elements)]


def evaluate() -> dict[str, Result]:
    """The results of all operators, by name."""
    from relay_explorer.execute.interpreter import Interpreter
    from relay_explorer.ir.op import Op

    results: dict[str, Result] = {}
    for name in Op.list_op_names():
        example = example_of(Op.get(name))
        if example is None:
            continue
        module, types = example
        try:
            results[name] = {"values": flat(Interpreter(module).call("main", arguments(types)))}
        except Exception as error:
            results[name] = {"error": type(error).__name__, "message": str(error)[:200]}
    return results


def examples() -> dict[str, Any]:
    """The views of the page's examples, by title, and the errors."""
    from relay_explorer.playground.examples import EXAMPLES
    from relay_explorer.playground.session import Session

    answers = {}
    for example in EXAMPLES:
        question = {"text": example.text, "view": example.view, "options": dict(example.options)}
        answer = json.loads(Session().answer(json.dumps(question)))
        answers[example.title] = [answer["view"], answer["problems"]]
    return answers


if __name__ == "__main__":

    class Hidden:
        """NumPy is not installed."""

        @staticmethod
        def find_spec(name: str, path: Any = None, target: Any = None) -> None:
            if name.partition(".")[0] in ("numpy", "tvm"):
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    sys.meta_path.insert(0, Hidden)
    from relay_explorer.playground.arrays import namespace

    sys.modules["numpy"] = namespace.module
    json.dump({"operators": evaluate(), "examples": examples()}, sys.stdout)
