"""The rest of `tvm.relay.quantize`: what old code used besides `relay_explorer.quantize`."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from types import TracebackType
from typing import Any

from ..ir.expr import Call, Expr, Function, Tuple, Var, as_expr
from ..ir.module import IRModule
from ..ir.walk import free_vars, rewrite_nodes
from ..ops.simulated_quantize import simulated_quantize as simulated
from ..quantize import QConfig, Role
from ..quantize import qconfig as strict_qconfig
from ..quantize import quantize as quantize_by_scheme
from ..quantize.annotation import SIMULATE, Annotated, Annotating, current
from ..quantize.config import innermost_qconfig
from ..quantize.conversions import partition_conversions
from ..quantize.kl_divergence import divergences
from ..quantize.observation import Dataset
from ..quantize.schemes.tvm_symmetric import TvmSymmetric
from ..quantize.schemes.tvm_symmetric.passes import calibrate, collect_stats
from ..quantize.statistics import histogram

QAnnotateExpr = Annotated


class QAnnotateKind(IntEnum):
    """The roles of quantized values (`relay_explorer.quantize.Role`)."""

    IDENTITY = 0
    INPUT = 1
    WEIGHT = 2
    ACTIVATION = 3


def kind2str(kind: int) -> str:
    """Return the name of a role, in lower case."""
    return Role(kind).name.lower()


def qconfig(**fields: Any) -> QConfig:
    """Return settings of TVM's quantization. Unknown names are ignored, as TVM ignored them: its own tests
    misspell some.
    """
    known = {name: value for name, value in fields.items() if name in QConfig.__annotations__}
    return strict_qconfig(**known)


def current_qconfig() -> QConfig:
    """Return the settings of the innermost `with qconfig(…)`. Outside of any, TVM skipped no convolution."""
    return innermost_qconfig() or QConfig(skip_conv_layers=None)


def quantize(
    mod: IRModule, params: Mapping[str, object] | None = None, dataset: Dataset | None = None
) -> IRModule:
    """Quantize a program by TVM's scheme, with the settings of `current_qconfig`."""
    return quantize_by_scheme(mod, params, dataset, TvmSymmetric(current_qconfig()))


def attach_simulated_quantize(data: Any, kind: int, sign: bool = True, rounding: str = "round") -> Expr:
    """Simulate the quantization of a value; a value that is simulated in the same way already stays.

    While TVM's scheme annotates a program, each value has one simulation of each kind.
    """
    expr: Expr = as_expr(data)
    attrs = (
        getattr(expr, "attrs", None) if getattr(getattr(expr, "op", None), "name", "") == SIMULATE else None
    )
    if attrs is not None and (attrs.kind, attrs.sign, attrs.rounding) == (kind, sign, rounding):
        return expr
    run = current()
    if run is not None and isinstance(run.scheme, TvmSymmetric):
        return run.attached(expr, run.scheme.quantizer(Role(kind)), "a user's rule chose it")
    scale, low, high = (Var(name) for name in ("dom_scale", "clip_min", "clip_max"))
    return simulated(expr, scale, low, high, int(kind), sign, rounding)


class QuantizeContext:
    """The state of an annotation in progress, as rules of old code read and changed it."""

    @property
    def _run(self) -> Annotating | None:
        return current()

    def check_to_skip(self, ref_call: Call) -> bool:
        """Whether a call stays in float: it is a convolution that `skip_conv_layers` names, or comes after
        the quantized part.
        """
        run = self._run
        if run is None or not isinstance(run.scheme, TvmSymmetric):
            return False
        skipped = run.scheme.config.skip_conv_layers or ()
        name = getattr(ref_call.op, "name", "")
        return bool(run.stopped) or (name == "nn.conv2d" and run.ordinal in skipped)

    def stop_quantize(self) -> None:
        """End the quantized part of the program."""
        if self._run is not None:
            self._run.stopped = "a user's rule ended the quantized part"

    def __enter__(self) -> QuantizeContext:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass


def quantize_context() -> QuantizeContext:
    """Return the state of the annotation in progress."""
    return QuantizeContext()


def _find_scale_by_kl(
    arr: Any, quantized_dtype: str = "int8", num_bins: int = 8001, num_quantized_bins: int = 255
) -> float:
    """Return the threshold for the values of an array, by Kullback-Leibler divergence."""
    import numpy

    array = numpy.asarray(arr)
    if array.min() >= 0 and quantized_dtype == "uint8":
        num_quantized_bins = num_quantized_bins * 2 + 1
    counts, edges = histogram([array], float(numpy.abs(array).max()), num_bins)
    thresholds, losses = divergences(counts, edges, num_quantized_bins)
    return float(thresholds[int(losses.argmin())])


def _find_scale_by_percentile(arr: Any, percentile: float = 0.99999) -> float:
    """Return the absolute value that a fraction of an array's values do not exceed."""
    import numpy

    magnitudes = numpy.abs(numpy.asarray(arr)).reshape(-1)
    place = min(int(magnitudes.size * percentile), magnitudes.size - 1)
    return float(numpy.partition(magnitudes, place)[place])


def CreateStatsCollector(function: Any) -> Any:  # noqa: N802  # TVM's name
    """Return a function whose result is a tuple of the values that are quantized in an annotated one."""
    seen: list[Expr] = []

    def identity(node: Expr, rebuilt: Expr) -> Expr | None:
        if getattr(getattr(rebuilt, "op", None), "name", "") != SIMULATE:
            return None
        assert isinstance(rebuilt, Call)
        assert rebuilt.attrs is not None
        passed = Call(rebuilt.op, rebuilt.args, rebuilt.attrs.replace(kind=0))
        if rebuilt.attrs["kind"] != Role.WEIGHT:
            seen.append(passed)
        return passed

    rewrite_nodes(function.body, identity)
    body = Tuple(seen)
    return Function(free_vars(body), body)


__all__ = [
    "CreateStatsCollector", "QAnnotateExpr", "QAnnotateKind",
    "attach_simulated_quantize", "calibrate", "collect_stats", "current_qconfig", "kind2str",
    "partition_conversions", "qconfig", "quantize", "quantize_context",
]  # fmt: skip
