"""The modules of a TorchScript program and their weights, which become parameters of `@main`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any as Anything

from ...ir.annotate import set_span
from ...ir.errors import RelayError
from ...ir.expr import Constant, Expr
from ...ir.ndarray import NDArray
from ..aten.dtypes import dtype_name
from ..aten.packed import Cell, Packed, quantization_of_tensor, unpacked
from ..aten.quantization import Quantization
from ..base.context import Context
from ..base.names import unused
from ..base.require import require

_SMALL = 16  # elements of a constant of the program that is not made a parameter


class Module:
    """A module of the program: PyTorch's own object and the path from the outermost module."""

    __slots__ = ("object", "path")

    def __init__(self, object_: Anything, path: tuple[str, ...]) -> None:
        self.object = object_
        self.path = path

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Module) and self.path == other.path

    def __hash__(self) -> int:
        return hash(self.path)


class Weights:
    """Makes parameters of weights and constants, each once, however often it is used.

    They have the names of `state_dict`. With `friendly`, dots become underscores. `reserved` are names that
    inputs have. `quantized` receives the quantization of weights that are quantized tensors.
    """

    def __init__(self, context: Context, friendly: bool, reserved: Sequence[str]) -> None:
        self._context = context
        self._friendly = friendly
        self._names = set(reserved)
        self._known: dict[Anything, tuple[Expr, Anything]] = {}
        self._changed: dict[tuple[tuple[str, ...], str], object] = {}
        self._constants = 0
        self.quantized: dict[Expr, Quantization] = {}
        self._packed: dict[tuple[str, ...], Packed | Cell] = {}
        self._parts: dict[str, list[tuple[Anything, Expr]]] = {}

    def attribute(self, module: Module, name: str) -> object:
        """Return an attribute of a module, with expressions for tensors."""
        if (module.path, name) in self._changed:
            return self._changed[module.path, name]
        if not module.object.hasattr(name):
            raise RelayError(f"the module `{'.'.join(module.path)}` has no attribute {name!r}")
        return self._value(module.object.getattr(name), (*module.path, name))

    def set_attribute(self, module: Module, name: str, value: object) -> None:
        """Give an attribute another value for the rest of the import."""
        self._changed[module.path, name] = value

    def constants(self, value: object) -> object:
        """Return a constant of the program, with expressions for tensors."""
        return self._value(value, None)

    def keep_lines(self, count: int) -> None:
        """Remove all lines of the node list after the first `count` but those of weights, which move up."""
        source = self._context.source
        later = source.nodes[count:]
        del source.nodes[count:]
        moved = [
            (expr.span.line, expr)
            for expr, _ in self._known.values()
            if expr.span is not None and expr.span.line > count
        ]
        for line, expr in sorted(moved, key=lambda pair: pair[0]):
            set_span(expr, source.add(later[line - 1 - count]))

    def _value(self, value: object, path: tuple[str, ...] | None) -> object:
        torch = require("torch", "torch")
        if isinstance(value, torch.Tensor):
            return self._tensor(value, path)
        if isinstance(value, torch.device):
            return str(value)
        if isinstance(value, (list, tuple)):
            items = [
                self._value(item, None if path is None else (*path, str(at))) for at, item in enumerate(value)
            ]
            return items if isinstance(value, list) else tuple(items)
        if isinstance(value, Mapping):
            return {key: self._value(item, None) for key, item in value.items()}
        value = getattr(value, "_c", value)
        if isinstance(value, (torch._C.ScriptModule, torch._C.ScriptObject)):
            if isinstance(value, torch._C.ScriptModule):
                return Module(value, path or ())
            return self._unpacked(value, path or ())
        return value

    def _unpacked(self, object_: Anything, path: tuple[str, ...]) -> Packed | Cell:
        """Return the weights that an object of PyTorch's quantized operators holds."""
        kind = str(object_._type()).rpartition(".")[2]
        if path not in self._packed or not path:
            prefix = tuple([part for part in path if part not in ("_packed_params", "_packed_weight")])

            def parameter(name: str, values: Anything) -> Expr:
                return self._part((*prefix, name), values)

            self._packed[path] = unpacked(object_, kind, parameter)
        return self._packed[path]

    def _part(self, path: tuple[str, ...], values: Anything) -> Expr:
        """Return the parameter with given elements, which were computed from a packed weight."""
        known = self._parts.setdefault(".".join(path), [])
        for before, expr in known:
            if before.dtype == values.dtype and before.shape == values.shape and (before == values).all():
                return expr
        expr = self._context.weight(self._named(path), NDArray.sharing(values), freeze=False)
        known.append((values, expr))
        return expr

    def _tensor(self, tensor: Anything, path: tuple[str, ...] | None) -> Expr:
        """Return a weight as a parameter, a small constant as a constant."""
        if tensor.layout is not require("torch", "torch").strided:
            raise RelayError(
                f"the model has a tensor with the layout {tensor.layout}, which cannot be imported",
                help=["make it dense with tensor.to_dense()"],
            )
        dtype_name(tensor.dtype)  # refuses complex numbers
        scheme = str(tensor.qscheme()) if tensor.is_quantized else ""
        key = (tensor.data_ptr(), tuple(tensor.shape), tuple(tensor.stride()), str(tensor.dtype), scheme)
        if tensor.numel() and key in self._known:
            return self._known[key][0]
        array = shared(tensor.int_repr() if tensor.is_quantized else tensor)
        if path is None and tensor.numel() <= _SMALL:
            result: Expr = Constant(array)
        else:
            result = self._context.weight(self._named(path), array, freeze=False)
        if tensor.is_quantized:
            self.quantized[result] = quantization_of_tensor(tensor)
        # The tensor is kept, so that its address is not used again.
        self._known[key] = (result, tensor)
        return result

    def _named(self, path: tuple[str, ...] | None) -> str:
        """Return the name of a parameter, which no other has."""
        if path is None:
            name = f"constant_{self._constants}"
            self._constants += 1
        else:
            name = ".".join(path)
        if self._friendly:
            name = name.replace(".", "_").replace("::", "_")
        unique = unused(name, self._names)
        self._names.add(unique)
        return unique


def shared(tensor: Anything) -> NDArray:
    """Return a tensor's elements as an array that shares its memory where that is contiguous."""
    torch = require("torch", "torch")
    value = tensor.detach().cpu().resolve_conj().resolve_neg().contiguous()
    if value.dtype != torch.bfloat16:
        return NDArray.sharing(value.numpy())
    bits = NDArray.sharing(value.view(torch.int16).numpy())
    return NDArray(bits.shape, "bfloat16", bits.data)
