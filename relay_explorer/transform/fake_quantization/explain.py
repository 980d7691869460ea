"""Which regions of a program compute with integers after FakeQuantizationToInteger, and why others do not."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.module import IRModule
from ...ir.recorder import Recorder
from .events import Region
from .to_integer import FakeQuantizationToInteger


def fake_quantized_regions(mod: IRModule, optional_qnn_ops: Sequence[str] = ()) -> list[Region]:
    """Return the fake-quantized regions of a program, in the order of evaluation.

    Each says whether FakeQuantizationToInteger converts it, and if not, why:

        for region in fake_quantized_regions(mod):
            if region.converted is None:
                print(region.reason, region.culprit.span)
    """
    with Recorder(Region) as recorder:
        FakeQuantizationToInteger(optional_qnn_ops=optional_qnn_ops)(mod)
    return recorder.events
