"""`tvm.relay.testing`'s models, made of this package's own: `get_workload` gives a module and parameters.

They differ from TVM's. Architectures are those of the papers, as `relay_explorer.models` has them, so the
names of weights, and in details the operators, are others. Parameters are drawn from a seeded generator: the
same every time, but not TVM's numbers. Options that are not listed do not exist.
"""

from __future__ import annotations

import math
import zlib

from .. import relay
from ..ir.expr import Call, Expr, Function, Var
from ..ir.module import IRModule
from ..ir.op import Op
from ..ir.types import TensorType
from ..ir.visitor import ExprMutator
from ..models import dqn as dqn_model
from ..models import load
from ..models import lstm as lstm_model
from ..transform import InferType
from .arrays import DeviceArray, array

Workload = tuple[IRModule, dict[str, DeviceArray]]
_INPUTS = ("data", "x", "h", "c")


class Xavier:
    """Initial values after Glorot and Bengio (2010): weights uniform within ±√(magnitude / fan), where fan is
    the mean of inputs and outputs; gamma and variance one, other vectors zero.
    """

    def __init__(self, magnitude: float = 3.0, seed: int = 0) -> None:
        self.magnitude = magnitude
        self.seed = seed

    def __call__(self, name: str, shape: tuple[int, ...], dtype: str) -> DeviceArray:
        import numpy

        if len(shape) < 2:
            ones = name.endswith(("gamma", "var"))
            return array(numpy.full(shape, 1 if ones else 0, dtype))
        receptive = math.prod(shape[2:])
        bound = math.sqrt(self.magnitude / (receptive * (shape[0] + shape[1]) / 2))
        random = numpy.random.default_rng([self.seed, zlib.crc32(name.encode())])
        return array(random.uniform(-bound, bound, shape).astype(dtype))


def create_workload(net: Function | IRModule, initializer: Xavier | None = None, seed: int = 0) -> Workload:
    """The typed module of a network and values for all parameters of `main` but its inputs (`data`, `x`, `h`,
    `c`, and `x0`, `x1` …).
    """
    module = InferType()(net if isinstance(net, IRModule) else IRModule.from_expr(net))
    make = initializer or Xavier(seed=seed)
    params = {}
    for var in module["main"].params:
        if var.name_hint in _INPUTS or (var.name_hint[:1] == "x" and var.name_hint[1:].isdigit()):
            continue
        tensor = var.checked_type
        if not isinstance(tensor, TensorType):
            raise TypeError(f"the parameter {var.name_hint} is no tensor but {tensor}")
        params[var.name_hint] = make(var.name_hint, tensor.concrete_shape, tensor.dtype)
    return module, params


class _Resize(ExprMutator):
    """Rebuilds a classifier for another input shape and another number of classes."""

    def __init__(self, main: Function, shape: tuple[int, ...], classes: int) -> None:
        super().__init__()
        *_, weight, bias = main.params
        old = _shape(weight)
        self.units = (old[0], classes)
        self.weight = weight
        self.shapes = {main.params[0]: shape, weight: (classes, old[1]), bias: (classes,)}
        self.vars: dict[Var, Var] = {}

    def visit_var(self, var: Var) -> Expr:
        if var in self.shapes:
            if var not in self.vars:
                self.vars[var] = relay.var(var.name_hint, shape=self.shapes[var])
            return self.vars[var]
        return super().visit_var(var)

    def visit_call(self, call: Call) -> Expr:
        if isinstance(call.op, Op) and call.op.name == "nn.dense" and call.args[1] is self.weight:
            data, weight = (self.visit(arg) for arg in call.args)
            built: Expr = relay.nn.dense(data, weight, units=self.units[1])
            return built
        return super().visit_call(call)


def _shape(var: Var) -> tuple[int, ...]:
    annotation = var.type_annotation
    assert isinstance(annotation, TensorType)
    return annotation.concrete_shape


def _classifier(model: str, shape: tuple[int, ...], classes: int) -> Workload:
    main = load(model)["main"]
    if (_shape(main.params[0]), _shape(main.params[-1])) != (shape, (classes,)):
        resized = _Resize(main, shape, classes).visit(main)
        assert isinstance(resized, Function)
        main = resized
    return create_workload(main)


def mlp(batch_size: int = 1, num_classes: int = 10) -> Workload:
    """The perceptron of the book: x (batch, 784) to (batch, num_classes). TVM's took images and had three
    layers.
    """
    return _classifier("mlp", (batch_size, 784), num_classes)


def resnet(
    batch_size: int = 1,
    num_classes: int = 1000,
    num_layers: int = 18,
    image_shape: tuple[int, int, int] = (3, 224, 224),
) -> Workload:
    """ResNet-18 or ResNet-50 for images NCHW of any size that leaves something to pool. TVM's was the second
    version, with the norms ahead of the convolutions.
    """
    if num_layers not in (18, 50):
        raise ValueError(f"resnet has 18 or 50 layers here, not {num_layers}")
    return _classifier(f"resnet{num_layers}", (batch_size, *image_shape), num_classes)


def mobilenet(
    batch_size: int = 1, num_classes: int = 1000, image_shape: tuple[int, int, int] = (3, 224, 224)
) -> Workload:
    """MobileNet, version 1."""
    return _classifier("mobilenet", (batch_size, *image_shape), num_classes)


def vgg(batch_size: int = 1, num_classes: int = 1000, num_layers: int = 16) -> Workload:
    """VGG-16 for images (3, 224, 224)."""
    if num_layers != 16:
        raise ValueError(f"vgg has 16 layers here, not {num_layers}")
    return _classifier("vgg16", (batch_size, 3, 224, 224), num_classes)


def dqn(batch_size: int = 1, num_actions: int = 18) -> Workload:
    """The deep Q-network: data (batch, 4, 84, 84) to (batch, num_actions)."""
    main = dqn_model.dqn(num_actions)["main"]
    if batch_size != 1:
        resized = _Resize(main, (batch_size, 4, 84, 84), num_actions).visit(main)
        assert isinstance(resized, Function)
        main = resized
    return create_workload(main)


def lstm(iterations: int, num_hidden: int, num_inputs: int | None = None) -> Workload:
    """An LSTM over `iterations` steps, unrolled, for one sequence. Steps and the first state are inputs;
    TVM's made the state itself.
    """
    return create_workload(lstm_model.lstm(iterations, num_inputs or num_hidden, num_hidden))


__all__ = ["Xavier", "create_workload", "dqn", "lstm", "mlp", "mobilenet", "resnet", "vgg"]
