"""What FakeQuantizationToInteger reports of each fake-quantized region: whether it computes with integers
now, and if not, which operator prevents it and why.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.expr import Call, Expr
from ...ir.lazy_dataclass import dataclass
from ...ir.op import Op
from ...ir.recorder import Event


@dataclass(frozen=True, slots=True)
class Region(Event):
    """A fake-quantized region: the operators between a `qnn.quantize` and the `qnn.dequantize` calls that
    feed it.

    `end` is the call that the region ends with: a `qnn.quantize`, or with `use_qat` an operator that was
    converted on its own. `calls` are the operator calls of the region, operands first. `converted` is the
    integer expression in place of `end`, None where the region stays as it is: `reason` then says why, in one
    sentence without a full stop, and `culprit` is the expression of the input program that prevents it.
    """

    end: Call
    calls: tuple[Call, ...]
    converted: Expr | None
    reason: str = ""
    culprit: Expr | None = None

    def __str__(self) -> str:
        names = ", ".join(_names(self.calls)) or "no operator"
        return (
            f"{names}: integers" if self.converted is not None else f"{names}: float, because {self.reason}"
        )


def _names(calls: Sequence[Call]) -> list[str]:
    return [call.op.name for call in calls if isinstance(call.op, Op)]
