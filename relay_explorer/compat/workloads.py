"""The models of `tvm.relay.testing`, built from this package's: `get_workload` returns a module and
parameters.

They differ from TVM's. Their architectures are those of the papers, as in `relay_explorer.models`, so the
names of weights and some operators are different. Parameters are drawn from NumPy's global generator after
seeding it, as TVM did: they are the same every time, and those of a network that TVM's tests build are TVM's.
`NETS` has the function that builds each network, which old code calls `get_net`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

from .. import relay
from ..ir.bind import bind
from ..ir.expr import Expr, Function, Var
from ..ir.module import IRModule
from ..ir.types import TensorType
from ..ir.walk import free_vars
from ..models import dcgan as _dcgan
from ..models import densenet as _densenet
from ..models import dqn as _dqn
from ..models import inception_v3 as _inception_v3
from ..models import lstm as _lstm
from ..models import mlp as _mlp
from ..models import mobilenet as _mobilenet
from ..models import resnet as _resnet
from ..models import resnet3d as _resnet3d
from ..models import squeezenet as _squeezenet
from ..models import vgg as _vgg
from ..ops.create import zeros
from ..transform import InferType
from . import relay_layers as _layers
from .arrays import DeviceArray, array

Workload = tuple[IRModule, dict[str, DeviceArray]]
Shape = Sequence[int]
_INPUTS = ("data", "x", "h", "c")


class Initializer:
    """The base of initializers: they are called with a parameter's name and a NumPy array of zeros, which
    they fill.
    """

    def __call__(self, name: str, values: Any) -> None:
        raise TypeError(f"{type(self).__name__} has no __call__(name, values)")


class Constant(Initializer):
    """Fills every parameter with the same value."""

    def __init__(self, value: float) -> None:
        self.value = value

    def __call__(self, name: str, values: Any) -> None:
        values[...] = self.value


class Xavier(Initializer):
    """Initializes after Glorot and Bengio (2010): weights uniform, or normal, within the scale √(magnitude /
    fan); gamma and variance one, other vectors zero. Like TVM's, it draws from NumPy's global generator.
    """

    def __init__(self, rnd_type: str = "uniform", factor_type: str = "avg", magnitude: float = 3.0) -> None:
        if rnd_type not in ("uniform", "gaussian") or factor_type not in ("avg", "in", "out"):
            raise ValueError(
                f"Xavier draws uniform or gaussian, by avg, in or out, not {rnd_type}, {factor_type}"
            )
        self.rnd_type = rnd_type
        self.factor_type = factor_type
        self.magnitude = float(magnitude)

    def __call__(self, name: str, values: Any) -> None:
        import numpy

        shape = values.shape
        if len(shape) < 2:
            values[...] = 1 if name.endswith(("gamma", "var")) else 0
            return
        receptive = math.prod(shape[2:])
        inputs, outputs = shape[1] * receptive, shape[0] * receptive
        fan = {"avg": (inputs + outputs) / 2, "in": inputs, "out": outputs}[self.factor_type]
        scale = math.sqrt(self.magnitude / fan)
        uniform = self.rnd_type == "uniform"
        values[...] = (
            numpy.random.uniform(-scale, scale, shape) if uniform else numpy.random.normal(0, scale, shape)
        )


def create_workload(
    net: Function | IRModule, initializer: Callable[[str, Any], object] | None = None, seed: int = 0
) -> Workload:
    """Return the typed module of a network, and values for all parameters of `main` except its inputs
    (`data`, `x`, `h`, `c`, and `x0`, `x1` …). Like TVM's function, it seeds NumPy's global generator.
    """
    import numpy

    module = InferType()(net if isinstance(net, IRModule) else IRModule.from_expr(net))
    numpy.random.seed(seed)
    make = initializer or Xavier()
    params = {}
    for var in module["main"].params:
        if var.name_hint in _INPUTS or (var.name_hint[:1] == "x" and var.name_hint[1:].isdigit()):
            continue
        tensor = var.checked_type
        if not isinstance(tensor, TensorType):
            raise TypeError(f"the parameter {var.name_hint} is not a tensor but {tensor}")
        values = numpy.zeros(tensor.concrete_shape, tensor.dtype)
        make(var.name_hint, values)
        params[var.name_hint] = array(values)
    return module, params


def _image(shape: Shape, layout: str) -> tuple[int, int, int]:
    """Return (channels, height, width) of an image whose shape is in the order of `layout`."""
    sizes = dict(zip(layout.removeprefix("N"), shape))
    return sizes["C"], sizes["H"], sizes["W"]


def mlp_net(
    batch_size: int = 1, num_classes: int = 10, image_shape: Shape = (1, 28, 28), dtype: str = "float32"
) -> Function:
    """Build three dense layers, of 128, 64 and `num_classes`, on flattened images."""
    return _mlp.image_mlp(batch_size, num_classes, tuple(image_shape), dtype=dtype)["main"]


def resnet_net(
    batch_size: int = 1,
    num_classes: int = 1000,
    num_layers: int = 18,
    image_shape: Shape = (3, 224, 224),
    layout: str = "NCHW",
    dtype: str = "float32",
) -> Function:
    """Build a ResNet of 18, 34, 50, 101 or 152 layers. TVM's was the second version, which normalizes before
    the convolutions.
    """
    image = _image(image_shape, layout)
    return _resnet.resnet(num_layers, batch_size, num_classes, image, layout, dtype)["main"]


def resnet_3d_net(
    batch_size: int = 1,
    num_classes: int = 1000,
    num_layers: int = 18,
    image_shape: Shape = (3, 16, 112, 112),
    layout: str = "NCDHW",
    dtype: str = "float32",
) -> Function:
    """Build a ResNet of 18 or 34 layers for video."""
    if layout != "NCDHW":
        raise ValueError(f"resnet_3d supports only the layout NCDHW here, not {layout}")
    channels, frames, height, width = image_shape
    video = (channels, frames, height, width)
    return _resnet3d.resnet3d(num_layers, batch_size, num_classes, video, dtype)["main"]


def mobilenet_net(
    batch_size: int = 1,
    num_classes: int = 1000,
    image_shape: Shape = (3, 224, 224),
    dtype: str = "float32",
    layout: str = "NCHW",
) -> Function:
    """Build MobileNet, version 1."""
    image = _image(image_shape, layout)
    return _mobilenet.mobilenet(batch_size, num_classes, image, layout, dtype)["main"]


def vgg_net(
    batch_size: int = 1,
    num_classes: int = 1000,
    image_shape: Shape = (3, 224, 224),
    dtype: str = "float32",
    num_layers: int = 11,
    batch_norm: bool = False,
) -> Function:
    """Build a VGG of 11, 13, 16 or 19 layers."""
    image = _image(image_shape, "NCHW")
    return _vgg.vgg(num_layers, batch_size, num_classes, image, batch_norm, dtype)["main"]


def dqn_net(
    batch_size: int = 1,
    num_actions: int = 18,
    image_shape: Shape = (4, 84, 84),
    dtype: str = "float32",
    layout: str = "NCHW",
) -> Function:
    """Build the deep Q-network: four frames to the value of each action."""
    return _dqn.dqn(num_actions, batch_size, _image(image_shape, layout), layout, dtype)["main"]


def dcgan_net(
    batch_size: int = 1,
    oshape: Shape = (3, 64, 64),
    ngf: int = 128,
    random_len: int = 100,
    layout: str = "NCHW",
    dtype: str = "float32",
) -> Function:
    """Build DCGAN's generator: noise (batch, random_len) to images."""
    if layout != "NCHW":
        raise ValueError(f"dcgan supports only the layout NCHW here, not {layout}")
    return _dcgan.dcgan(batch_size, random_len, _image(oshape, layout), ngf, dtype)["main"]


