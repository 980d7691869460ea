"""Operators one by one, compiled: many kernels in one module, each held against the operator's NumPy
meaning.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from relay_explorer.execute import Interpreter
from relay_explorer.ir.expr import Call, Constant, Expr, Function, Var, var
from relay_explorer.ir.module import IRModule
from relay_explorer.ir.narrow import as_tensor_type
from relay_explorer.ir.op import Op
from relay_explorer.ir.tuple_wrapper import TupleWrapper
from relay_explorer.ir.types import TensorType
from relay_explorer.ir.walk import post_order
from relay_explorer.lower.compose import compose
from relay_explorer.lower.require import tvm
from relay_explorer.lower.targets.target import Target
from relay_explorer.ops.te.lowered import CANONICAL, HOST
from relay_explorer.typing import infer_types
from tests.ops.meanings import numbers, rng

Array = Any
DIGITS = {"float16": 4e-3, "float32": 2e-5, "float64": 1e-11}


class Case(NamedTuple):
    """A function of one call, with its arguments."""

    module: IRModule
    values: list[Any]

    @property
    def function(self) -> Function:
        main = self.module["main"]
        assert isinstance(main, Function)
        return main

    @property
    def name(self) -> str:
        assert isinstance(self.function.body, Call)
        assert isinstance(self.function.body.op, Op)
        return self.function.body.op.name


def case(result: Expr | TupleWrapper, *values: Array) -> Case:
    """Build a case of a call, whose first variables have these `values`, and the others random ones."""
    call = result.astuple() if isinstance(result, TupleWrapper) else result
    params = [node for node in post_order(call) if isinstance(node, Var)]
    module, fixed = without_constants(infer_types(IRModule.from_expr(Function(params, call))))
    rest = rng(str(call))
    types = [param.checked_type for param in module["main"].params]
    arguments = [np.asarray(v, t.dtype) for v, t in zip(values, map(as_tensor_type, types), strict=False)]
    made_up = [
        numbers(rest, t.concrete_shape, t.dtype)
        for t in map(as_tensor_type, types[len(arguments) : len(params)])
    ]
    return Case(module, [*arguments, *made_up, *fixed.values()])


def without_constants(module: IRModule) -> tuple[IRModule, dict[str, Array]]:
    """Replace constants of more than one element, which no kernel contains, by parameters; return the module
    and their values.
    """
    main = module["main"]
    assert isinstance(main, Function)
    assert isinstance(main.body, Call)
    result, args, params = {}, list(main.body.args), list(main.params)
    for place, arg in enumerate(args):
        if isinstance(arg, Constant) and len(arg.data.values()) != 1:
            param = args[place] = var(f"constant{place}", TensorType(arg.data.shape, arg.data.dtype))
            params.append(param)
            result[f"constant{place}"] = arg.data.numpy()
    if not result:
        return module, result
    return infer_types(
        IRModule.from_expr(Function(params, Call(main.body.op, args, main.body.attrs)))
    ), result


def compiled(op: Op) -> bool:
    """Whether an operator has a kernel: it neither runs on the host nor is replaced by its canonical form."""
    return bool(op.lowering) and op.lowering not in (HOST, CANONICAL)


def flat(value: Any) -> list[Array]:
    return [leaf for part in value for leaf in flat(part)] if isinstance(value, tuple) else [value]


def results(cases: list[Case], expected: list[list[Array]], optimized: bool = True) -> list[list[Array]]:
    """Run the kernels of all cases. Their results are initialized to other values, so that elements that they
    do not write are detected. Code that LLVM does not optimize compiles in half the time.
    """
    target = Target.of("cpu")
    kernels = {f"k{n}": compose(c.function, target, f"k{n}").prim_func for n, c in enumerate(cases)}
    llvm = {"kind": "llvm", "opt-level": 3 if optimized else 0}
    library = tvm().compile(tvm().IRModule(kernels), target=tvm().target.Target(llvm))
    tensor, result = tvm().runtime.tensor, []
    for n, (one, want) in enumerate(zip(cases, expected, strict=True)):
        outs = [tensor(np.full(w.shape, 77).astype(w.dtype)) for w in want]
        library[f"k{n}"](*[tensor(np.array(v, order="C")) for v in flat(tuple(one.values))], *outs)
        result.append([out.numpy() for out in outs])
    return result


def agree(cases: Iterable[Case], digits: dict[str, float] = DIGITS, optimized: bool = True) -> None:
    """Fails unless every kernel gives what the operator's meaning does, in shape and element type too."""
    every = list(cases)
    expected = [flat(Interpreter(c.module).call("main", c.values)) for c in every]
    for one, result, want in zip(every, results(every, expected, optimized), expected, strict=True):
        for got, right in zip(result, want, strict=True):
            close = digits.get(str(right.dtype), 0)
            text = f"{one.name}\n{one.function}"
            assert (got.dtype, got.shape) == (right.dtype, right.shape), text
            np.testing.assert_allclose(got, right, rtol=close, atol=close, err_msg=text)
