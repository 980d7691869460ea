"""Runs a TorchScript program on Relay expressions instead of tensors: the result is the Relay program.

Modules, numbers, strings and lists are values of the import itself, so calls of submodules are inlined, and
conditions and shapes that are known decide at once which code is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any as Anything
from typing import cast

from ...ir.errors import RelayError
from ...ir.expr import Expr, Var
from ..aten import Aten, Value, bind, find, schemas
from ..aten.quantization import known_number
from ..aten.quantized_tensors import chosen
from ..base.context import Context, Converter
from ..base.source import Node
from . import graph
from .cells import Journal, List, Tensor
from .effects import READS_FORM, RESHAPING, copies, is_out, returns_view, without_out
from .errors import UnsupportedError
from .graph import Block, Graph, TorchNode
from .lists import Lists
from .parts import leaves, old_type, old_value, rebuilt, tensors
from .structure import Packer
from .views import UNCERTAIN, WRITE_BACK, part_of_split
from .weights import Module, Weights

Environment = dict[str, object]
Prim = Callable[["Interpreter", TorchNode, list[object], Environment], object]
OldConverter = Callable[[list[object], list[str]], Expr]
_DEEPEST = 200  # calls of methods within methods


class Frame:
    """A call of a method: the module's path and where the user's code calls it."""

    def __init__(self, path: tuple[str, ...], location: str) -> None:
        self.path = path
        self.location = location


class Interpreter:
    """One import of a TorchScript program."""

    def __init__(
        self,
        context: Context,
        weights: Weights,
        default_dtype: str,
        custom: Mapping[str, OldConverter],
        prims: Mapping[str, Prim],
    ) -> None:
        self.context = context
        self.weights = weights
        self.ctx = Aten(context, default_dtype, weights.quantized)
        self.custom = custom
        self.prims = prims
        self.journal = Journal()
        self.lists = Lists(self.ctx)
        self.packer = Packer(self.ctx, self.journal, self.lists)
        self.lists.packer = self.packer
        self.functions = graph.Functions()
        self.frames: list[Frame] = [Frame((), "")]
        self.names: dict[str, int] = {}
        self.value_names: dict[Expr, str] = {}
        self.stored: dict[Expr, Tensor] = {}  # the cells of weights and constants
        self.depth_of_branches = 0  # conditionals and loops that are known only at run time

    # -- calls and blocks

    def call(self, graph_: Graph, args: Sequence[object], frame: Frame) -> object:
        """Run a method or a function; return its result."""
        if len(self.frames) > _DEEPEST:
            raise RelayError(
                f"the program's calls are nested more than {_DEEPEST} deep; a method may call itself"
            )
        environment: Environment = {}
        for value, arg in zip(graph_.inputs(), args, strict=True):
            environment[value.debugName()] = arg
        self.frames.append(frame)
        try:
            results = self.run(graph_, environment)
        finally:
            self.frames.pop()
        return results[0] if len(results) == 1 else tuple(results)

    def run(self, block: Block, environment: Environment) -> list[object]:
        """Run the nodes of a block; return the values that it returns."""
        for node in block.nodes():
            self._step(node, environment)
        return [environment[value.debugName()] for value in block.outputs()]

    def _step(self, node: TorchNode, environment: Environment) -> None:
        inputs = [environment[value.debugName()] for value in node.inputs()]
        kind = node.kind()
        if kind in self.context.convert_map or kind in self.custom:
            result = self.operator(node, inputs)
        elif kind in self.prims:
            result = self.prims[kind](self, node, inputs, environment)
        elif (method := self.list_method(kind, inputs)) is not None:
            result = method(self, node, inputs, environment)
        else:
            result = self.operator(node, inputs)
        outputs = list(node.outputs())
        if len(outputs) == 1:
            environment[outputs[0].debugName()] = result
        elif outputs:
            result = result.items if isinstance(result, List) else result
            parts = cast("Sequence[object]", result)
            if len(parts) != len(outputs):
                raise RelayError(f"{kind} has {len(outputs)} results, but its converter returns {len(parts)}")
            for index, (output, part) in enumerate(zip(outputs, parts)):
                if part is None and output.uses() and output.type().kind() == "TensorType":
                    raise RelayError(
                        f"the program uses result {index} of {kind}, which cannot be imported",
                        help=["change the model so that it does not need this result, or give a converter"],
                    )
                environment[output.debugName()] = part

    def list_method(self, kind: str, inputs: Sequence[object]) -> Prim | None:
        """Return the function for an operator on a list, dictionary, tuple or string, if the first operand is
        one.
        """
        for name, type_ in (("list", List), ("dict", dict), ("tuple", (tuple, str))):
            if inputs and isinstance(inputs[0], type_):
                return self.prims.get(f"{kind}.{name}")
        return None

    # -- operators

    def operator(self, node: TorchNode, inputs: Sequence[object]) -> object:
        """Convert an operator; return its result, as cells."""
        kind, overload = graph.operator_of(node)
        conversion = find(kind, without_out(kind, overload))
        if conversion is None and kind not in self.context.convert_map and kind not in self.custom:
            raise UnsupportedError(kind)
        schema = schemas().get((kind, overload))
        if kind in READS_FORM:
            inputs_read = [value.form() if isinstance(value, Tensor) else value for value in inputs[:1]]
            values = [*inputs_read, *[self.plain(value) for value in inputs[1:]]]
        else:
            values = [self.plain(value) for value in inputs]
        args = bind(schema, values) if schema is not None and conversion is not None else values
        if schema is not None:
            args = [value for value, argument in zip(args, schema.arguments) if not is_out(argument)]
        if conversion is not None:
            conversion = chosen(self.ctx, kind, conversion, tensors(args))
            if kind.startswith(("quantized::", "aten::quantize_")):
                args = [known_number(self.ctx, value) for value in args]
        described = self.describe(node, schema, args)
        result = self.converted(described, kind, conversion, args)
        if schema is None:
            return self.celled(result)
        stored = self._stored(node, kind, schema, inputs, args, result)
        if isinstance(stored, Tensor):
            stored.name = stored.root.name = described.outputs[0]
        return stored

    def converted(
        self, node: Node, kind: str, conversion: Callable[..., Value] | None, args: Sequence[Value]
    ) -> Value:
        """Run a converter and finish the expressions of its result."""
        exprs = [leaf for value in args for leaf in tensors(value)]
        structure: list[Value] = []
        old = self.custom.get(kind)

        def convert(node: Node, inputs: list[Expr]) -> Sequence[Expr]:
            if old is not None:
                value: Value = old(
                    [old_value(arg) for arg in args], [old_type(self.ctx, arg) for arg in args]
                )
            else:
                assert conversion is not None
                value = conversion(self.ctx, *args)
            structure[:] = [value]
            return leaves(value)

        results = self.context.convert(node, exprs, cast(Converter, convert))
        self.record(node, results)
        for raw, finished in zip(leaves(structure), results):
            if raw in self.ctx.quantized:
                self.ctx.quantized[finished] = self.ctx.quantized[raw]
        if not structure:  # the user's converter
            return results[0] if len(results) == 1 else results
        return rebuilt(self.ctx, structure[0], iter(results).__next__)

    def plain(self, value: object) -> Value:
        """Return a value as converters receive it: cells become expressions."""
        if isinstance(value, Tensor):
            expr = value.read()
            if value.name:
                self.value_names.setdefault(expr, value.name)
            return expr
        if isinstance(value, List):
            return [self.plain(item) for item in value.items]
        if isinstance(value, tuple):
            return tuple([self.plain(item) for item in value])
        return value

    def celled(self, value: Value) -> object:
        """Return a converter's result with cells for tensors and lists."""
        if isinstance(value, Expr):
            return Tensor(self.journal, value)
        if isinstance(value, list):
            return List(self.journal, [self.celled(item) for item in value])
        if isinstance(value, tuple):
            return tuple([self.celled(item) for item in value])
        return value

    # -- changes in place and views

    def _stored(
        self,
        node: TorchNode,
        kind: str,
        schema: Anything,
        inputs: Sequence[object],
        args: Sequence[Value],
        result: Value,
    ) -> object:
        """Return the result as cells, after writing to operands that the operator changes."""
        for position, argument in enumerate(schema.arguments):
            target = inputs[position] if position < len(inputs) else None
            alias = argument.alias_info
            if alias is None or not isinstance(target, Tensor):
                continue
            if alias.is_write:
                return self._written(kind, target, result)
            if position == 0 and returns_view(schema):
                return self._viewed(node, kind, schema, target, args, result)
        return self.celled(result)

    def _written(self, kind: str, target: Tensor, result: Value) -> object:
        """Write the result of an in-place operator to its operand."""
        if not isinstance(result, Expr):
            raise RelayError(f"{kind} changes several tensors in place, which cannot be imported")
        before = target.read()
        if target.base is not None and before in self.ctx.quantized:
            raise RelayError(f"{kind} changes a part of a quantized tensor, which cannot be imported")
        if kind in RESHAPING:
            if target.base is not None:
                raise RelayError(f"{kind} of a view cannot be imported")
            target.write(result)
            return target
        result = self.ctx.cast(result, self.ctx.dtype(before))
        if self.ctx.rank(result) != self.ctx.rank(before):
            raise RelayError(f"{kind} would change the shape of its operand")
        self.context.type(result)
        target.write(result)
        return target

    def _viewed(
        self,
        node: TorchNode,
        kind: str,
        schema: Anything,
        base: Tensor,
        args: Sequence[Value],
        result: Value,
    ) -> object:
        """Return the results of an operator whose results share the storage of its operand."""
        rest = list(args[1:])
        if isinstance(result, list):
            parts = cast("list[Expr]", result)
            return List(
                self.journal,
                [self._part(kind, base, args, at, parts) for at in range(len(parts))],
            )
        if not isinstance(result, Expr):
            return self.celled(result)
        if result is base.read() and kind not in UNCERTAIN:
            return base
        if kind == "aten::to":
            return base if result is base.read() and not copies(schema, args) else self.celled(result)
        if kind in UNCERTAIN:
            view = Tensor(self.journal, result)
            view.relate(base)
            return view
        rule = WRITE_BACK.get(kind)
        conversion = find(*graph.operator_of(node))
        write = None if rule is None else lambda old, new: rule(self.ctx, old, new, rest)

        def derive(expr: Expr) -> Expr:
            assert conversion is not None
            derived = chosen(self.ctx, kind, conversion, [expr])(self.ctx, expr, *rest)
            assert isinstance(derived, Expr)
            self.context.type(derived)
            return derived

        return Tensor(self.journal, result, base, derive, write)

    def _part(
        self, kind: str, base: Tensor, args: Sequence[Value], index: int, parts: Sequence[Expr]
    ) -> Tensor:
        """Return one of the views that a split returns."""
        rest = list(args[1:])
        rule = part_of_split(kind, self.ctx, rest, index, parts)
        write = None if rule is None else lambda old, new: rule(self.ctx, old, new, rest)
        conversion = find(kind)

        def derive(expr: Expr) -> Expr:
            assert conversion is not None
            parts = chosen(self.ctx, kind, conversion, [expr])(self.ctx, expr, *rest)
            derived = cast("list[Expr]", parts)[index]
            self.context.type(derived)
            return derived

        return Tensor(self.journal, parts[index], base, derive, write)

    # -- provenance

    def describe(self, node: TorchNode, schema: Anything, args: Sequence[Value]) -> Node:
        """Return the line of the node list for a TorchScript node."""
        kind = node.kind()
        number = self.names.get(kind, 0)
        self.names[kind] = number + 1
        name = f"{kind}_{number}"
        outputs = [self.named(value.debugName()) for value in node.outputs()]
        attrs: dict[str, object] = {}
        if schema is not None:
            for argument, value in zip(schema.arguments, args):
                if not tensors(value) and value is not None:
                    attrs[argument.name] = value
        else:
            attrs = {f"arg{at}": value for at, value in enumerate(args) if not tensors(value)}
        operands = [self.value_names.get(leaf, "constant") for value in args for leaf in tensors(value)]
        frame = self.frames[-1]
        location = graph.location_of(node) or frame.location
        return Node(kind, name, operands, outputs, attrs, frame.path, location, node)

    def named(self, name: str) -> str:
        """Return a name of a value that no other has: a method that is called twice has its names twice."""
        number = self.names.get(name, 0)
        self.names[name] = number + 1
        return f"{name}_{number}" if number else name

    def record(self, node: Node, results: Sequence[Expr]) -> None:
        """Note the names of a node's results, which the nodes that use them show."""
        names = node.outputs if len(node.outputs) == len(results) else node.outputs[:1] * len(results)
        for name, result in zip(names, results):
            self.value_names.setdefault(result, name)

    def finished(self, node: TorchNode, exprs: Sequence[Expr]) -> list[Expr]:
        """Return the results of a conditional or a loop with types and with the span of its line."""
        described = self.describe(node, None, ())
        span = self.context.source.add(described)
        results = [self.context.finish(expr, span) for expr in exprs]
        self.record(described, results)
        return results

    @contextmanager
    def branching(self) -> Iterator[None]:
        """Import code that runs only under a condition which is known at run time."""
        self.depth_of_branches += 1
        frames = len(self.frames)
        try:
            yield
        finally:
            self.depth_of_branches -= 1
            del self.frames[frames:]

    def rollback(self, count: int) -> None:
        """Remove all but the first `count` lines of the node list and those of weights."""
        self.weights.keep_lines(count)

    # -- modules

    def attribute(self, module: Module, name: str) -> object:
        """Return an attribute of a module: a submodule, a weight, or another value."""
        return self.imported(self.weights.attribute(module, name))

    def imported(self, value: object) -> object:
        """Return a value of PyTorch as one of the import."""
        if isinstance(value, Expr):
            if value not in self.stored:
                if isinstance(value, Var):
                    self.value_names[value] = value.name_hint
                self.stored[value] = Tensor(self.journal, value)
            return self.stored[value]
        if isinstance(value, list):
            return List(self.journal, [self.imported(item) for item in value])
        if isinstance(value, tuple):
            return tuple([self.imported(item) for item in value])
        if isinstance(value, dict):
            return {key: self.imported(item) for key, item in value.items()}
        return value

    def constant(self, node: TorchNode) -> object:
        """Return the value of a `prim::Constant`."""
        if graph.is_function(node):
            return node
        value = graph.constant_of(node)
        result = self.weights.constants(value)
        if isinstance(result, Expr) and graph.is_wrapped_number(value):
            self.ctx.numbers.add(result)
        return self.imported(result)
