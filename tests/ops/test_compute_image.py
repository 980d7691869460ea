"""What operators on images compute, against PyTorch."""

from __future__ import annotations

from typing import Any as Anything

import numpy as np
import pytest
import torch
from torch.nn import functional

from relay_explorer.execute import ExecutionError
from relay_explorer.relay import image, nn
from tests.ops.meanings import Array, close, evaluate, numbers, rng

SPACE = {1: (7,), 2: (5, 7), 3: (3, 5, 4)}
SIZES: dict[int, list[tuple[int, ...]]] = {1: [(3,), (11,)], 2: [(8, 4), (10, 14)], 3: [(6, 3, 7)]}
RESIZE = {1: image.resize1d, 2: image.resize2d, 3: image.resize3d}


def images(axes: int) -> Array:
    return numbers(rng(axes), (2, 3, *SPACE[axes]))


@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("axes", [1, 2, 3])
def test_linear_resizing(axes: int, align: bool) -> None:
    x, mode = images(axes), "align_corners" if align else "half_pixel"
    named = {1: "linear", 2: "bilinear", 3: "trilinear"}[axes]
    for size in SIZES[axes]:
        wanted = functional.interpolate(torch.tensor(x), size, mode=named, align_corners=align)
        found = evaluate(RESIZE[axes], x, size=size, coordinate_transformation_mode=mode)
        close(found, wanted)


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_nearest_resizing(axes: int) -> None:
    x = images(axes)
    named = {"method": "nearest_neighbor", "coordinate_transformation_mode": "asymmetric"}
    centred = {"method": "nearest_neighbor", "rounding_method": "round_prefer_ceil"}
    for size in SIZES[axes]:
        close(
            evaluate(RESIZE[axes], x, size=size, **named),
            functional.interpolate(torch.tensor(x), size, mode="nearest"),
        )
        wanted = functional.interpolate(torch.tensor(x), size, mode="nearest-exact")
        close(evaluate(RESIZE[axes], x, size=size, **centred), wanted)


@pytest.mark.parametrize("align", [False, True])
def test_cubic_resizing(align: bool) -> None:
    x, mode = images(2), "align_corners" if align else "half_pixel"
    for size in SIZES[2]:
        wanted = functional.interpolate(torch.tensor(x), size, mode="bicubic", align_corners=align)
        found = evaluate(
            image.resize2d,
            x,
            size=size,
            method="cubic",
            coordinate_transformation_mode=mode,
            cubic_alpha=-0.75,
        )
        close(found, wanted, 1e-4)


def test_cubic_resizing_without_what_lies_outside() -> None:
    """The weights of the elements that are there add up to 1 again, so a constant stays one."""
    x = np.full((1, 1, 4, 4), 3.0, "float32")
    close(
        evaluate(image.resize2d, x, size=(9, 9), method="cubic", cubic_exclude=1), np.full((1, 1, 9, 9), 3.0)
    )


@pytest.mark.parametrize(
    ("mode", "places"),
    [
        ("half_pixel", [0.25, 1.75]), ("align_corners", [0, 2]), ("asymmetric", [0, 1.5]),
        ("tf_half_pixel_for_nn", [0.75, 2.0]), ("pytorch_half_pixel", [0.25, 1.75]),
        ("tf_crop_and_resize", [0.5, 1.5]),
    ],
)  # fmt: skip
def test_where_the_places_of_two_elements_lie_among_three(mode: str, places: list[float]) -> None:
    x = np.array([[[0.0, 1.0, 2.0]]], "float32")  # its values are its places
    named: dict[str, Anything] = {"size": (2,), "coordinate_transformation_mode": mode, "roi": [0.25, 0.75]}
    close(evaluate(image.resize1d, x, **named), [[places]])


@pytest.mark.parametrize(
    ("rounding", "wanted"),
    [
        ("round", [0, 2, 2]), ("round_prefer_floor", [0, 1, 2]), ("round_prefer_ceil", [1, 2, 3]),
        ("floor", [0, 1, 2]), ("ceil", [1, 2, 3]), ("", [0, 1, 2]),
    ],
)  # fmt: skip
def test_which_neighbour_is_nearest(rounding: str, wanted: list[int]) -> None:
    """The places are 0.5, 1.5 and 2.5."""
    x = np.arange(5, dtype="float32").reshape(1, 1, 5)
    named: dict[str, Anything] = {
        "size": (3,), "method": "nearest_neighbor", "rounding_method": rounding,
        "coordinate_transformation_mode": "tf_crop_and_resize", "roi": [0.125, 0.625],
    }  # fmt: skip
    close(evaluate(image.resize1d, x, **named), [[wanted]])


def test_resizing_beyond_the_image() -> None:
    x = np.array([[[1.0, 2.0]]], "float32")
    mode = "tf_crop_and_resize"
    found = evaluate(
        image.resize1d,
        x,
        size=(4,),
        roi=[-1.0, 2.0],
        coordinate_transformation_mode=mode,
        extrapolation_value=9.0,
    )
    close(found, [[[9, 1, 2, 9]]])


def test_resizing_in_other_layouts_and_element_types() -> None:
    x = images(2)
    wanted = functional.interpolate(torch.tensor(x), (8, 4), mode="bilinear")
    found = evaluate(image.resize2d, x.transpose(0, 2, 3, 1), size=(8, 4), layout="NHWC", out_dtype="float64")
    close(found.astype("float32"), wanted.permute(0, 2, 3, 1))
    close(evaluate(image.resize2d, x, np.array([8, 4])), wanted)
    whole = np.array([[[0, 5]]], "uint8")
    close(evaluate(image.resize1d, whole, size=(4,)), [[[0, 1, 3, 5]]])


