"""Resizing, sampling and pooling of regions give ONNX Runtime's results, also where extents are dynamic."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx.parser
import pytest

from relay_explorer import relay
from relay_explorer.frontends import from_onnx
from relay_explorer.ir.errors import RelayError
from tests.frontends.onnx.against_runtime import check, parsed

RNG = np.random.default_rng(0)
IMAGE = RNG.standard_normal((1, 2, 5, 6)).astype("float32")


def resize(attrs: str, dims: str = "1,2,5,6", scales: str = "1.0, 1.0, 2.0, 1.5") -> Any:
    """Read a model that resizes an image."""
    return parsed(
        f"g (float[{dims}] x) => (float[a,b,c,d] y) {{ s = Constant<value_floats=[{scales}]>() "
        f"y = Resize<{attrs}>(x, , s) }}"
    )


MODES = [
    'mode="nearest"',
    'mode="nearest", nearest_mode="floor", coordinate_transformation_mode="asymmetric"',
    'mode="nearest", nearest_mode="ceil"',
    'mode="linear"',
    'mode="linear", coordinate_transformation_mode="align_corners"',
    'mode="linear", coordinate_transformation_mode="asymmetric"',
    'mode="linear", coordinate_transformation_mode="pytorch_half_pixel"',
    'mode="cubic"',
    'mode="cubic", cubic_coeff_a=-0.5, exclude_outside=1',
]


@pytest.mark.parametrize("attrs", MODES)
@pytest.mark.parametrize("dims", ["1,2,5,6", "1,2,h,w"])
def test_resize_by_scales(attrs: str, dims: str) -> None:
    check(resize(attrs, dims, "1.0, 1.0, 2.0, 1.5"), {"x": IMAGE}, rtol=1e-4)


@pytest.mark.parametrize("dims", ["1,2,5,6", "1,2,h,w"])
def test_resize_to_smaller_images_with_antialias(dims: str) -> None:
    for mode in ("linear", "cubic"):
        size = "i = Constant<value_ints=[1, 2, 3, 4]>()"
        text = f'{size} y = Resize<mode="{mode}", antialias=1>(x, , , i)'
        check(
            parsed(f"g (float[{dims}] x) => (float[1,2,3,4] y) {{ {text} }}"),
            {"x": IMAGE},
            rtol=1e-3,
            atol=1e-4,
        )


def test_images_become_one_operator() -> None:
    mod, _ = from_onnx(resize('mode="linear"', scales="1.0, 1.0, 2.0, 2.0"))
    assert str(mod).count("image.resize2d") == 1


def test_whole_factors_keep_the_names_of_dynamic_axes() -> None:
    attrs = 'mode="nearest", nearest_mode="floor", coordinate_transformation_mode="asymmetric"'
    model = resize(attrs, "1,2,h,w", "1.0, 1.0, 2.0, 2.0")
    mod, _ = from_onnx(model)
    type_ = relay.transform.InferType()(mod)["main"].body.checked_type
    assert str(type_) == "Tensor[(1, 2, 2 * h, 2 * w), float32]"
    check(model, {"x": IMAGE}, ("debug", "compiled"))


def test_resize_to_the_size_of_another_tensor() -> None:
    text = """g (float[1,2,h,w] x, float[1,2,m,n] like) => (float[1,2,m,n] y) {
      i = Shape(like) y = Resize<mode="linear">(x, , , i) }"""
    like = np.zeros((1, 2, 7, 4), "float32")
    check(parsed(text), {"x": IMAGE, "like": like}, ("debug", "compiled"), rtol=1e-4)


def test_old_upsample() -> None:
    attrs = 'mode="nearest", scales=[1.0, 1.0, 2.0, 2.0]'
    text = f"g (float[1,2,5,6] x) => (float[1,2,10,12] y) {{ y = Upsample<{attrs}>(x) }}"
    model = onnx.parser.parse_model(f'<ir_version: 4, opset_import: ["" : 7]> {text}')
    check(model, {"x": IMAGE})


@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
def test_grid_sample(mode: str, padding: str) -> None:
    for corners in (0, 1):
        model = parsed(
            "g (float[1,2,5,6] x, float[1,3,4,2] p) => (float[1,2,3,4] y) { "
            f'y = GridSample<mode="{mode}", padding_mode="{padding}", align_corners={corners}>(x, p) }}'
        )
        check(model, {"x": IMAGE, "p": RNG.uniform(-1.3, 1.3, (1, 3, 4, 2)).astype("float32")}, rtol=1e-4)


REGIONS = np.array([[0.2, 0.4, 5.1, 3.9], [1.5, 1.1, 1.7, 1.2], [-1.0, -2.0, 7.0, 6.0]], "float32")


@pytest.mark.parametrize("coordinates", ["half_pixel", "output_half_pixel"])
@pytest.mark.parametrize("mode", ["avg", "max"])
def test_roi_align(mode: str, coordinates: str) -> None:
    attrs = f'mode="{mode}", coordinate_transformation_mode="{coordinates}", output_height=2, output_width=3'
    model = parsed(
        "g (float[1,2,5,6] x, float[3,4] r, int64[3] n) => (float[3,2,2,3] y) { "
        f"y = RoiAlign<{attrs}, sampling_ratio=2, spatial_scale=0.9>(x, r, n) }}"
    )
    check(model, {"x": IMAGE, "r": REGIONS, "n": np.zeros(3, "int64")}, rtol=1e-4)


def test_roi_align_that_relay_would_compute_otherwise_is_refused() -> None:
    text = "g (float[1,2,5,6] x, float[3,4] r, int64[3] n) => (float[3,2,1,1] y) { y = RoiAlign(x, r, n) }"
    with pytest.raises(RelayError, match="sampling_ratio=0"):
        from_onnx(parsed(text))


NMS = """g (float[1,6,4] b, float[1,2,6] s) => (int64[n,3] y) {
  CONSTANTS y = NonMaxSuppression<ATTRS>(b, s, m, i, t) }"""
CONSTANTS = (
    """m = Constant<value_int=MOST>() i = Constant<value_float=LIMIT>() t = Constant<value_float=LEAST>()"""
)


@pytest.mark.parametrize("center", [0, 1])
@pytest.mark.parametrize(
    ("most", "limit", "least"), [(3, 0.5, 0.0), (1, 0.5, 0.4), (6, 0.0, 0.0), (0, 0.5, 0.0)]
)
def test_non_max_suppression(center: int, most: int, limit: float, least: float) -> None:
    constants = CONSTANTS.replace("MOST", str(most)).replace("LIMIT", str(limit)).replace("LEAST", str(least))
    text = NMS.replace("CONSTANTS", constants).replace("ATTRS", f"center_point_box={center}")
    boxes = RNG.uniform(0, 1, (1, 6, 4)).astype("float32")
    boxes[0, 3] = boxes[0, 2]
    scores = RNG.uniform(0, 1, (1, 2, 6)).astype("float32")
    check(parsed(text), {"b": boxes, "s": scores}, rtol=0, atol=0)
