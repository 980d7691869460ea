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
    """Return a function that calls the installed TVM's, whose `topi.testing` imports SciPy."""
    if name not in _FORWARDED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def forward(*args: Any, **options: Any) -> Any:
        """Call the function of this name in the installed TVM."""
        try:
            testing = real_tvm("tvm.topi.testing")
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] != "scipy":
                raise
            text = f"tvm.topi.testing.{name} needs SciPy: pip install scipy"
            raise ImportError(text, name="scipy") from None
        return getattr(testing, name)(*args, **options)

    forward.__name__ = forward.__qualname__ = name
    return forward