def test_crop_and_resize() -> None:
    x = images(2)
    boxes = np.array([[0.1, 0.2, 0.7, 0.9], [0.5, 0.0, 0.25, 1.0], [0, 0, 1, 1]], "float32")
    indices = np.array([1, 0, 1])
    rows = boxes[:, 0, None] + np.linspace(0, 1, 4) * (boxes[:, 2] - boxes[:, 0])[:, None]
    columns = boxes[:, 1, None] + np.linspace(0, 1, 3) * (boxes[:, 3] - boxes[:, 1])[:, None]
    grid = np.stack(np.broadcast_arrays(columns[:, None], rows[:, :, None]), -1) * 2 - 1
    wanted = functional.grid_sample(
        torch.tensor(x)[torch.tensor(indices)], torch.tensor(grid).float(), align_corners=True
    )
    named: dict[str, Anything] = {"crop_size": (4, 3), "layout": "NCHW"}
    close(evaluate(image.crop_and_resize, x, boxes, indices, **named), wanted, 1e-4)
    outside = np.array([[-1.0, 0.0, 2.0, 1.0]], "float32")
    named = {"crop_size": (4, 2), "layout": "NCHW", "extrapolation_value": -7.0}
    found = evaluate(image.crop_and_resize, x, outside, indices[:1], **named)
    close(found[0, :, [0, 3]], np.full((2, 3, 2), -7.0))
    close(found[0, :, 1], x[1, :, 0, [0, -1]].T)


def test_crop_and_resize_computes_positions_in_float32_as_tensorflow() -> None:
    x, box = np.ones((1, 1, 224, 224), "float32"), np.array([[0.1, 0.2, 1, 1]], "float32")
    found = evaluate(image.crop_and_resize, x, box, np.array([0]), crop_size=(9, 9), layout="NCHW")
    # By float32's rounding, the last of the nine columns is beyond the image, and the last row is not.
    close(found[0, 0], [[1] * 8 + [0]] * 9)
    found = evaluate(image.crop_and_resize, x, box, np.array([0]), crop_size=(1, 1), layout="NCHW")
    close(found, [[[[1]]]])


def test_affine_grid() -> None:
    matrices = numbers(rng("affine"), (2, 2, 3))
    wanted = functional.affine_grid(torch.tensor(matrices), [2, 1, 4, 5], align_corners=True)
    close(evaluate(image.affine_grid, matrices, target_shape=(4, 5)), wanted.permute(0, 3, 1, 2))


@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize(
    ("method", "axes"), [("nearest", 2), ("bilinear", 2), ("bicubic", 2), ("nearest", 3), ("bilinear", 3)]
)
def test_grid_sample(method: str, axes: int, padding: str, align: bool) -> None:
    x, random = images(axes), rng(method, axes, padding, align)
    grid = random.uniform(-1.7, 1.7, (2, axes, *(4, 3, 5)[:axes])).astype("float32")
    wanted = functional.grid_sample(
        torch.tensor(x), torch.tensor(np.moveaxis(grid, 1, -1).copy()), method, padding, align
    )
    layout = {2: "NCHW", 3: "NCDHW"}[axes]
    named = {"method": method, "layout": layout, "padding_mode": padding, "align_corners": align}
    close(evaluate(image.grid_sample, x, grid, **named), wanted, 1e-4)


def test_upsampling() -> None:
    x = images(2)
    close(
        evaluate(nn.upsampling, x, scale_h=2, scale_w=3),
        torch.tensor(x).repeat_interleave(2, 2).repeat_interleave(3, 3),
    )
    wanted = functional.interpolate(torch.tensor(x), (10, 14), mode="bilinear", align_corners=True)
    found = evaluate(nn.upsampling, x, scale_h=2, scale_w=2, method="bilinear", align_corners=True)
    close(found, wanted)
    row = np.array([[[[0.0, 2.0, 4.0]]]], "float32")
    found = evaluate(nn.upsampling, row, scale_h=1, scale_w=2, method="bilinear")
    close(found, [[[[0, 1, 2, 3, 4, 4]]]])
    volume = images(3)
    found = evaluate(nn.upsampling3d, volume, scale_d=2, scale_h=2, scale_w=2, method="trilinear")
    close(found, functional.interpolate(torch.tensor(volume), scale_factor=2, mode="trilinear"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"coordinate_transformation_mode": "tf_crop_and_resize", "roi": [0.5]},
            "roi has 1 number, but two corners have 2",
        ),
        (
            {"coordinate_transformation_mode": "<b>"},
            'coordinate_transformation_mode is "<b>", which is not known',
        ),
        (
            {"method": "nearest_neighbor", "rounding_method": "up"},
            'rounding_method is "up", which is not known',
        ),
    ],
)
def test_words_that_resizing_does_not_know(options: dict[str, Anything], message: str) -> None:
    with pytest.raises(ExecutionError, match=f"`image.resize1d` failed: {message}"):
        evaluate(image.resize1d, np.ones((1, 1, 4), "float32"), size=(2,), **options)


def test_resizing_nothing_or_to_nothing() -> None:
    with pytest.raises(ExecutionError, match="there is nothing to resize: the data has no elements"):
        evaluate(image.resize1d, np.ones((1, 1, 0), "float32"), size=(2,))
    with pytest.raises(ExecutionError, match=r"size is \[0, 2\], but every extent must be at least 1"):
        evaluate(image.resize2d, np.ones((1, 1, 4, 4), "float32"), np.array([0, 2]))
    assert evaluate(nn.upsampling, np.ones((1, 1, 0, 3), "float32"), scale_h=2, scale_w=2).shape == (
        1,
        1,
        0,
        6,
    )
