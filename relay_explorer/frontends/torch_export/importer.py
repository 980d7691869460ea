"""Translate the graph of an exported program, node by node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any as Anything
from typing import cast

from ...ir.errors import RelayError
from ...ir.expr import Constant, Expr, Let, Tuple, Var
from ...ir.module import IRModule
from ...ir.ndarray import NDArray
from ...ir.types import Any, Dim, TensorType
from ..aten import Aten, Scalar, Value, bind, find
from ..aten.registry import Conversion
from ..base.context import Context, Converter
from ..base.errors import check_supported
from ..base.source import Node
from . import control
from .provenance import all_nodes, attribute, node_of, operator_name
from .scalars import compute, is_scalar_operator
from .strides import as_strided
from .structure import flattened, rebuilt
from .symbols import Symbols
from .weights import data_of, element_type, same_memory

# Checks of the user's assumptions about sizes and data, which compute nothing.
_CHECKS = frozenset([
    "aten::_assert_scalar", "aten::_assert_async", "aten::_assert_tensor_metadata",
    "aten::sym_constrain_range", "aten::sym_constrain_range_for_size",
    "aten::_functional_sym_constrain_range", "aten::_functional_sym_constrain_range_for_size",
    "torch::_check", "aten::_print",
])  # fmt: skip
_INFERRED = ("aten::sym_size", "aten::sym_numel", "aten::sym_stride", "aten::sym_storage_offset")


def is_supported(name: str, overload: str) -> bool:
    """Whether an operator can be imported without a converter of the user's."""
    if name.startswith("higher_order::"):
        return name.partition("::")[2] in control.CONVERTERS
    if name in _CHECKS or name in _INFERRED or is_scalar_operator(name) or name == "operator::getitem":
        return True
    return name == "aten::as_strided" or find(name, overload) is not None


