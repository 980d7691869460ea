"""Calls of the conformance programs, made again through the builders, have the same types and attributes."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

from relay_explorer.ir.expr import Call, Expr, Var
from relay_explorer.ir.op import Op
from relay_explorer.ir.tuple_wrapper import TupleWrapper
from relay_explorer.ir.walk import post_order
from relay_explorer.ops import NAMESPACES, builders
from relay_explorer.text import parse
from relay_explorer.typing import infer_types
from tests.ops.tensor_programs import type_of

CASES = json.loads((Path(__file__).parents[1] / "data" / "conformance.json").read_text())
BUILDERS = {
    ("nn." if namespace == "nn" else "") + name: build
    for namespace in NAMESPACES
    for name, build in builders(namespace).items()
    if namespace not in ("image", "qnn")
}


def calls_of_operators() -> list[Call]:
    """The typed calls of operators in well-typed programs, once for each choice of attributes and types."""
    found: dict[Any, Call] = {}
    for case in CASES.values():
        if case["well_typed"]:
            module = infer_types(parse(case["text"]))
            for function in case["types"]:
                for node in post_order(module[function]):
                    if isinstance(node, Call) and isinstance(node.op, Op):
                        key = (node.op.name, str(node.attrs), *[str(a.checked_type) for a in node.args])
                        found.setdefault(key, node)
    return list(found.values())


def rebuilt(call: Call) -> Expr:
    """The call through its builder: arguments are variables of the same types, attributes go by name."""
    assert isinstance(call.op, Op)
    build = BUILDERS[call.op.name]
    parameters = inspect.signature(build).parameters
    given = {name: value for name, value in (call.attrs.items() if call.attrs else []) if name in parameters}
    made = build(*[Var(f"a{n}", arg.checked_type) for n, arg in enumerate(call.args)], **given)
    return made.astuple() if isinstance(made, TupleWrapper) else made


def test_builders_make_what_the_programs_say() -> None:
    calls = calls_of_operators()
    assert len({call.op for call in calls}) >= 25
    for call in calls:
        again = rebuilt(call)
        assert isinstance(again, Call)
        assert again.op is call.op
        assert again.attrs == call.attrs, call.op
        assert type_of(again) == call.checked_type, call.op
