"""Lists whose length is known only at run time, as values of the prelude's `List`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any as Anything
from typing import cast

from ...ir import Call, Clause, Match, PatternConstructor, PatternVar, const
from ...ir.errors import RelayError
from ...ir.expr import Expr, Function, GlobalVar, Var
from ...ir.types import Any, TensorType, Type, TypeCall
from ...ops import namespaces as relay
from ..aten import Aten
from ..aten.values import Int, Value
from ..base.errors import DynamicShapeError
from .cells import Computed, List
from .structure import ListSpec, TupleSpec, as_list, joined


class Lists:
    """Builds the expressions of lists."""

    def __init__(self, ctx: Aten) -> None:
        self.ctx = ctx
        self.packer: Anything = None  # set by the importer: a Packer, which needs this object
        self._stackers: dict[tuple[Type, int, bool], GlobalVar] = {}

    @property
    def prelude(self) -> Anything:
        """The prelude of the module."""
        return self.ctx.context.prelude

    def expression(self, value: List, spec: ListSpec) -> Expr:
        """Return a list as an expression of type `List[…]`."""
        if isinstance(value.state, Computed):
            return value.state.expr
        return self._onto(value.items, self._empty(spec), spec)

    def _onto(self, items: Sequence[object], rest: Expr, spec: ListSpec) -> Expr:
        """Return a list that begins with items and goes on with `rest`."""
        _, cons, _ = self.prelude.mod.get_type("List")
        for item in reversed(items):
            assert spec.element is not None
            rest = cons(self.packer.packed(item, spec.element), rest)
        return rest

    def _empty(self, spec: ListSpec) -> Expr:
        """Return the empty list, with the type of its elements written down."""
        if spec.type is None:
            raise RelayError("the element type of an empty list is unknown")
        _, _, nil = self.prelude.mod.get_type("List")
        return Call(nil, [], None, [spec.type])

    def append(self, value: List, item: object) -> None:
        """Append an element to a list, in place."""
        if value.is_known:
            value.change((*value.items, item))
            return
        self.extend(value, List(value.journal, [item]))

    def extend(self, value: List, more: List) -> None:
        """Append the elements of a list to another, in place."""
        value.change(self.concatenated(value, more).state)

    def concatenated(self, first: List, second: List) -> List:
        """Return a list with the elements of both."""
        if first.is_known and second.is_known:
            return List(first.journal, [*first.items, *second.items])
        spec = joined(self._list_spec(first), self._list_spec(second))
        assert isinstance(spec, ListSpec)
        if first.is_known:
            result = self._onto(first.items, self.expression(second, spec), spec)
        else:
            result = self.prelude.concat(self.expression(first, spec), self.expression(second, spec))
        return List.computed(first.journal, result, spec)

    def _list_spec(self, value: List) -> ListSpec:
        spec = self.packer.spec_of(value)
        return as_list(spec) if isinstance(spec, TupleSpec) else cast(ListSpec, spec)

    def item(self, value: List, index: Int) -> object:
        """Return the element at an index."""
        expr, spec = self._parts(value)
        if spec.element is None:
            raise RelayError("the program reads an element of an empty list")
        position = self.ctx.tensor(index, "int32")
        if (isinstance(index, int) and index < 0) or not isinstance(index, int):
            length = self.prelude.length(expr)
            position = relay.where(
                relay.less(position, const(0, "int32")), relay.add(position, length), position
            )
        return self.packer.unpacked(self.prelude.nth(expr, position), spec.element)

    def replace(self, value: List, index: Int, item: object) -> None:
        """Replace the element at an index, in place."""
        expr, spec = self._parts(value)
        if spec.element is None:
            raise RelayError("the program replaces an element of an empty list")
        if isinstance(index, int) and index < 0:
            raise RelayError(
                "an element of a list whose length is known only at run time can be replaced only at a "
                "non-negative index"
            )
        packed = self.packer.packed(item, joined(spec.element, self.packer.spec_of(item)))
        value.change(Computed(self.prelude.update(expr, self.ctx.tensor(index, "int32"), packed), spec))

    def length(self, value: List) -> Value:
        """Return the number of elements."""
        if value.is_known:
            return len(value.items)
        return self.ctx.scalar(self.prelude.length(self._parts(value)[0]))

    def reversed(self, value: List) -> List:
        """Return the elements in reverse order."""
        if value.is_known:
            return List(value.journal, value.items[::-1])
        expr, spec = self._parts(value)
        return List.computed(value.journal, self.prelude.rev(expr), spec)

    def _parts(self, value: List) -> tuple[Expr, ListSpec]:
        assert isinstance(value.state, Computed)
        return value.state.expr, value.state.spec

    def joined(self, value: List, axis: int, stack: bool) -> Expr:
        """Return the elements of a list of tensors, stacked along a new axis or joined along an old one."""
        expr = self._parts(value)[0]
        type_ = self.ctx.context.type(expr)
        element = type_.args[0] if isinstance(type_, TypeCall) else None
        if not isinstance(element, TensorType):
            raise RelayError(f"cat and stack require a list of tensors, not of elements of type {element}")
        axis = self.ctx.axis(axis, len(element.shape) + (1 if stack else 0))
        key = (element, axis, stack)
        if key not in self._stackers:
            self._stackers[key] = self._stacker(element, axis, stack)
        shape: list[Anything] = list(element.shape)
        if stack:
            shape.insert(axis, 0)
        else:
            shape[axis] = 0
        if not all(isinstance(extent, int) for extent in shape):
            raise DynamicShapeError(
                "cat and stack of a list whose length is known only at run time require tensors of static "
                "shape"
            )
        return Call(self._stackers[key], [expr, relay.zeros(tuple(shape), element.dtype)])

    def _stacker(self, element: TensorType, axis: int, stack: bool) -> GlobalVar:
        """Define the function that appends the elements of a list to a tensor, one at a time."""
        list_var, cons, nil = self.prelude.mod.get_type("List")
        shape: list[Anything] = list(element.shape)
        if stack:
            shape.insert(axis, Any())
        else:
            shape[axis] = Any()
        result = TensorType(shape, element.dtype)
        context = self.ctx.context
        items, done = Var("items", TypeCall(list_var, [element])), Var("done", result)
        first, rest = Var("first", element), Var("rest", TypeCall(list_var, [element]))
        name = GlobalVar(context.unique("stack_list" if stack else "join_list"))
        part = relay.expand_dims(first, axis) if stack else first
        following = Call(name, [rest, relay.concatenate([done, part], axis)])
        body = Match(
            items,
            [
                Clause(PatternConstructor(cons, [PatternVar(first), PatternVar(rest)]), following),
                Clause(PatternConstructor(nil, []), done),
            ],
        )
        context.module[name] = Function([items, done], body, result)
        return name