class Importer:
    """The import of one exported program, or of one graph that `torch.compile` captured."""

    def __init__(
        self,
        name: str,
        freeze: bool,
        convert_map: Mapping[str, Converter] | None = None,
        static_shapes: str = "",
    ) -> None:
        self.context = Context(name, "PyTorch", convert_map, static_shapes)
        self.aten = Aten(self.context)
        self.symbols = Symbols(self.aten)
        self._freeze = freeze
        self._weights: dict[tuple[object, ...], Expr] = {}
        self._params: list[Var] = []
        self._subgraphs: list[Anything] = []

    # -- inputs

    def tensor_input(self, name: str, fake: Anything) -> Var:
        """Make a parameter of `@main` for a tensor, given its description."""
        shape = [self.symbols.dim(extent) for extent in fake.shape]
        var = self.context.variable(name, TensorType(shape, element_type(fake.dtype)))
        for axis, extent in enumerate(fake.shape):
            self.symbols.add_axis(extent, var, axis)
        self._params.append(var)
        return var

    def number_input(self, name: str, value: Anything) -> Scalar:
        """Make a parameter of `@main` for a number that the caller chooses."""
        kind = "int64" if type(value).__name__ in ("SymInt", "int") else "float64"
        var = self.context.variable(name, TensorType([], "bool" if isinstance(value, bool) else kind))
        if hasattr(value, "node"):
            self.symbols.add_number(value, var)
        self._params.append(var)
        return Scalar(var)

    def weight(self, name: str, tensor: Anything) -> Expr:
        """Make a weight; tensors that are the same memory become one weight."""
        key = same_memory(tensor)
        known = self._weights.get(key)
        inputs = {var.name_hint for var in self._params}
        while name in inputs:
            name += "_"
        if known is None:
            known = self._weights[key] = self.context.weight(name, data_of(tensor), self._freeze)
        return known

    def constant(self, tensor: Anything) -> Expr:
        """Make a constant of a tensor."""
        return Constant(data_of(tensor))

    def main(self, results: Sequence[Expr], single: bool) -> tuple[IRModule, dict[str, NDArray]]:
        """Finish `@main`; with `single`, one result is returned as itself and not as a tuple of one."""
        body = results[0] if single and len(results) == 1 else Tuple(list(results))
        return self.context.main(list(self._params), body), self.context.params

    # -- checking

    def check(self, module: Anything, importer: str) -> None:
        """Raise one error for all operators of a graph that cannot be imported."""
        nodes = []
        for fx_node in all_nodes(module):
            nodes.append(node_of(fx_node, {}))
        check_supported(nodes, self.has_converter, "PyTorch", importer)

    def has_converter(self, node: Node) -> bool:
        """Whether a node can be converted, by a converter of the user's or one of ours."""
        name, _, overload = node.op.partition(".")
        return self._user_converter(name, overload) is not None or is_supported(name, overload)

    def _user_converter(self, name: str, overload: str) -> Converter | None:
        """Return the user's converter of an operator, registered as it is called in TorchScript (`aten::add`,
        `aten::add.Tensor`) or in exported graphs (`aten.add`, `aten.add.Tensor`).
        """
        converters = self.context.convert_map
        dotted = name.replace("::", ".")
        keys = [f"{name}.{overload}", f"{dotted}.{overload or 'default'}", name, dotted]
        return next((converters[key] for key in keys if key in converters), None)

    # -- nodes

    def run(self, module: Anything, args: Sequence[Value]) -> list[Value]:
        """Translate a graph whose inputs have the values `args`; return those of its outputs."""
        values: dict[Anything, Value] = {}
        remaining = iter(args)
        for fx_node in module.graph.nodes:
            match fx_node.op:
                case "placeholder":
                    values[fx_node] = next(remaining)
                case "get_attr":
                    part = attribute(module, fx_node.target)
                    values[fx_node] = part if hasattr(part, "graph") else self.constant(part)
                case "call_function":
                    values[fx_node] = self._call(fx_node, values)
                case "output":
                    returned = _replaced(fx_node.args[0], values)
                    return list(returned) if isinstance(returned, (list, tuple)) else [returned]
                case _:
                    raise RelayError(
                        f"the graph has a node of the unknown kind `{fx_node.op}`",
                        help=["export the model again"],
                    )
        return []

    def _call(self, fx_node: Anything, values: dict[Anything, Value]) -> Value:
        name, overload = operator_name(fx_node.target)
        if self._user_converter(name, overload) is None:
            if name in _CHECKS:
                return None
            if name == "operator::getitem":
                whole, index = _replaced(fx_node.args, values)
                if isinstance(whole, (list, tuple)):
                    return cast(Value, whole[index])
            expected = fx_node.meta.get("val")
            if type(expected).__name__ == "SymInt":
                scalar = self.symbols.scalar(expected)
                if scalar is not None:
                    return scalar
        return self._converted(fx_node, name, overload, values)

    def _converted(self, fx_node: Anything, name: str, overload: str, values: dict[Anything, Value]) -> Value:
        """Convert a node; its results have the types that PyTorch recorded for it."""
        args, kwargs = _replaced(fx_node.args, values), _replaced(fx_node.kwargs, values)
        node = node_of(fx_node, _shown(fx_node))
        inputs, _ = flattened([*args, *kwargs.values()])
        user_converter = self._user_converter(name, overload)
        if user_converter is not None:
            self.context.convert_map[node.op] = user_converter
        structure: list[Value] = [None]
        raw: list[Expr] = []
        expected = fx_node.meta.get("val")

        def converter(node: Node, inputs: list[Expr]) -> list[Expr]:
            result = self._result(fx_node, name, overload, args, kwargs)
            _check_used(fx_node, result)
            exprs, structure[0] = flattened(self._refined(result, expected))
            raw.extend(exprs)
            return exprs

        results = self.context.convert(node, inputs, converter)
        for before, after in zip(raw, results):
            if before in self.aten.groups:
                self.aten.groups[after] = self.aten.groups[before]
        if user_converter is None:
            return rebuilt(self.aten, structure[0], list(results))
        several = isinstance(expected, (tuple, list))
        checked = self._refined(list(results) if several or len(results) != 1 else results[0], expected)
        for expr in flattened(checked)[0]:
            self.context.finish(expr, results[0].span)
        return checked

    def _result(
        self, fx_node: Anything, name: str, overload: str, args: Sequence[Value], kwargs: Mapping[str, Value]
    ) -> Value:
        if name.startswith("higher_order::"):
            convert = control.CONVERTERS[name.partition("::")[2]]
            return convert(self, fx_node, list(args), dict(kwargs))
        if is_scalar_operator(name):
            return compute(self.aten, name, list(args))
        if name in _INFERRED:
            return self._inferred(name, args)
        if name == "aten::as_strided":
            return as_strided(self.aten, args[0], fx_node.args[0].meta["val"], *args[1:], **kwargs)  # type: ignore[arg-type]  # the schema's types
        conversion = cast(Conversion, find(name, overload))
        schema = fx_node.target._schema
        result = conversion(self.aten, *bind(schema, list(args), kwargs))
        if schema.is_mutable and isinstance(result, Expr) and isinstance(args[0], Expr):
            return self.aten.cast(result, self.aten.dtype(args[0]))  # a change in place keeps the type
        return result

    def _inferred(self, name: str, args: Sequence[Value]) -> Value:
        """Return a size of a tensor, by its type."""
        tensor = cast(Expr, args[0])
        if name == "aten::sym_size":
            if len(args) > 1:
                return self.aten.size(tensor, self.aten.axis(cast(int, args[1]), self.aten.rank(tensor)))
            return list(self.aten.sizes(tensor))
        if name == "aten::sym_numel":
            total: Value = 1
            for extent in self.aten.sizes(tensor):
                total = compute(self.aten, "operator::mul", [total, extent])
            return total
        raise RelayError(f"{name} cannot be imported: Relay's tensors have no strides and no storage offset")

    # -- types

    def _refined(self, value: Value, expected: Anything) -> Value:
        """Compare the results of a converter with the types that PyTorch recorded; where PyTorch knows a
        dimension that inference does not, declare it.
        """
        if isinstance(value, Expr) and hasattr(expected, "dtype") and hasattr(expected, "shape"):
            return self._declared(value, expected)
        if isinstance(value, (list, tuple)) and isinstance(expected, (list, tuple)):
            if len(value) != len(expected):
                raise RelayError(
                    f"the converter returns {len(value)} results, but the operator has {len(expected)}"
                )
            return [self._refined(part, described) for part, described in zip(value, expected)]
        return value

    def _declared(self, expr: Expr, fake: Anything) -> Expr:
        type_ = self.context.type(expr)
        wanted = [self.symbols.dim(extent) for extent in fake.shape]
        dtype = element_type(fake.dtype)
        if not isinstance(type_, TensorType) or not _agree(type_, wanted, dtype):
            raise RelayError(
                f"the result has type {type_}, but PyTorch computes a tensor of shape "
                f"({', '.join(map(str, fake.shape))}) and type {dtype}"
            )
        shape = [b if isinstance(a, Any) else a for a, b in zip(type_.shape, wanted)]
        if shape == list(type_.shape):
            return expr
        refined = Var("sized", TensorType(shape, type_.dtype))
        return Let(refined, expr, refined)


