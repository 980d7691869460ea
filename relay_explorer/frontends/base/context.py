"""The state of one import: the module under construction, its parameters, and what is known of each value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any as Anything

from ...ir.annotate import set_span
from ...ir.errors import Note, RelayError
from ...ir.expr import Constant, Expr, Function, GlobalVar, Var
from ...ir.module import IRModule
from ...ir.ndarray import NDArray
from ...ir.op import Op
from ...ir.span import Span
from ...ir.tuple_wrapper import TupleWrapper
from ...ir.types import Dim, TensorType, TupleType, Type, TypeCall
from ...ir.walk import children, free_vars, post_order
from ...prelude import Prelude
from ...transform.infrastructure import PassContext
from ...typing.incremental import type_of
from .elements import Elements
from .errors import SHAPE_OPTION, DynamicShapeError
from .folding import folded
from .names import unused
from .source import ModelSource, Node

Results = Expr | TupleWrapper | Sequence[Expr]
Converter = Callable[[Node, list[Expr]], Results]
"""Converts a node: given the expressions of its operands, returns that of its result, or a sequence for
several results."""

_IMPORTING = "while importing node "
_SHOWN = 5  # inputs with dynamic axes that an error names


class Context:
    """One import. Converters ask it for types and known values, and it gives every expression its span.

    `module` receives global functions (loops, the model's own functions) and data types. `params` holds the
    weights by name. `source` is the model's node list. `convert_map` has the user's converters by operator.
    `static_shapes` says how the user gives inputs static shapes, for the help of errors.
    """

    def __init__(
        self,
        name: str,
        framework: str,
        convert_map: Mapping[str, Converter] | None = None,
        static_shapes: str = SHAPE_OPTION,
    ) -> None:
        self.source = ModelSource(name, framework)
        self.module = IRModule(source=self.source)
        self.params: dict[str, NDArray] = {}
        self.convert_map: dict[str, Converter] = dict(convert_map or {})
        self.elements = Elements(self.type)
        self._static_shapes = static_shapes
        self._dynamic_inputs: list[str] = []
        self._prelude: Prelude | None = None
        self._frozen: set[str] = set()  # weights of which a converter has taken the value
        self._fills_spans = bool(PassContext.current().option("relay.frontend.fill_span", True))

    # -- what is known of a value

    def type(self, expr: Expr) -> Type:
        """Return the type of an expression; raise a TypeInferenceError where it is not well typed."""
        return type_of(expr, self.module)

    def tensor(self, expr: Expr) -> TensorType:
        """Return the type of an expression that must be a tensor; else raise a RelayError."""
        type_ = self.type(expr)
        if not isinstance(type_, TensorType):
            raise RelayError(f"a tensor is required here, but the value has type {type_}")
        return type_

    def shape(self, expr: Expr) -> tuple[Dim, ...]:
        """Return a tensor's shape; a dimension is an int, `?` (Any), or a named size."""
        return self.tensor(expr).shape

    def static_shape(self, expr: Expr) -> tuple[int, ...]:
        """Return a tensor's shape, which must be static; else raise a RelayError."""
        type_ = self.tensor(expr)
        if not type_.is_static:
            raise DynamicShapeError(f"the shape must be known at compile time, but the type is {type_}")
        return type_.concrete_shape

    def dtype(self, expr: Expr) -> str:
        """Return a tensor's element type."""
        return self.tensor(expr).dtype

    def rank(self, expr: Expr) -> int:
        """Return the number of a tensor's axes."""
        return len(self.tensor(expr).shape)

    def constant(self, expr: Expr) -> Anything:
        """Return the value of an expression as a read-only NumPy array if it is known at compile time, else
        None.
        """
        value = folded(expr, self.type)
        return value.data.shared() if isinstance(value, Constant) else None

    def known(self, expr: Expr) -> tuple[Dim, ...] | None:
        """Return the elements of an integer scalar or vector, such as a shape, as far as they are known.

        An element is an int, a named size, or `?`. The result is None where nothing is known of it.
        """
        return self.elements.of(expr)

    # -- building

    def variable(self, name: str, type_: Type, op: str = "input") -> Var:
        """Create a parameter of `@main`; the node list shows it as a node of kind `op`."""
        if op == "input" and not _is_static(type_):
            self._dynamic_inputs.append(name)
        return Var(name, type_, self.source.add(Node(op, name, (), (name,))))

    def weight(self, name: str, value: NDArray, freeze: bool) -> Expr:
        """Create a weight: a constant if it is to `freeze`, else a parameter whose value is in `params`."""
        if freeze:
            return Constant(value, self.source.add(Node("weight", name, (), (name,))))
        self.params[name] = value
        return self.variable(name, TensorType.of(value.shape, value.dtype), "weight")

    def frozen(self, expr: Expr) -> Expr:
        """Return the constant value of a weight or of another expression that is known at compile time; other
        expressions are returned as they are.
        """
        if isinstance(expr, Var) and expr.name_hint in self.params:
            self._frozen.add(expr.name_hint)
            return Constant(self.params[expr.name_hint])
        return folded(expr, self.type)

    @property
    def prelude(self) -> Prelude:
        """Relay's prelude (lists, options, tensor arrays), added to the module at the first use."""
        if self._prelude is None:
            self._prelude = Prelude(self.module)
        return self._prelude

    def convert(self, node: Node, inputs: list[Expr], converter: Converter | None) -> tuple[Expr, ...]:
        """Convert a node and return its results, with constants folded, types inferred and spans set.

        The user's converter in `convert_map` takes precedence. If the conversion fails, the error names the
        node.
        """
        span = self.source.add(node)
        converter = self.convert_map.get(node.op, converter)
        assert converter is not None, f"{node.op} has been checked to have a converter"
        try:
            # Folding skips parts that have a span, so all results are folded before any is marked.
            results = tuple([self.finish(result, None) for result in results_of(converter(node, inputs))])
            for result in results:
                mark(result, span)
            node.outcome = _outcome(results, span)
            return results
        except RelayError as error:
            if isinstance(error, DynamicShapeError) and not error.help:
                error.help = (self._static_help(node),)
            raise located(error, node, span) from error
        except RecursionError:
            raise
        except (
            ValueError, TypeError, LookupError, AttributeError, AssertionError, ArithmeticError,
        ) as error:  # fmt: skip
            raise located(
                RelayError(f"the node cannot be imported: {error or type(error).__name__}"), node, span
            ) from error

    def _static_help(self, node: Node) -> str:
        """Return what to do about a shape that a node's converter needs to be static."""
        names = self._dynamic_inputs
        if not names:
            return f"the inputs have static shapes already: give a converter of {node.op} in convert_map"
        shown = ", ".join(f"`{name}`" for name in names[:_SHOWN]) + (" …" if len(names) > _SHOWN else "")
        return (
            f"give {shown} {'static shapes' if len(names) > 1 else 'a static shape'}: {self._static_shapes}"
        )

    def finish(self, expr: Expr, span: Span | None) -> Expr:
        """Return a new expression with its type inferred and every new part pointing to `span`; if it is
        small and its value is known at compile time, return that as a constant.
        """
        self.type(expr)
        result = folded(expr, self.type)
        if span is not None:
            mark(result, span)
        return result

    def unique(self, name: str) -> str:
        """Return a name, derived from `name`, that no global function of the module has."""
        return unused(name or "function", self.module)

    def define(self, name: str, function: Function) -> GlobalVar:
        """Add a global function under a name that is made unique; return its variable."""
        var = GlobalVar(self.unique(name))
        self.module[var] = function
        return var

    def main(self, params: Sequence[Var], body: Expr, ret_type: Type | None = None) -> IRModule:
        """Return the module with `@main`, whose parameters are `params` and the free variables of `body` that
        are weights.
        """
        named = set(params)
        weights = [var for var in free_vars(body) if var not in named]
        self.module["main"] = Function([*params, *weights], body, ret_type)
        for name in self._frozen.difference([var.name_hint for var in weights]):
            del self.params[name]  # nothing but its value is used
        if not self._fills_spans:
            self._remove_spans()
        return self.module

    def _remove_spans(self) -> None:
        """Remove the spans, which are set while importing because loops are built from them."""
        for function in self.module.functions.values():
            for expr in post_order(function):
                if expr.span is not None and expr.span.source is self.source:
                    set_span(expr, None)


def results_of(results: Results) -> tuple[Expr, ...]:
    """Return the results of a converter as a tuple."""
    if isinstance(results, TupleWrapper):
        return tuple(results)
    if isinstance(results, Expr):
        return (results,)
    return tuple(results)


def _is_static(type_: Type) -> bool:
    """Whether all shapes in a type are static."""
    match type_:
        case TensorType():
            return type_.is_static
        case TupleType():
            return all(map(_is_static, type_.fields))
        case TypeCall():
            return all(map(_is_static, type_.args))
    return True


def _outcome(results: Sequence[Expr], span: Span) -> str:
    """Return what became of a node (`Node.outcome`)."""
    if all(isinstance(result, Constant) for result in results):
        return "constant"
    return "" if any(result.span is None or result.span is span for result in results) else "same"


def mark(expr: Expr, span: Span) -> None:
    """Set the span of the expressions in `expr` that have none yet.

    Operands that are already marked end the walk, so marking a whole model takes linear time.
    """
    pending = [expr]
    while pending:
        current = pending.pop()
        if current.span is not None or isinstance(current, (Op, GlobalVar)):
            continue
        set_span(current, span)
        pending += children(current)


def located(error: RelayError, node: Node, span: Span) -> RelayError:
    """Return an error of the same kind that names the node at which the import failed."""
    if any(note.message.startswith(_IMPORTING) for note in error.notes):
        return error  # an inner node, of a subgraph, is already named
    error.notes = (*error.notes, Note(f"{_IMPORTING}`{node.name}` ({node.op})", span))
    return error
