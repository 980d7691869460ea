"""The exercise `quantization_scheme`: a scheme with few bits, judged by two networks that read digits."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any as Anything

from ...ir.expr import Call, Constant, Expr, Function, Tuple
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
from ...ir.op import Op, OpPattern
from ...ir.types import TensorType
from ...ir.walk import post_order
from ...ops.numeric import np
from ...quantize import Quantization, Scheme, trace
from ...quantize.integers import is_product
from ...typing import infer_types

WEIGHT_BITS, DATA_BITS, IN_FLOAT = 3, 6, 1
NETWORKS = ("digits", "perceptron")
BATCH = 119  # images; the 357 that the networks have never seen are three batches


@dataclass(frozen=True)
class Product:
    """A layer of a quantized program: the operator's name, the element type of its operands, and how many
    steps lie between the least and the greatest integer of its data and of its weight; 0 for floats.
    """

    name: str
    dtype: str
    data_steps: int
    weight_steps: int

    @property
    def in_float(self) -> bool:
        return self.dtype.startswith(("float", "bfloat"))

    def __str__(self) -> str:
        if self.in_float:
            return f"{self.name}: {self.dtype}"
        return (
            f"{self.name}: {self.dtype}, {self.data_steps + 1} data and {self.weight_steps + 1} weight levels"
        )


@dataclass(frozen=True)
class Quantized:
    """A network quantized by a scheme: the products in the quantized program, the number of layers in the
    network, and the accuracy before and after, on unseen images. `sums` are operators of the quantized
    program, other than products, that add up floats; the networks have none. `same` says whether the float
    program that was quantized computes what the network does.
    """

    trace: Quantization
    layers: int
    products: tuple[Product, ...]
    before: float
    after: float
    sums: tuple[str, ...] = ()
    same: bool = True


@cache
def _images(which: int) -> tuple[Anything, Anything]:
    """Return a batch of unseen images, and their classes."""
    from ...models import digits

    unseen = digits.data().unseen
    part = slice(which * BATCH, (which + 1) * BATCH)
    return unseen.images[part], unseen.classes[part]


def quantize(scheme: Scheme, network: str = "digits", batches: Sequence[int] = (0,)) -> Quantized:
    """Quantize a network by a scheme, calibrated on training images, and run it on batches of unseen ones."""
    from ...models import digits

    module = digits.NETWORKS[network](BATCH)
    dataset = [{"data": digits.data().training.images[:BATCH]}]
    result = trace(module, scheme, digits.weights(network), dataset)
    before, after = (_accuracy(program, batches) for program in (result.float_program, result.realized))
    layers = sum(isinstance(node, Call) and _multiplies(node) for node in post_order(module["main"]))
    images = _images(batches[0])[0]
    multiplied = products(result.realized, images)
    same = np.allclose(_run(result.float_program, images), _original(network, batches[0]), 1e-3, 1e-3)
    return Quantized(result, layers, multiplied, before, after, _float_sums(result.realized), bool(same))


@cache
def _original(network: str, which: int) -> Anything:
    """Return what a network computes for a batch of unseen images."""
    from ...ir.bind import bind_params_by_name
    from ...ir.narrow import as_function
    from ...models import digits

    main = as_function(digits.NETWORKS[network](BATCH)["main"])
    bound = IRModule.from_expr(bind_params_by_name(main, digits.weights(network)))
    return _run(infer_types(bound), _images(which)[0])


def _float_sums(module: IRModule) -> tuple[str, ...]:
    """Return the names of the operators that add up floats, other than products."""
    calls = [node for node in post_order(module["main"]) if isinstance(node, Call)]
    return tuple([call.op.name for call in calls if isinstance(call.op, Op) and _sums_floats(call)])


def _sums_floats(call: Call) -> bool:
    assert isinstance(call.op, Op)
    type_ = call.checked_type
    is_float = isinstance(type_, TensorType) and type_.dtype.startswith(("float", "bfloat"))
    # An operator that lists its axes as letters multiplies and sums any number of operands.
    sums = call.op.pattern == OpPattern.COMM_REDUCE or "equation" in (call.attrs or ())
    return is_float and sums


def _accuracy(module: IRModule, batches: Sequence[int]) -> float:
    right = total = 0
    for which in batches:
        images, classes = _images(which)
        right += int((_run(module, images).argmax(axis=1) == classes).sum())
        total += len(classes)
    return right / total


def _run(module: IRModule, images: Anything) -> Anything:
    from ...execute import Interpreter
    from ...ir.expr import const

    return Interpreter(module).evaluate(Call(module.get_global_var("main"), [const(images)]))


def products(module: IRModule, images: Anything) -> tuple[Product, ...]:
    """Return the layers of a typed program, with the ranges of the integers that they multiply."""
    main = module["main"]
    calls = [node for node in post_order(main) if isinstance(node, Call) and _multiplies(node)]
    integers = [call for call in calls if not _dtype(call).startswith(("float", "bfloat"))]
    operands = iter(_values(module, [operand for call in integers for operand in call.args[:2]], images))
    result = []
    for call in calls:
        name, dtype = call.op.name, _dtype(call)  # type: ignore[attr-defined]  # an operator
        if call in integers:
            data, weight = (_steps(next(operands)) for _ in "dw")
            result.append(Product(name, dtype, data, weight))
        else:
            result.append(Product(name, dtype, 0, 0))
    return tuple(result)


def _multiplies(call: Call) -> bool:
    """Whether a call sums products of two operands, with or without zero points."""
    if not isinstance(call.op, Op):
        return False
    plain = Op.find(call.op.name.replace("qnn.", "nn.", 1))
    return is_product(call.op) or (plain is not None and is_product(plain))


def _dtype(call: Call) -> str:
    """Return the wider element type of a product's operands."""
    types = [operand.checked_type for operand in call.args[:2]]
    dtypes = [type_.dtype for type_ in types if isinstance(type_, TensorType)]
    return next((dtype for dtype in dtypes if not dtype.endswith("int8")), dtypes[0])


def _steps(values: Anything) -> int:
    return int(values.max()) - int(values.min()) if values.size else 0


def _values(module: IRModule, operands: list[Expr], images: Anything) -> list[Anything]:
    """Compute intermediate values of `@main`."""
    main = module["main"]
    computed = [operand for operand in operands if not isinstance(operand, Constant)]
    program = IRModule.from_expr(Function(list(main.params), Tuple(computed)))
    values = iter(_run(program, images) if computed else ())
    return [operand.data.numpy() if isinstance(operand, Constant) else next(values) for operand in operands]