def squeezenet_net(
    batch_size: int = 1,
    num_classes: int = 1000,
    version: str = "1.0",
    image_shape: Shape = (3, 224, 224),
    dtype: str = "float32",
) -> Function:
    """Build SqueezeNet 1.0 or 1.1."""
    image = _image(image_shape, "NCHW")
    return _squeezenet.squeezenet(version, batch_size, num_classes, image, dtype)["main"]


def densenet_net(
    densenet_size: int = 121,
    classes: int = 1000,
    batch_size: int = 4,
    image_shape: Shape = (3, 224, 224),
    dtype: str = "float32",
) -> Function:
    """Build a DenseNet of 121, 161, 169 or 201 layers; class scores, without a softmax."""
    image = _image(image_shape, "NCHW")
    return _densenet.densenet(densenet_size, batch_size, classes, image, dtype=dtype)["main"]


def inception_v3_net(
    batch_size: int = 1,
    num_classes: int = 1000,
    image_shape: Shape = (3, 299, 299),
    dtype: str = "float32",
) -> Function:
    """Build Inception v3."""
    image = _image(image_shape, "NCHW")
    return _inception_v3.inception_v3(batch_size, num_classes, image, dtype)["main"]


def lstm_net(iterations: int, num_hidden: int, batch_size: int = 1, dtype: str = "float32") -> Function:
    """Build an LSTM over `iterations` steps, unrolled: `data`, `data1`, … The initial state is zero. TVM's
    had separate weights for each step.
    """
    net = _lstm.lstm(iterations, num_hidden, num_hidden, batch_size, dtype)["main"]
    steps, rest = net.params[:iterations], net.params[iterations + 2 :]
    names = ["data", *(f"data{step}" for step in range(1, iterations))]
    inputs = [Var(name, step.type_annotation) for name, step in zip(names, steps, strict=True)]
    values: dict[Var | str, Expr] = dict(zip(steps, inputs, strict=True))
    state = zeros((batch_size, num_hidden), dtype)
    values.update(dict.fromkeys(net.params[iterations : iterations + 2], state))
    bound = bind(net, values)
    assert isinstance(bound, Function)
    return Function([*inputs, *rest], bound.body, net.ret_type, net.type_params, net.attrs)


