"""A measured run whose numbers are made up, for the tests on both sides of the view.

`python -m tests.views.measurements` writes it as a view into `frontend/test/data`.
"""

from __future__ import annotations

import json

from relay_explorer.lower.profiling.measurement import MeasuredKernel, MeasuredLaunch, Measurement
from relay_explorer.lower.profiling.peak import Limits
from relay_explorer.views.run.view import run_view
from tests.views.lowerings import CONVOLUTION, DATA, HASWELL, LAYER, SOFTMAX

FLATTEN = "fn (%x: Tensor[(1, 4, 2, 4), float32], Primitive=1) { nn.batch_flatten(%x) }"


def measurement() -> Measurement:
    """Four kernels in seven launches: bound by arithmetic, above the slope, without arithmetic."""
    kernels = [
        MeasuredKernel(
            "fused_conv", CONVOLUTION, "blocked", {}, "Tensor[(1, 4, 14, 14, 8), float32]", 1_825_152, 56_320
        ),
        MeasuredKernel("fused_layer", LAYER, "dense", {}, "Tensor[(32, 64), float32]", 528_384, 57_600),
        MeasuredKernel(
            "fused_softmax", SOFTMAX, "reduction", {}, "Tensor[(16, 100), float32]", 8_000, 12_800
        ),
        MeasuredKernel("fused_flatten", FLATTEN, "fallback", {}, "Tensor[(1, 32), float32]", 0, 256),
    ]
    times = [(0, 30_000), (2, 500), (0, 32_000), (1, 9_000), (1, 8_000), (3, 400), (2, 700)]
    launches, start = [], 0
    for kernel, ns in times:
        launches.append(MeasuredLaunch(kernel, start, ns))
        start += ns + 100
    return Measurement(
        "small", "A made-up processor, 4 cores", json.dumps(HASWELL, sort_keys=True), (32 << 10, 512 << 10),
        Limits(100e9, 20e9, 4), 50, 80_500, tuple(kernels), tuple(launches),
    )  # fmt: skip


def sample() -> str:
    """Return the view as the stored JSON; it has the dense layer at every level."""
    return run_view(measurement(), kernel=["fused_layer"], title="small").to_json() + "\n"


if __name__ == "__main__":
    DATA.mkdir(exist_ok=True)
    (DATA / "run_small.json").write_text(sample(), "utf-8")
