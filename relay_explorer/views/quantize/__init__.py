"""Quantization: which values become integers, in which ranges, and what it costs in accuracy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..registry import Answering, declare
from ..source import Source
from .format import QuantizeView

if TYPE_CHECKING:
    from ...quantize import Scheme
    from ...quantize.observation import Dataset


@declare(
    "quantize",
    "how quantization rewrites a program, phase by phase, and the error of each line",
    accepts=("Inference", "Evaluation", "Quantization"),
    default_for=("Quantization",),
)
def build(
    source: Source, *, scheme: Scheme | str | None = None, dataset: Dataset | None = None
) -> QuantizeView | Answering:
    """Build the view of a quantization by `scheme`, calibrated with `dataset`, or of a recorded one."""
    from ...quantize import Quantization, trace
    from .inputs import data_of
    from .schemes import scheme_named
    from .view import LiveQuantization, quantize_view

    shown = LiveQuantization if source.live else quantize_view
    program = source.given
    if isinstance(program, Quantization):
        data = data_of(program.float_program, {}, dataset)
        data = data._replace(words=f"compared on {data.words}", seen=False)
        return shown(program, data, source.title)
    params: Mapping[str, object] = {}
    if isinstance(program, tuple) and len(program) == 2 and isinstance(program[1], Mapping):
        params = program[1]
    data = data_of(source.module, params, dataset)
    quantization = trace(source.module, scheme_named(scheme), data.params, data.dataset)
    return shown(quantization, data, source.title)