def synthetic_net(
    input_shape: Shape = (1, 3, 24, 12), dtype: str = "float32", wtype: str | None = None
) -> Function:
    """Build a small network of the operators that quantization and layouts treat differently.

    Two blocks add a dense layer along the image's rows to a convolution of the image, and a bias and batch
    normalization are between them. `wtype` is the element type of the weights, `dtype` unless it is given.
    """
    wtype, (_, channels, _, width) = wtype or dtype, input_shape

    def block(image: Expr, dense: str, conv: str) -> Expr:
        rows = relay.reshape(image, (-1, width))
        by_rows = relay.nn.relu(relay.nn.dense(rows, relay.var(dense, shape=(width, width), dtype=wtype)))
        kernel = relay.var(conv, shape=(channels, channels, 3, 3), dtype=wtype)
        by_windows = relay.nn.conv2d(image, kernel, padding=(1, 1), kernel_size=(3, 3))
        return relay.reshape_like(by_rows, image) + relay.nn.softmax(by_windows)

    data = relay.var("data", shape=input_shape, dtype=dtype)
    first = block(data, "dense_weight", "conv_weight")
    biased = relay.nn.bias_add(first, relay.var("bias", dtype=wtype))
    result = block(_layers.batch_norm_infer(biased, name="batch_norm"), "dense2_weight", "conv2_weight")
    return Function(free_vars(result), result)


NETS: dict[str, Callable[..., Function]] = {
    name.removesuffix("_net"): build for name, build in list(globals().items()) if name.endswith("_net")
}


def _workload(net: Callable[..., Function]) -> Callable[..., Workload]:
    @functools.wraps(net)
    def get_workload(*args: Any, **kwargs: Any) -> Workload:
        return create_workload(net(*args, **kwargs))

    return get_workload


globals().update({name: _workload(net) for name, net in NETS.items()})

__all__ = [
    "NETS",
    "Constant",
    "Initializer",
    "Xavier",
    "create_workload",
    *NETS,
    *[f"{name}_net" for name in NETS],
]