def _check_used(fx_node: Anything, result: Value) -> None:
    """Raise a RelayError if the program uses a result of an operator that its converter does not give."""
    if not isinstance(result, (list, tuple)):
        return
    for user in fx_node.users:
        if operator_name(user.target)[0] == "operator::getitem" and user.users:
            index = user.args[1]
            if isinstance(index, int) and index < len(result) and result[index] is None:
                raise RelayError(
                    f"the program uses result {index} of {fx_node.target}, which cannot be imported",
                    help=["change the model so that it does not need this result, or give a converter"],
                )


def _agree(type_: TensorType, wanted: Sequence[Dim], dtype: str) -> bool:
    """Whether a type may be that of a tensor with the dimensions `wanted`."""
    if type_.dtype != dtype or len(type_.shape) != len(wanted):
        return False
    for a, b in zip(type_.shape, wanted):
        if isinstance(a, int) and isinstance(b, int) and a != b:
            return False
    return True


def _replaced(argument: Anything, values: Mapping[Anything, Value]) -> Anything:
    """Return an argument of an FX node with each node in it replaced by its value."""
    if isinstance(argument, tuple):
        return tuple([_replaced(part, values) for part in argument])
    if isinstance(argument, list):
        return [_replaced(part, values) for part in argument]
    if isinstance(argument, dict):
        return {key: _replaced(part, values) for key, part in argument.items()}
    if type(argument).__name__ == "Node" and hasattr(argument, "op"):
        return values[argument]
    if isinstance(argument, slice):
        raise RelayError("an operator has a slice as an argument, which Relay cannot represent")
    return argument


def _shown(fx_node: Anything) -> dict[str, Anything]:
    """Return the arguments of a node that are no tensors, by their names in the schema."""
    schema = getattr(fx_node.target, "_schema", None)
    names = [argument.name for argument in schema.arguments] if schema is not None else []
    shown = {}
    for index, value in enumerate(fx_node.args):
        if not _holds_node(value) and value is not None:
            shown[names[index] if index < len(names) else f"arg{index}"] = value
    shown.update({key: value for key, value in fx_node.kwargs.items() if not _holds_node(value)})
    return {key: value for key, value in shown.items() if key not in ("device", "layout", "pin_memory")}


def _holds_node(value: Anything) -> bool:
    if isinstance(value, (tuple, list)):
        return any(map(_holds_node, value))
    return type(value).__name__ == "Node" and hasattr(value, "op")
