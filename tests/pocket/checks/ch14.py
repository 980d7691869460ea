"""Chapter 14: passes, one after the other, with types checked between them."""

from __future__ import annotations

import contextlib
import io

from pocket import bridge, ir
from pocket.interpreter import run
from pocket.passes import function_pass, sequential
from pocket.printer import show
from pocket.scopes import to_anf
from pocket.visitor import rewrite

from relay_explorer import models
from tests.pocket.programs import programs, same

normalize = function_pass(to_anf)
assert normalize.__name__ == "to_anf"


def nothing(function: ir.Function) -> ir.Function:
    return function


program = bridge.from_relay(models.load("mlp"))
with contextlib.redirect_stdout(io.StringIO()) as out:
    result = sequential(function_pass(nothing), normalize, verbose=True)(program)
printed = out.getvalue()
assert "to_anf" in printed, f"the pass is not named:\n{printed}"
assert show(result) in printed, f"the program after to_anf is not printed:\n{printed}"
assert "nothing" not in printed, f"a pass that changes nothing prints nothing, not\n{printed}"
with contextlib.redirect_stdout(io.StringIO()) as out:
    sequential(normalize)(program)
assert out.getvalue() == ""


def transpose(expr: ir.Node) -> ir.Node:
    if isinstance(expr, ir.Call) and expr.callee == ir.Op("nn.dense"):
        return ir.call("nn.dense", expr.args[1], expr.args[0])
    return expr


def swap(function: ir.Function) -> ir.Function:
    return rewrite(function, transpose)


notes: list[str] = ["no error"]
try:
    sequential(normalize, function_pass(swap))(program)
except (TypeError, ValueError) as error:
    notes = getattr(error, "__notes__", ["no notes"])
assert any("swap" in note for note in notes), f"no note names the pass that breaks the types: {notes}"

for number, generated in enumerate(programs(100)):
    program = bridge.from_relay(generated.module)
    assert same(run(normalize(program)), run(program)), f"random program {number}"
