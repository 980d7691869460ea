"""`tvm.topi.testing`: operators on images.

These are long to define, so they are this package's own operators, called on arrays: a test that compares an
operator with them sees that the call was right, not that its meaning is. For that there are comparisons with
PyTorch in this project's tests.
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


def _resized(
    build: Callable[..., Any],
    axes: str,
    data: Any,
    scale: Sequence[float],
    layout: str,
    method: str,
    mode: str,
) -> Any:
    sizes = [round(data.shape[layout.index(axis)] * by) for axis, by in zip(axes, scale)]
    rounding = "round" if mode == "align_corners" else "floor"
    return _of_arrays(
        lambda x: build(
            x, sizes, layout=layout, method=method, coordinate_transformation_mode=mode,
            rounding_method=rounding if method == "nearest_neighbor" else "",
        ),
        data,
    )  # fmt: skip


def resize1d_python(
    data: Any, scale: Sequence[float], layout: str, method: str = "nearest_neighbor",
    coordinate_transformation_mode: str = "align_corners",
) -> Any:  # fmt: skip
    """Rows `scale` times as long, interpolated."""
    how = coordinate_transformation_mode
    return _resized(relay.image.resize1d, "W", data, scale, layout, method, how)


def resize2d_python(
    data: Any, scale: Sequence[float], layout: str, method: str = "nearest_neighbor",
    coordinate_transformation_mode: str = "align_corners",
) -> Any:  # fmt: skip
    """Images `scale` (height, width) times as large, interpolated."""
    how = coordinate_transformation_mode
    return _resized(relay.image.resize2d, "HW", data, scale, layout, method, how)


def resize3d_python(
    data: Any, scale: Sequence[float], layout: str, method: str = "nearest_neighbor",
    coordinate_transformation_mode: str = "align_corners",
) -> Any:  # fmt: skip
    """Volumes `scale` (depth, height, width) times as large, interpolated."""
    how = coordinate_transformation_mode
    return _resized(relay.image.resize3d, "DHW", data, scale, layout, method, how)


def crop_and_resize_python(
    image: Any, boxes: Any, box_indices: Any, crop_size: Sequence[int], layout: str, method: str = "bilinear",
    extrapolation_value: float = 0,
) -> Any:  # fmt: skip
    """Parts of images, brought to one size."""
    return _of_arrays(
        lambda x, b, i: relay.image.crop_and_resize(x, b, i, crop_size, layout, method, extrapolation_value),
        image, boxes, box_indices,
    )  # fmt: skip


def affine_grid_python(data: Any, target_shape: Sequence[int]) -> Any:
    """Where an affine map (N, 2, 3) puts each place of an image of `target_shape`."""
    return _of_arrays(lambda x: relay.image.affine_grid(x, target_shape), data)


def grid_sample_python(
    data: Any, grid: Any, method: str = "bilinear", layout: str = "NCHW", padding_mode: str = "zeros",
    align_corners: bool = True,
) -> Any:  # fmt: skip
    """Sample the image at the positions that a grid names, between -1 and 1."""
    return _of_arrays(
        lambda x, g: relay.image.grid_sample(x, g, method, layout, padding_mode, align_corners), data, grid
    )


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


def roi_align_nchw_python(
    a_np: Any, rois_np: Any, pooled_size: Sizes, spatial_scale: float, sample_ratio: int,
    mode: str | bytes = "avg",
) -> Any:  # fmt: skip
    """Parts of images (N, C, H, W), each brought to one size by means or maxima of samples."""
    return _aligned(a_np, rois_np, pooled_size, spatial_scale, sample_ratio, mode, "NCHW")


def roi_align_nhwc_python(
    a_np: Any, rois_np: Any, pooled_size: Sizes, spatial_scale: float, sample_ratio: int,
    mode: str | bytes = "avg",
) -> Any:  # fmt: skip
    """Parts of images (N, H, W, C), each brought to one size by means or maxima of samples."""
    return _aligned(a_np, rois_np, pooled_size, spatial_scale, sample_ratio, mode, "NHWC")


def _aligned(
    a_np: Any, rois_np: Any, pooled_size: Sizes, spatial_scale: float, sample_ratio: int, mode: str | bytes,
    layout: str,
) -> Any:  # fmt: skip
    size = pooled_size if isinstance(pooled_size, Sequence) else (pooled_size, pooled_size)
    how = mode.decode() if isinstance(mode, bytes) else mode
    return _of_arrays(
        lambda x, rois: relay.vision.roi_align(x, rois, size, spatial_scale, sample_ratio, layout, how),
        a_np, rois_np,
    )  # fmt: skip


def roi_pool_nchw_python(a_np: Any, rois_np: Any, pooled_size: Sizes, spatial_scale: float) -> Any:
    """Parts of images (N, C, H, W), each brought to one size by maxima."""
    size = pooled_size if isinstance(pooled_size, Sequence) else (pooled_size, pooled_size)
    return _of_arrays(lambda x, rois: relay.vision.roi_pool(x, rois, size, spatial_scale), a_np, rois_np)
