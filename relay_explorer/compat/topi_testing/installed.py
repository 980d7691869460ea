"""`tvm.topi.testing`: the functions of the installed TVM that also work with NumPy 2."""

from __future__ import annotations

from typing import Any

from ..hook import real_tvm

_FORWARDED = (
    "affine_grid_python", "batch_matmul", "correlation_nchw_python", "crop_and_resize_python", "dense",
    "gather_python", "grid_sample_python", "l2_normalize_python", "log_softmax_python", "matrix_set_diag",
    "nll_loss", "one_hot", "reorg_python", "resize1d_python", "resize2d_python", "resize3d_python",
    "roi_align_nchw_python", "roi_align_nhwc_python", "searchsorted_ref", "sequence_mask", "softmax_python",
)  # fmt: skip
__all__ = [*_FORWARDED]


def __getattr__(name: str) -> Any:
    """Look the function up in the installed TVM, whose `topi.testing` imports SciPy."""
    if name not in _FORWARDED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(real_tvm("tvm.topi.testing"), name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "scipy":
            raise
        raise ImportError(f"tvm.topi.testing.{name} needs SciPy: pip install scipy", name="scipy") from None
