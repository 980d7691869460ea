"""Import ONNX models, run them, and compare the results with ONNX Runtime's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import onnx.parser

import relay_explorer
from relay_explorer import relay
from relay_explorer.frontends import from_onnx
from relay_explorer.ir.module import IRModule
from tests.frontends.onnx.node_tests import argument, plain

Values = Mapping[str, Any]


def parsed(text: str, opset: int = 18) -> Any:
    """Read a model whose graph is written in ONNX's text form."""
    model = onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["" : {opset}]> {text}')
    onnx.checker.check_model(model, full_check=True)
    return model


def runtime(model: Any, values: Values) -> list[Any]:
    """Run a model with ONNX Runtime."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    return list(onnxruntime.InferenceSession(model.SerializeToString(), options).run(None, dict(values)))


def imported(model: Any, values: Values, kind: str = "debug", **options: Any) -> list[Any]:
    """Import a model and run it: with the interpreter, Relay's virtual machine ("vm"), or compiled."""
    mod, params = from_onnx(model, **options)
    return run(mod, {**params, **values}, kind)


def run(mod: IRModule, values: Values, kind: str = "debug") -> list[Any]:
    """Run `@main` of a module with arguments by name."""
    typed = relay.transform.InferType()(mod)
    args = [argument(values[var.name_hint], var.checked_type, typed) for var in typed["main"].params]
    if kind == "compiled":
        result = relay_explorer.build(mod)(*args)
    else:
        result = relay.create_executor(kind, mod).evaluate()(*args)
    return [plain(part) for part in result] if isinstance(result, tuple) else [plain(result)]


def check(
    model: Any,
    values: Values,
    kinds: Sequence[str] = ("debug",),
    rtol: float = 1e-5,
    atol: float = 1e-5,
    **options: Any,
) -> None:
    """Check that a model gives ONNX Runtime's results."""
    expected = runtime(model, values)
    for kind in kinds:
        same(imported(model, values, kind, **options), expected, rtol, atol)


def same(results: Sequence[Any], expected: Sequence[Any], rtol: float = 1e-5, atol: float = 1e-5) -> None:
    """Check that results, arrays or lists of them, have the expected types, shapes and values."""
    assert len(results) == len(expected)
    for result, value in zip(results, expected):
        if isinstance(value, list):
            same(result, value, rtol, atol)
            continue
        assert (result.dtype, result.shape) == (value.dtype, value.shape)
        np.testing.assert_allclose(result, value, rtol=rtol, atol=atol)
