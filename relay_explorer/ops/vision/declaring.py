"""What the operators that suppress boxes declare alike."""

from __future__ import annotations

from ...ir.attrs import Attrs
from ...ir.expr import Expr, const
from ...ir.op import Compute, Op, OpPattern, Relation, no_flops
from ..declare import declare

LAXER = "It took elements of any type, and did not compare the shapes of its arguments."


def suppresses(
    name: str,
    description: str,
    relation: Relation,
    inputs: tuple[str, ...],
    attrs: type[Attrs],
    compute: Compute,
    formula: str = r"\{\, b_i : \forall j < i \text{ that stays},\ \mathrm{IoU}(b_i, b_j) < t \,\}",
    lenient_in_tvm: str = LAXER,
) -> Op:
    """Declares `vision.` and `name`, an operator that leaves boxes out."""
    return declare(
        f"vision.{name}", description, formula=formula, relation=relation, inputs=inputs, attrs=attrs,
        pattern=OpPattern.OPAQUE, flops=no_flops, compute=compute, family="image", level=5,
        lenient_in_tvm=lenient_in_tvm,
        lowering=f"nms.{name}",
    )  # fmt: skip


def number(value: Expr | float, dtype: str) -> Expr:
    """A limit as an expression."""
    return value if isinstance(value, Expr) else const(value, dtype)
