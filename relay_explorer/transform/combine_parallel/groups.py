"""Shared parts of the passes that combine parallel calls.

The calls of a group, its *branches*, read the same data with different weights, or have the same weight for
different data. One call computes all of them. The element-wise operators that follow the branches are
combined as well, level by level, as long as all branches apply the same ones. Finally each branch slices its
part out of the result.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Annotated

from ...ir.annotate import set_origin
from ...ir.declaration import Trait
from ...ir.expr import Call, Expr, Function, Tuple
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
from ...ir.op import Op, OpPattern
from ...ir.rewrites import emit_rewrite
from ...ir.scopes import Layout, NoNames
from ...ir.substitute import substitute
from ...ir.typed import tensor_type
from ...ir.types import TensorType
from ...ir.walk import children, post_order
from ..infrastructure import AtLeast, Contract, PassContext
from ..infrastructure.function_passes import TypedPass, rewritten
from ..tools.typed_rewrite import call


@dataclass(frozen=True)
class CombineParallel(TypedPass, abstract=True):
    """Base of passes that combine calls of `operator` where at least `min_num_branches` can be combined."""

    opt_level = 4
    # A kernel that works on a larger matrix may accumulate in another order.
    contract = Contract(error=1e-5)
    operator = ""
    shared = 0  # the argument that the branches have in common: 0 is the data, 1 the weight
    rule = "Calls of one operator on the same data with different weights are combined into one."

    min_num_branches: Annotated[int, AtLeast(1)] = 3

    def transform_function(self, function: Function, mod: IRModule, ctx: PassContext) -> Function:
        return rewritten(function, _Combiner(function, self).run())

    def key(self, call: Call) -> Hashable | None:
        """Return the key of a call: calls that share an input and have equal keys can be combined. None for a
        call that cannot be combined.
        """
        raise NotImplementedError

    def sets(self, calls: list[Call], order: Sequence[Expr]) -> list[list[Call]]:
        """Split calls that share an input and have equal keys into groups that may become one call each;
        `order` is the post-order of the function from the first of the calls to the last.
        """
        return [calls]

    def group(self, calls: Sequence[Call]) -> Group:
        """Return the combined call of a group."""
        raise NotImplementedError


class Group:
    """Branches that are combined as far as `value`, which computes the calls `outputs`."""

    def __init__(self, calls: Sequence[Call], value: Call) -> None:
        self.outputs = tuple(calls)
        self.value = value
        set_origin(value, self.outputs)
        self.inputs: list[Expr] = [arg for call in calls for arg in call.args]  # of the combined value

    def followed(self, users: Sequence[Call], place: int) -> Call | None:
        """Combine the calls `users`, which read the outputs as their argument number `place`; return None if
        that is impossible.
        """
        raise NotImplementedError

    def parts(self) -> list[Expr]:
        """Return the replacement of each output: its part of the combined value."""
        raise NotImplementedError


class _Combiner:
    """Finds the groups in one function, combines each, and replaces the branches by their parts of the
    result.
    """

    def __init__(self, root: Function, step: CombineParallel) -> None:
        self.root = root
        self.step = step
        self.order = post_order(root)
        self.position = {node: number for number, node in enumerate(self.order)}
        self.scope_of = Layout(root, NoNames()).scope_of
        self.users: dict[Expr, list[Expr]] = {}
        for node in self.order:
            for part in children(node):
                self.users.setdefault(part, []).append(node)
        self.inputs: dict[Expr, list[Expr]] = {}  # by combined output: the inputs of its whole group
        self.floor = list(range(len(self.order)))  # see `_lowest`
        self.replacements: dict[Expr, Expr] = {}

    def run(self) -> Expr:
        groups: dict[Hashable, list[Call]] = {}
        for node in self.order:
            if isinstance(node, Call) and isinstance(node.op, Op) and node.op.name == self.step.operator:
                key = self.step.key(node)
                if key is not None:
                    # Calls in the same scope can use the same values.
                    shared = node.args[self.step.shared], id(self.scope_of[id(node)])
                    groups.setdefault((*shared, key), []).append(node)
        least, own = self.step.min_num_branches, 1 - self.step.shared
        for calls in groups.values():
            if len(calls) < least:
                continue
            for chosen in self.step.sets(calls, self._between(calls)):
                if len(chosen) >= least and not self._needs([c.args[own] for c in chosen], chosen):
                    self._combine(chosen)
        return substitute(self.root, self.replacements)

    def _between(self, calls: list[Call]) -> Sequence[Expr]:
        positions = [self.position[call] for call in calls]
        return self.order[min(positions) : max(positions) + 1]

    def _combine(self, calls: list[Call]) -> None:
        group = self.step.group(calls)
        emit_rewrite(self._combine, calls, group.value, sentence=self.step.rule)
        while (users := self._next(group)) is not None:
            place = users[0].args.index(group.outputs[0])
            outputs = set(group.outputs)
            others = [arg for user in users for arg in user.args if arg not in outputs]
            value = group.followed(users, place) if not self._needs(others, users) else None
            if value is None:
                break
            emit_rewrite(
                self._combine,
                users,
                value,
                sentence="The element-wise operators that follow the branches are combined as well.",
            )
            set_origin(value, users)
            group.outputs, group.value = users, value
            group.inputs += others
        for output, part in zip(group.outputs, group.parts(), strict=True):
            set_origin(part, (output,))
            emit_rewrite(
                self._combine, output, part, sentence="Each branch takes its part of the combined result."
            )
            self.replacements[output] = part
            self.inputs[output] = group.inputs
        self._span([self.position[output] for output in group.outputs])

    def _next(self, group: Group) -> tuple[Call, ...] | None:
        """Return the only users of the outputs, if they are element-wise calls of one operator with equal
        attributes and equally many arguments.
        """
        next_calls = []
        for output in group.outputs:
            users = self.users[output]
            user = users[0]
            if len(users) != 1 or not isinstance(user, Call) or not _is_pointwise(user):
                return None
            if self.scope_of[id(user)] is not self.scope_of[id(output)]:
                return None
            next_calls.append(user)
        first = next_calls[0]
        place = first.args.index(group.outputs[0])
        for user, output in zip(next_calls, group.outputs):
            same = user.op is first.op and user.attrs == first.attrs and len(user.args) == len(first.args)
            if not same or user.args[place] is not output:
                return None
        return tuple(next_calls) if len(set(next_calls)) == len(next_calls) else None

    def _needs(self, starts: Iterable[Expr], targets: Sequence[Expr]) -> bool:
        """Whether one of `starts` is computed from one of `targets`; if so, the targets cannot become one
        call.
        """
        targets_set = set(targets)
        floor = self._lowest(min(self.position[target] for target in targets))
        visited: set[Expr] = set()
        pending = list(starts)
        while pending:
            node = pending.pop()
            if node in targets_set:
                return True
            if node not in visited and self.position[node] >= floor:
                visited.add(node)
                pending += self.inputs.get(node) or children(node)
        return False

    def _lowest(self, position: int) -> int:
        """Return the lowest position such that nothing before it in the order can depend on an expression at
        or after `position`. In a post-order that is the position itself, but all outputs of a group depend on
        what any one of them depends on.
        """
        path = []
        while self.floor[position] != position:
            path.append(position)
            position = self.floor[position]
        for passed in path:
            self.floor[passed] = position
        return position

    def _span(self, positions: Sequence[int]) -> None:
        """Merge the range between these positions, because the outputs of a group depend on all of its
        inputs.
        """
        first, at = min(positions), self._lowest(max(positions))
        while at > first:
            self.floor[at] = at - 1
            at = self._lowest(at)


def _is_pointwise(node: Call) -> bool:
    op = node.op
    if not isinstance(op, Op) or op.pattern > OpPattern.BROADCAST or op.has(Trait.DISPLACED):
        return False
    types = [part.checked_type for part in (node, *node.args)]
    return all(isinstance(type_, TensorType) and type_.is_static for type_ in types)


class Concatenated(Group):
    """Branches whose results are concatenated along one axis. `from_end` is its position counted from the
    last axis, which is 1.
    """

    def __init__(self, calls: Sequence[Call], value: Call, sizes: Sequence[int], from_end: int) -> None:
        super().__init__(calls, value)
        self.sizes = tuple(sizes)  # the extent of each branch along the axis
        self.from_end = from_end

    def followed(self, users: Sequence[Call], place: int) -> Call | None:
        first = users[0]
        assert isinstance(first.op, Op)
        rank = len(tensor_type(first.args[place]).shape)
        from_end = self.from_end
        if first.op.name == "expand_dims":
            assert first.attrs is not None
            axis, count = first.attrs["axis"], first.attrs["num_newaxis"]
            if axis % (rank + 1) > rank - from_end:
                from_end += count
        elif not _is_along(first, rank - from_end, rank):
            return None
        for user, size in zip(users, self.sizes):
            shape = tensor_type(user).shape
            if len(shape) < from_end or shape[-from_end] != size:
                return None
        args: list[Expr] = []
        for number in range(len(first.args)):
            arg = self.value if number == place else self.side_by_side([u.args[number] for u in users])
            if arg is None:
                return None
            args.append(arg)
        self.from_end = from_end
        return Call(first.op, args, first.attrs)

    def side_by_side(self, args: Sequence[Expr]) -> Expr | None:
        """Concatenate the other arguments of the branches, so that each part aligns with its branch; None if
        they do not have the extents of the results along the axis.
        """
        shapes = [tensor_type(arg).shape for arg in args]
        axis = len(shapes[0]) - self.from_end
        if axis < 0 or not differ_along(args, axis):
            return None
        if any(shape[axis] != size for shape, size in zip(shapes, self.sizes)):
            return None
        return concatenated(args, self.named(axis, len(shapes[0])))

    def named(self, axis: int, rank: int) -> int:
        """Return the axis in the form that the attributes use."""
        return axis

    def parts(self) -> list[Expr]:
        result: list[Expr] = []
        begin = 0
        for output, size in zip(self.outputs, self.sizes):
            rank = len(tensor_type(output).shape)
            axis = rank - self.from_end
            result.append(self.slice_of(axis, rank, begin, size))
            begin += size
        return result

    def slice_of(self, axis: int, rank: int, begin: int, size: int) -> Expr:
        """Slice the value along `axis`; the axes before it are kept whole."""
        return _slice(self.value, axis, axis + 1, begin, size)


class ConcatenatedInFull(Concatenated):
    """Like `Concatenated`, but the slices name every axis."""

    def slice_of(self, axis: int, rank: int, begin: int, size: int) -> Expr:
        return _slice(self.value, axis, rank, begin, size)


def _slice(value: Expr, axis: int, named: int, begin: int, size: int) -> Expr:
    first, length = [0] * named, [-1] * named
    first[axis], length[axis] = begin, size
    return call("strided_slice", value, begin=first, end=length, strides=[1] * named, slice_mode="size")


def _is_along(user: Call, axis: int, rank: int) -> bool:
    """Whether an operator that names an axis, such as `nn.bias_add`, names this one."""
    named = user.attrs["axis"] if user.attrs is not None and "axis" in user.attrs else None
    return named is None or named % rank == axis


def differ_along(args: Sequence[Expr], axis: int) -> bool:
    """Whether tensors differ at most in their extent along `axis`."""
    types = [tensor_type(arg) for arg in args]
    kinds = {(t.dtype, len(t.shape), t.shape[:axis], t.shape[axis + 1 :]) for t in types}
    return len(kinds) == 1


def concatenated(tensors: Sequence[Expr], axis: int) -> Call:
    """Concatenate tensors along an axis."""
    return call("concatenate", Tuple(tensors), axis=axis)


def stacked(tensors: Sequence[Expr]) -> Call:
    """Stack tensors along a new first axis."""
    return call("stack", Tuple(tensors), axis=0)
