"""The exercise `lower_operator`: `smooth`, an operator that Relay does not have, from its declaration to
machine code.

    smooth(x: (*b, n), radius)  ->  (*b, n), the mean of the neighbors at most `radius` away

The expected results are computed here with NumPy. A lowering is tested as the compiler uses any other: in a
kernel, alone and with other operators, compiled for this machine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any as Anything

from ...ir.attrs import Attrs, attr
from ...ir.expr import Call, Expr, Function, Var
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
from ...ir.op import Op, OpPattern, Relation
from ...ir.types import TensorType, Type
from ..answer_values import withheld

NAME = "smooth"
DTYPES = ("float32", "float64", "float16")
PATTERN = OpPattern.OUT_ELEMWISE_FUSABLE


class SmoothAttrs(Attrs, key="exercises.SmoothAttrs"):
    radius: int = attr(1, "How far away a neighbor may be, in elements.")


@dataclass(frozen=True)
class Case:
    """A call of `smooth`. `filling` chooses the input: "numbers", "ones", or "infinite", which contains an
    infinity and a NaN. `around`: whether other operators are in the same kernel.
    """

    shape: tuple[int, ...]
    radius: int
    dtype: str = "float32"
    filling: str = "numbers"
    around: bool = False
    seed: int = 0

    def __str__(self) -> str:
        what = {"numbers": "", "ones": ", of ones", "infinite": ", with an infinity and a NaN"}[self.filling]
        where = ", in nn.relu(smooth(tanh(x)) + x)" if self.around else ""
        return f"x: {TensorType.of(self.shape, self.dtype)}{what}; radius = {self.radius}{where}"


def operator(relation: Anything = None, lowering: Anything = None, pattern: int = PATTERN) -> Op:
    """Build the operator from an answer's parts, with correct ones for the rest. It is not registered."""
    op = Op(
        NAME,
        description="The mean of the neighbors, along the last axis.",
        formula=r"y_i = \\operatorname{mean}_{|j - i| \\le r} x_j",
        inputs=("x",),
        relation=Relation("Smooth", relation or right_relation, "{out} = {0}"),
        attrs_class=SmoothAttrs,
        reference=lambda attrs, x: smoothed(x, attrs.radius),
        pattern=pattern,
        family="nn",
    )
    if lowering is not None:
        op.set_attr("FTVMCompute", lowering)
    return op


def call_of(op: Op, x: Expr, radius: int) -> Call:
    """Build a call of the operator."""
    return Call(op, [x], SmoothAttrs(radius=radius))


@withheld
def right_relation(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Anything) -> bool:
    """Give the result the type of `x`."""
    if not isinstance(types[0], TensorType):
        return False
    reporter.assign(types[1], types[0])
    return True


# -- expected results


def smoothed(x: Anything, radius: int) -> Anything:
    """Compute `smooth` in NumPy."""
    return mean_over(x, lambda at, n: [j for j in range(at - radius, at + radius + 1) if 0 <= j < n])


def mean_over(x: Anything, chosen: Callable[[int, int], list[int]], count: int | None = None) -> Anything:
    """Compute, for each index, the mean of the elements along the last axis that `chosen(place, length)`
    returns, summed in float64; divided by `count` if that is given.
    """
    import numpy as np

    wide = np.asarray(x, "float64")
    n = wide.shape[-1]
    result = np.empty_like(wide)
    with np.errstate(all="ignore"):
        for at in range(n):
            places = chosen(at, n)
            result[..., at] = wide[..., places].sum(-1) / (count or len(places))
        return result.astype(x.dtype)


def numbers(case: Case) -> Anything:
    """Return the argument of a case."""
    import numpy as np

    rng = np.random.default_rng(case.seed)
    if case.filling == "ones":
        return np.ones(case.shape, case.dtype)
    result = rng.uniform(-4, 4, case.shape).astype(case.dtype)
    if case.filling == "infinite" and result.size > 1:
        result[..., 0] = np.inf
        result[..., result.shape[-1] // 2] = np.nan
    return result


def padded_with_nan(array: Anything, margin: int) -> Anything:
    """Surround the array with NaN in memory, so that reads beyond its boundaries are detected."""
    import numpy as np

    from ...lower.runtime.arrays import ALIGNMENT, aligned

    offset = -(-margin // ALIGNMENT) * ALIGNMENT  # elements, so that the array itself stays aligned
    whole = aligned((array.size + 2 * offset,), array.dtype.name)
    whole.fill(np.nan)
    result = whole[offset : offset + array.size].reshape(array.shape)
    result[...] = array
    return result


def around(x: Anything, middle: Anything) -> Anything:
    """Apply the operators around a call to its value."""
    import numpy as np

    return np.maximum(middle + x, 0).astype(x.dtype)


def expected_result(case: Case) -> Anything:
    """Return the expected result of a case's kernel."""
    import numpy as np

    x = numbers(case)
    if not case.around:
        return smoothed(x, case.radius)
    return around(x, smoothed(np.tanh(x), case.radius))


# -- the kernel of an answer


def kernel(case: Case, lowering: Anything) -> Anything:
    """Return the kernel of a case, compiled when it first runs, unless one with the same loops exists."""
    from ...lower.targets.target import Target
    from ...typing import infer_types
    from ..machine_code import RememberedKernel

    x = Var("x", TensorType.of(case.shape, case.dtype))
    call = call_of(operator(lowering=lowering), plain("tanh", x) if case.around else x, case.radius)
    body = plain("nn.relu", plain("add", call, x)) if case.around else call
    typed = infer_types(IRModule.from_expr(Function([x], body, None, None, {"Primitive": 1})))["main"]
    entry = {"function": typed, "rule": "in this process"}
    return RememberedKernel("smooth", "smooth", "", Target.of("cpu"), entry)


def plain(name: str, *args: Expr) -> Call:
    """Build a call of a Relay operator without attributes."""
    from ...relay import op

    return Call(op.get(name), args)


def chain(pattern: int, steps: Sequence[str]) -> IRModule:
    """Build a chain of operators, `smooth` with that pattern among them, before fusion."""
    from ...ops.reduce.folding import sum as sum_of
    from ...typing import infer_types

    x = Var("x", TensorType.of((8, 64), "float32"))
    value: Expr = x
    for name in steps:
        if name == NAME:
            value = call_of(operator(pattern=pattern), value, 2)
        else:
            value = sum_of(value, -1) if name == "sum" else plain(name, value)
    return infer_types(IRModule.from_expr(Function([x], value)))


def kernels(module: IRModule) -> list[list[str]]:
    """Return the operators of each kernel of a program, after fusion."""
    from ...ir.walk import post_order
    from ...transform import FuseOps
    from ...transform.infrastructure import PassContext

    with PassContext(opt_level=3):
        fused = FuseOps()(module)
    calls = [node for node in post_order(fused["main"]) if isinstance(node, Call)]
    parts = [call.op for call in calls if isinstance(call.op, Function)]
    return [
        [n.op.name for n in post_order(f.body) if isinstance(n, Call) and isinstance(n.op, Op)] for f in parts
    ]
