"""`tvm.topi.testing`: operators on images.

Their definitions are long, so these functions call this package's own operators on arrays. A test that
compares an operator with them therefore checks that it is called correctly, not that it computes the right
result; this project's tests compare these operators with PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ... import relay
from ...ir.expr import Call, Var
from ...ir.types import TensorType
from .conv import Sizes


def _of_arrays(build: Callable[..., Any], *arrays: Any) -> Any:
    """Apply the operator that `build` calls to arrays."""
    call = build(*[Var(f"x{k}", TensorType(a.shape, str(a.dtype))) for k, a in enumerate(arrays)])
    assert isinstance(call, Call)
    return call.op.reference(call.attrs, *arrays)  # type: ignore[attr-defined]  # it is an operator


def deformable_conv2d_nchw_python(
    a_np: Any, offset_np: Any, w_np: Any, stride: Sizes, padding: Sizes, dilation: Sizes,
    deformable_groups: int, groups: int,
) -> Any:  # fmt: skip
    """Compute a convolution of data (N, C, H, W) whose positions in the kernel are shifted by offsets."""
    return _deformed(
        a_np, offset_np, w_np, stride, padding, dilation, deformable_groups, groups, ("NCHW", "OIHW")
    )


def deformable_conv2d_nhwc_python(
    a_np: Any, offset_np: Any, w_np: Any, stride: Sizes, padding: Sizes, dilation: Sizes,
    deformable_groups: int, groups: int,
) -> Any:  # fmt: skip
    """Compute a convolution of data (N, H, W, C) whose positions in the kernel are shifted by offsets."""
    return _deformed(
        a_np, offset_np, w_np, stride, padding, dilation, deformable_groups, groups, ("NHWC", "HWIO")
    )


def _deformed(
    a_np: Any, offset_np: Any, w_np: Any, stride: Sizes, padding: Sizes, dilation: Sizes,
    deformable_groups: int, groups: int, layouts: tuple[str, str],
) -> Any:  # fmt: skip
    return _of_arrays(
        lambda x, o, w: relay.nn.deformable_conv2d(
            x, o, w, stride, padding, dilation, deformable_groups, groups,
            data_layout=layouts[0], kernel_layout=layouts[1],
        ),
        a_np, offset_np, w_np,
    )  # fmt: skip


def roi_pool_nchw_python(a_np: Any, rois_np: Any, pooled_size: Sizes, spatial_scale: float) -> Any:
    """Pool regions of images (N, C, H, W) to one size, by their maxima."""
    size = pooled_size if isinstance(pooled_size, Sequence) else (pooled_size, pooled_size)
    return _of_arrays(lambda x, rois: relay.vision.roi_pool(x, rois, size, spatial_scale), a_np, rois_np)
