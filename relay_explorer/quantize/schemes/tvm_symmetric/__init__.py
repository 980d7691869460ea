"""TVM's scheme: 8-bit symmetric operands, 32-bit accumulators and, by default, power-of-two thresholds.

The rules say, operator by operator, what TVM 0.14 did: `partition` marks where a value is stored in 8 bits,
`annotating` chooses the quantizers, and `realizing` builds the integer arithmetic, in plain Relay. The
settings are those of `qconfig`.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....ir.expr import Call, Expr
from ....ir.lazy_dataclass import dataclass
from ....ir.module import IRModule
from ....ir.op import Op
from ...annotation import Annotated
from ...calibrators import GlobalScale, KLDivergence, MaxAbs, Percentile, PowerOfTwo
from ...config import QConfig, current_qconfig
from ...forward import Temporary
from ...quantized import Quantized
from ...quantizer import Calibrator, Quantizer, Role
from ...scheme import Annotation, Candidate, Keep, Operand, Scheme, Site
from . import realizing
from .annotating import RULES as ANNOTATE
from .annotating import dropped
from .partition import partitioned
from .realizing import RULES as REALIZE
from .registry import USER_RULES, called

KL_LEVELS = 255  # those of 8 bits: TVM rounds to as many for every number of bits


@dataclass(frozen=True)
class TvmSymmetric(Scheme):
    """TVM's automatic quantization, with the settings of the innermost `qconfig` unless others are given."""

    name = "tvm_symmetric"
    opt_level = None
    config: QConfig = None  # type: ignore[assignment]  # set to the current one when it is not given

    def __post_init__(self) -> None:
        if self.config is None:
            object.__setattr__(self, "config", current_qconfig())

    def quantizer(self, role: Role) -> Quantizer:
        """Return the quantizer of values of a role. A threshold is 2 ** (bits - 1) steps from 0."""
        bits = self.config.get_nbit_by_kind(role)
        calibrators: dict[str, Calibrator] = {
            "global_scale": GlobalScale(self.config.global_scale),
            "kl_divergence": KLDivergence(levels=KL_LEVELS),
            "percentile": Percentile(),
        }
        calibrator = calibrators[self.config.calibrate_mode]
        if role is Role.WEIGHT:
            calibrator = PowerOfTwo() if self.config.weight_scale == "power2" else MaxAbs()
        dtype = self.config.get_dtype_by_kind(role)
        return Quantizer(role, bits, steps=2 ** (bits - 1), calibrator=calibrator, dtype=dtype)

    def prepare(self, mod: IRModule) -> IRModule:
        return partitioned(mod, self.config)

    def annotate(self, candidate: Candidate) -> Annotation | Keep | Temporary | Expr | None:
        answer = self._annotated(candidate)
        return answer._replace(forwards=True) if isinstance(answer, Keep) else answer

    def _annotated(self, candidate: Candidate) -> Annotation | Keep | Temporary | Expr | None:
        name = candidate.op.name
        user = USER_RULES["FQAnnotateRewrite"].get(name)
        if user is not None:
            return called(user, candidate)
        if not self.config.guard(candidate.call):
            return Keep("`debug_enabled_ops` does not list its operator")
        rule = ANNOTATE.get(name)
        if rule is None:
            return None
        if candidate.stopped:
            return dropped(candidate) or Keep(candidate.stopped)
        return rule(self, candidate)

    def shared(self, value: Operand) -> Quantizer | None:
        """Store a value that several calls use in 8 bits."""
        return self.quantizer(Role.INPUT)

    def quantize(self, data: Expr, site: Site) -> Quantized:
        return realizing.quantized(self, data, site)

    def requantize(self, value: Quantized, site: Site) -> Quantized:
        return realizing.requantized(self, value, site)

    def dequantize(self, value: Quantized) -> Expr:
        return realizing.dequantized(value)

    def realize(self, call: Call, operands: Sequence[Quantized | Expr]) -> Quantized | Expr | None:
        assert isinstance(call.op, Op)
        rule = REALIZE.get(call.op.name)
        if rule is None:
            return None
        return realizing.followed(self, rule, call, operands, rule(self, call, operands))


__all__ = ["Annotated", "TvmSymmetric"]
