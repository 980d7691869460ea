"""The families of models: other depths, sizes, layouts and element types."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import pytest

from relay_explorer.ir import IRModule, TensorType
from relay_explorer.ir.narrow import as_tensor_type
from relay_explorer.models import dcgan, densenet, dqn, mlp, mobilenet, resnet, resnet3d, squeezenet, vgg
from relay_explorer.models.layers import Builder
from relay_explorer.typing import infer_types


def trained(module: IRModule) -> int:
    """Scalars of the weights; the input and batch norm's statistics are left out."""
    params = [p for p in module["main"].params if p.name_hint != "data"]
    shapes = [as_tensor_type(p).concrete_shape for p in params if not p.name_hint.endswith(("_mean", "_var"))]
    return sum(map(prod, shapes))


# As torchvision counts them.
@pytest.mark.parametrize(
    ("module", "count"),
    [
        (resnet.resnet(34), 21_797_672),
        (resnet.resnet(101), 44_549_160),
        (resnet.resnet(152), 60_192_808),
        (densenet.densenet(161), 28_681_000),
        (densenet.densenet(169), 14_149_480),
        (densenet.densenet(201), 20_013_928),
        (squeezenet.squeezenet("1.1"), 1_235_496),
        (vgg.vgg(11, batch_norm=True), 132_868_840),
        (vgg.vgg(13), 133_047_848),
        (vgg.vgg(19), 143_667_240),
    ],
    ids=lambda value: str(value) if isinstance(value, int) else "model",
)
def test_other_depths(module: IRModule, count: int) -> None:
    assert trained(module) == count
    assert str(infer_types(module)["main"].ret_type) == "Tensor[(1, 1000), float32]"


@pytest.mark.parametrize("make", [resnet.resnet, mobilenet.mobilenet, densenet.densenet])
def test_channels_may_come_last(make: Callable[..., IRModule]) -> None:
    first, last = make(batch=2, classes=7), make(batch=2, classes=7, layout="NHWC", dtype="float16")
    assert last["main"].params[0].type_annotation == TensorType((2, 224, 224, 3), "float16")
    assert infer_types(last)["main"].ret_type == TensorType((2, 7), "float16")
    assert trained(first) == trained(last)


def test_video() -> None:
    module = resnet3d.resnet3d()
    assert trained(module) == 33_371_472  # as torchvision counts its r3d_18
    small = resnet3d.resnet3d(34, 2, 5, (1, 4, 32, 48), "float16")
    assert infer_types(small)["main"].ret_type == TensorType((2, 5), "float16")
    with pytest.raises(ValueError, match="a ResNet for video has 18, 34 layers, not 50"):
        resnet3d.resnet3d(50)


def test_small_images() -> None:
    small = infer_types(resnet.resnet(18, batch=4, classes=10, image=(1, 32, 48)))
    assert small["main"].ret_type == TensorType((4, 10))
    assert infer_types(dqn.dqn(6, image=(2, 44, 52), layout="NHWC"))["main"].ret_type == TensorType((1, 6))
    assert infer_types(vgg.vgg(image=(3, 64, 96), classes=2))["main"].ret_type == TensorType((1, 2))
    assert infer_types(mlp.image_mlp(5, 3, (2, 6, 6)))["main"].ret_type == TensorType((5, 3))


@pytest.mark.parametrize(("side", "width"), [(8, 16), (32, 64), (128, 8)])
def test_images_of_a_generator(side: int, width: int) -> None:
    module = infer_types(dcgan.dcgan(3, 10, (1, side, side), width))
    assert module["main"].ret_type == TensorType((3, 1, side, side))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: resnet.resnet(20), "a ResNet has 18, 34, 50, 101, 152 layers, not 20"),
        (lambda: vgg.vgg(12), "a VGG has 11, 13, 16, 19 layers, not 12"),
        (lambda: densenet.densenet(100), "a DenseNet has 121, 161, 169, 201 layers, not 100"),
        (lambda: squeezenet.squeezenet("2"), "SqueezeNet has the versions 1.0, 1.1, not 2"),
        (lambda: dcgan.dcgan(image=(3, 48, 48)), "square, 8, 16, 32 … wide, not 48 × 48"),
        (lambda: Builder("CHWN"), "the layout of images must be NCHW or NHWC, not CHWN"),
    ],
)
def test_what_there_is_not(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
