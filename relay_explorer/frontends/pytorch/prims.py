"""What TorchScript's own operators do: constants, attributes, calls, tuples, and checks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from ...ir import const
from ...ir.errors import RelayError
from ..aten import Scalar, call
from ..aten.dtypes import dtype_code, is_float
from ..aten.scalars import binary, converted
from ..aten.values import Number
from . import graph
from .cells import List, Tensor
from .control import conditional, loop
from .errors import ProgramRaisesError
from .graph import TorchNode
from .interpreter import Environment, Frame, Interpreter, Prim
from .structure import UNINITIALIZED
from .weights import Module

PRIMS: dict[str, Prim] = {"prim::If": conditional, "prim::Loop": loop}


def prim(*kinds: str) -> Callable[[Prim], Prim]:
    """Register the function for nodes of some kinds."""

    def register(function: Prim) -> Prim:
        for kind in kinds:
            PRIMS[kind] = function
        return function

    return register


@prim("prim::Constant")
def constant(run: Interpreter, node: TorchNode, inputs: list[object], environment: Environment) -> object:
    return run.constant(node)


@prim("prim::GetAttr")
def get_attribute(
    run: Interpreter, node: TorchNode, inputs: list[object], environment: Environment
) -> object:
    (module,) = inputs
    name = node.s("name")
    if not isinstance(module, Module):
        raise RelayError(f"the attribute {name!r} of an object that is not a module cannot be read")
    return run.attribute(module, name)


@prim("prim::SetAttr")
def set_attribute(
    run: Interpreter, node: TorchNode, inputs: list[object], environment: Environment
) -> object:
    module, value = inputs
    name = node.s("name")
    if not isinstance(module, Module):
        raise RelayError(f"the attribute {name!r} of an object that is not a module cannot be assigned")
    if run.depth_of_branches:
        raise RelayError(
            f"the attribute {name!r} is assigned under a condition that is known only at run time"
        )
    run.weights.set_attribute(module, name, run.plain(value))
    return None


@prim("prim::CallMethod")
def call_method(run: Interpreter, node: TorchNode, inputs: list[object], environment: Environment) -> object:
    module, name = inputs[0], node.s("name")
    if not isinstance(module, Module):
        raise RelayError(f"the method {name!r} of an object that is not a module cannot be called")
    method = module.object._get_method(name)
    location = graph.location_of(node) or run.frames[-1].location
    return run.call(method.graph, inputs, Frame(module.path, location))


@prim("prim::CallFunction")
def call_function(
    run: Interpreter, node: TorchNode, inputs: list[object], environment: Environment
) -> object:
    function = run.functions.graph(inputs[0], node)
    location = graph.location_of(node) or run.frames[-1].location
    return run.call(function, inputs[1:], Frame(run.frames[-1].path, location))


# -- tuples, lists and dictionaries


@prim("prim::TupleConstruct")
def tuple_(run: Interpreter, node: TorchNode, inputs: list[object], environment: Environment) -> object:
    return tuple(inputs)


@prim("prim::TupleUnpack")
def unpack(run: Interpreter, node: TorchNode, inputs: list[object], environment: Environment) -> object:
    fields = cast("Sequence[object]", inputs[0])
    return fields[0] if node.outputsSize() == 1 else fields


@prim("prim::TupleIndex")
def tuple_index(run: Interpreter, node: TorchNode, inputs: list[object], environment: Environment) -> object:
    return cast("Sequence[object]", inputs[0])[run.ctx.integer(inputs[1], "the index of a tuple")]


@prim("prim::TupleSlice")
def tuple_slice(run: Interpreter, node: TorchNode, inputs: list[object], environment: Environment) -> object:
    return cast("Sequence[object]", inputs[0])[node.i("beg") : node.i("end")]


@prim("prim::ListConstruct")
def list_(run: Interpreter, node: TorchNode, inputs: list[object], environment: Environment) -> object:
    return List(run.journal, inputs)


@prim("prim::ListUnpack")
def list_unpack(run: Interpreter, node: TorchNode, inputs: list[object], environment: Environment) -> object:
    (value,) = inputs
    assert isinstance(value, List)
    items = value.items
    if len(items) != node.outputsSize():
        raise RelayError(f"a list of {len(items)} elements is unpacked into {node.outputsSize()} variables")
    return items[0] if len(items) == 1 else items


@prim("prim::DictConstruct")
def dict_(run: Interpreter, node: TorchNode, inputs: list[object], environment: Environment) -> object:
    return {_key(run, key): value for key, value in zip(inputs[::2], inputs[1::2])}


def _key(run: Interpreter, key: object) -> object:
    if isinstance(key, (Scalar, Tensor)):
        raise RelayError("the keys of a dictionary must be known at compile time")
    return key


# -- values that pass through


@prim(
    "prim::unchecked_cast", "prim::unchecked_unwrap_optional", "aten::_unwrap_optional",
)  # fmt: skip
def unchanged(run: Interpreter, node: TorchNode, inputs: list[object], environment: Environment) -> object:
    if inputs[0] is None and node.kind() == "aten::_unwrap_optional":
        raise RelayError("the program unwraps an optional value that is None")
    return inputs[0]


@prim("prim::Uninitialized")
def uninitialized(
    run: Interpreter, node: TorchNode, inputs: list[object], environment: Environment
) -> object:
    return UNINITIALIZED


@prim("prim::Print", "aten::warn", "aten::_assert", "aten::_assert_async", "aten::_assert_tensor_metadata")
def nothing(run: Interpreter, node: TorchNode, inputs: list[object], environment: Environment) -> object:
    return None


@prim("prim::RaiseException")
def raise_exception(
    run: Interpreter, node: TorchNode, inputs: list[object], environment: Environment
) -> object:
    raise ProgramRaisesError(f"the program raises an exception: {inputs[0]}")


@prim("aten::format")
def format_(run: Interpreter, node: TorchNode, inputs: list[object], environment: Environment) -> object:
    return str(inputs[0]).format(*inputs[1:])


@prim("prim::NumToTensor")
def number_to_tensor(
    run: Interpreter, node: TorchNode, inputs: list[object], environment: Environment
) -> object:
    (number,) = inputs
    expr = number.expr if isinstance(number, Scalar) else const(number, _number_dtype(number))
    return Tensor(run.journal, expr)


def _number_dtype(number: object) -> str:
    return "bool" if isinstance(number, bool) else "int64" if isinstance(number, int) else "float64"


# -- questions about tensors and the program


@prim("prim::dtype")
def dtype(run: Interpreter, node: TorchNode, inputs: list[object], environment: Environment) -> object:
    (tensor,) = inputs
    assert isinstance(tensor, Tensor)
    return dtype_code(run.ctx.dtype(tensor.form()))


@prim("prim::device")
def device(run: Interpreter, node: TorchNode, inputs: list[object], environment: Environment) -> object:
    return "cpu"


@prim("prim::layout")
def layout(run: Interpreter, node: TorchNode, inputs: list[object], environment: Environment) -> object:
    return 0  # strided


@prim("prim::type")
def device_type(run: Interpreter, node: TorchNode, inputs: list[object], environment: Environment) -> object:
    return "cpu"


@prim(
    "prim::is_cuda", "prim::is_sparse", "prim::is_mkldnn", "prim::requires_grad",
    "prim::is_nested", "prim::is_mps", "prim::is_xpu", "prim::is_meta", "prim::is_vulkan", "prim::is_ipu",
    "aten::is_autocast_enabled", "aten::is_autocast_cpu_enabled", "aten::is_grad_enabled",
    "aten::requires_grad", "aten::_get_tracing_state", "aten::has_torch_function",
)  # fmt: skip
def false(run: Interpreter, node: TorchNode, inputs: list[object], environment: Environment) -> object:
    return False


@prim("prim::is_quantized")
def is_quantized(run: Interpreter, node: TorchNode, inputs: list[object], environment: Environment) -> object:
    (x,) = inputs
    return isinstance(x, Tensor) and x.form() in run.ctx.quantized


@prim("aten::is_scripting", "prim::is_cpu")
def true(run: Interpreter, node: TorchNode, inputs: list[object], environment: Environment) -> object:
    return True


@prim("prim::isinstance")
def is_instance(run: Interpreter, node: TorchNode, inputs: list[object], environment: Environment) -> object:
    names = [str(type_) for type_ in node.tys("types")]
    value = inputs[0]
    kinds = {
        "Tensor": Tensor, "int": int, "float": float, "bool": bool, "str": str, "NoneType": type(None),
    }  # fmt: skip
    for name in names:
        kind = kinds.get(name)
        if kind is None:
            kind = List if name.startswith("List") else tuple if name.startswith("Tuple") else None
        if kind is None:
            raise RelayError(f"isinstance(value, {name}) is not supported")
        number = value.kind if isinstance(value, Scalar) else type(value)
        if isinstance(value, kind) or issubclass(number, kind):
            return True
    return False


@prim("aten::is_floating_point.dtype")
def is_floating_point(
    run: Interpreter, node: TorchNode, inputs: list[object], environment: Environment
) -> object:
    return is_float(str(inputs[0]))


# -- ranges


@prim("aten::__range_length")
def range_length(run: Interpreter, node: TorchNode, inputs: list[object], environment: Environment) -> object:
    low, high, step = cast("list[Number]", inputs)
    by = run.ctx.integer(step, "the step of a range")
    span = binary(run.ctx, "sub", high, low) if by > 0 else binary(run.ctx, "sub", low, high)
    rounded = binary(run.ctx, "add", span, abs(by) - 1)
    count = binary(run.ctx, "floordiv", rounded, abs(by))
    return binary(run.ctx, "max", count, 0)


@prim("aten::__derive_index")
def derive_index(run: Interpreter, node: TorchNode, inputs: list[object], environment: Environment) -> object:
    index, start, step = cast("list[Number]", inputs)
    return binary(run.ctx, "add", start, binary(run.ctx, "mul", index, step))


@prim("aten::__not__")
def not_(run: Interpreter, node: TorchNode, inputs: list[object], environment: Environment) -> object:
    if isinstance(inputs[0], Tensor):
        return call(run.ctx, "logical_not", inputs[0].read())
    return call(run.ctx, "__not__", inputs[0])


def _short_circuit(op: str) -> Prim:
    """Return the function for `and` or `or` of two bools."""

    def combine(run: Interpreter, node: TorchNode, inputs: list[object], environment: Environment) -> object:
        if all(isinstance(value, (bool, int, Scalar)) for value in inputs):
            return binary(run.ctx, op, cast(Number, inputs[0]), cast(Number, inputs[1]))
        return run.operator(node, inputs)

    return combine


PRIMS["aten::__and__"] = _short_circuit("and")
PRIMS["aten::__or__"] = _short_circuit("or")


@prim("aten::__is__", "aten::__isnot__")
def is_(run: Interpreter, node: TorchNode, inputs: list[object], environment: Environment) -> object:
    same = inputs[0] is inputs[1]
    return same == (node.kind() == "aten::__is__")


@prim("prim::shape", "prim::Enter", "prim::Exit")
def refused(run: Interpreter, node: TorchNode, inputs: list[object], environment: Environment) -> object:
    raise RelayError(f"{node.kind()} cannot be imported")


@prim("aten::Bool")
def to_bool(run: Interpreter, node: TorchNode, inputs: list[object], environment: Environment) -> object:
    return converted(run.ctx, run.plain(inputs[0]), bool, "bool")
