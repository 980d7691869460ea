"""Composes the lowerings of a primitive function's operators (a group that FuseOps fused) into one program of
tensor expressions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any as Anything

from ..ir.errors import RelayError
from ..ir.expr import Call, Constant, Expr, Function, Tuple, TupleGetItem, Var
from ..ir.lazy_dataclass import dataclass
from ..ir.module import IRModule
from ..ir.nest import leaves, nested
from ..ir.op import Op, OpPattern
from ..ir.types import TensorType, Type
from ..ir.walk import post_order
from ..ops.te.lowered import Lowered, Lowering, Tensors
from ..ops.te.sizes import Sizes
from ..typing import infer_types
from . import tvm_types
from .lowering import is_users, lowering_of, tensor_types
from .require import tvm
from .targets.target import Target


@dataclass(frozen=True)
class Stage:
    """The result of composing one call: `ops`, the TE operations in order, and `blocks`, the names of their
    blocks in the kernel. `tensors` are the tensors of the call's result.
    """

    call: Call
    tensors: tuple[Anything, ...]
    ops: tuple[Anything, ...]
    blocks: tuple[str, ...] = ()

    @property
    def op(self) -> Op:
        assert isinstance(self.call.op, Op)
        return self.call.op


@dataclass(frozen=True)
class Composed:
    """A kernel before it is scheduled.

    `inputs` and `outputs` are te.Tensors in the order of the kernel's arguments, with tuples flattened;
    `stages` are the function's calls in the order in which they are computed. `sizes` holds the variables of
    dynamic sizes.
    """

    name: str
    function: Function
    target: Target
    inputs: tuple[Anything, ...]
    outputs: tuple[Anything, ...]
    stages: tuple[Stage, ...]
    sizes: Sizes

    @cached_property
    def prim_func(self) -> tvm_types.PrimFunc:
        """The unscheduled loops of the tensor expressions."""
        return _prim_func(self.name, [*self.inputs, *self.outputs])

    @property
    def mod(self) -> tvm_types.IRModule:
        return tvm().IRModule({self.name: self.prim_func})

    @cached_property
    def anchor(self) -> Stage | None:
        """The call that determines the schedule: the last one with the most complex pattern; None if the
        kernel has no calls and only copies its arguments.
        """
        worst = max([stage.op.pattern for stage in self.stages], default=None)
        return next((s for s in reversed(self.stages) if s.op.pattern == worst), None)

    @property
    def pattern(self) -> int:
        """The anchor's OpPattern."""
        return self.anchor.op.pattern if self.anchor is not None else OpPattern.INJECTIVE

    @property
    def is_static(self) -> bool:
        """Whether all sizes are static."""
        types = [type_ for p in self.function.params for type_ in tensor_types(p.checked_type)]
        return all(t.is_static for t in [*types, *tensor_types(self.function.body.checked_type)])

    def stage_of(self, block: str) -> Stage | None:
        """Return the stage that a block belongs to, by the block's name before scheduling."""
        return next((stage for stage in self.stages if block in stage.blocks), None)


def compose(function: Function, target: Target, name: str = "kernel") -> Composed:
    """Build the tensor expressions of a primitive function. Its types are inferred if they are missing. Raise
    a RelayError if a dynamic size would have to be static.
    """
    if function._checked_type is None or function.body._checked_type is None:
        function = infer_types(IRModule.from_expr(function.without_attr("global_symbol")))["main"]
    parts = [*function.params, function.body]
    if all(t.is_static for part in parts for t in tensor_types(part.checked_type)):
        return _composed(function, target, name)
    try:
        return _composed(function, target, name)
    except RelayError:
        raise
    except Exception as problem:  # some lowerings assume that sizes are integers
        ops = [
            node.op.name
            for node in post_order(function.body)
            if isinstance(node, Call) and isinstance(node.op, Op)
        ]
        raise RelayError(
            f"the kernel of `{', '.join(ops)[:200]}` needs sizes that are known only when the program runs",
            function.span,
            help=[
                "give the tensors sizes in the program's types, in place of `?`",
                f"the lowering failed with {type(problem).__name__}: {problem}".partition("\n")[0][:300],
            ],
        ) from problem


def _composed(function: Function, target: Target, name: str) -> Composed:
    composer = _Composer(target)
    composer.sizes.bind([type_ for param in function.params for type_ in tensor_types(param.checked_type)])
    inputs: list[Anything] = []
    for param in function.params:
        value = composer.placeholder(param.name_hint, param.checked_type)
        composer.values[id(param)] = value
        inputs += leaves(value)
    for node in post_order(function.body):
        composer.visit(node)
    outputs = composer.results(leaves(composer.values[id(function.body)]), inputs)
    stages = _with_blocks(name, composer.stages, [*inputs, *outputs])
    return Composed(name, function, target, tuple(inputs), tuple(outputs), tuple(stages), composer.sizes)


class _Composer:
    """Composes the nodes of a function in post-order; `values` maps each node's id to its tensors."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.te = tvm().te
        self.sizes = Sizes()
        self.values: dict[int, Tensors] = {}
        self.stages: list[Stage] = []
        self.known: set[Anything] = set()  # the TE operations so far

    def placeholder(self, name: str, type_: Type) -> Tensors:
        tensors = tensor_types(type_)
        names = [name] if isinstance(type_, TensorType) else [f"{name}_{k}" for k in range(len(tensors))]
        placeholders = [self.te.placeholder(self.sizes.shape(t), t.dtype, n) for t, n in zip(tensors, names)]
        self.known |= {tensor.op for tensor in placeholders}
        return nested(iter(placeholders), type_)

    def visit(self, node: Expr) -> None:
        match node:
            case Call(op=Op()):
                self.values[id(node)] = self._call(node)
            case Tuple():
                self.values[id(node)] = tuple([self.values[id(f)] for f in node.fields])
            case TupleGetItem():
                self.values[id(node)] = self.values[id(node.tuple_value)][node.index]
            case Constant():
                self.values[id(node)] = self._constant(node)
            case Var() if id(node) not in self.values:
                raise RelayError(
                    f"a kernel uses the variable `%{node.name_hint}`, which is defined outside it", node.span
                )
            case Var() | Op():
                pass
            case _:
                raise RelayError(f"a kernel cannot contain a {type(node).__name__}", node.span)

    def _call(self, call: Call) -> Tensors:
        assert isinstance(call.op, Op)
        lowering = lowering_of(call.op)
        if lowering is None:
            raise RelayError(
                f"`{call.op.name}` runs on the host, so it cannot be part of a kernel", call.span
            )
        inputs = [self.values[id(arg)] for arg in call.args]
        types = tensor_types(call.checked_type)
        if types and all(0 in type_.shape for type_ in types):
            tensors = [self._empty(type_) for type_ in types]
        else:
            result = self._lowered(lowering, call, inputs)
            tensors = [result] if hasattr(result, "op") else list(result)
        self._check(call, tensors)
        ops = [op for op in operations(tensors) if op not in self.known]
        self.known.update(ops)
        self.stages.append(Stage(call, tuple(tensors), tuple(ops)))
        return nested(iter(tensors), call.checked_type)

    def _lowered(self, lowering: Lowering, call: Call, inputs: Sequence[Tensors]) -> Anything:
        """Apply a lowering. If a user's lowering fails on static sizes, raise a RelayError that names the
        operator and the operands' types.
        """
        try:
            return lowering(Lowered(call, inputs, self.target, self.sizes))
        except RelayError:
            raise
        except Exception as problem:
            types = [type_ for arg in call.args for type_ in tensor_types(arg.checked_type)]
            op = call.op
            if not isinstance(op, Op) or not is_users(op) or not all(type_.is_static for type_ in types):
                raise
            raise RelayError(
                f"the lowering of `{op.name}` fails on {', '.join(map(str, types)) or 'no operands'}: "
                f"{type(problem).__name__}: {str(problem).strip():.300}",
                call.span,
                help=["reject in its type relation what its lowering cannot compute, or extend the lowering"],
            ) from problem

    def _empty(self, type_: TensorType) -> Anything:
        """Return a tensor without elements; no lowering is needed, because nothing is computed."""
        zero = tvm().tirx.const(0, type_.dtype)
        return self.te.compute(self.sizes.shape(type_), lambda *_: zero, name="nothing")

    def _check(self, call: Call, tensors: Sequence[Anything]) -> None:
        """Check that a lowering produces tensors of the type that the operator's relation computed."""
        expected = tensor_types(call.checked_type)
        right = len(expected) == len(tensors) and all(map(_fits, tensors, expected))
        if not right:
            produced = ", ".join(f"Tensor[({', '.join(map(str, t.shape))}), {t.dtype}]" for t in tensors)
            raise RelayError(
                f"the lowering of `{call.op.name}` produces {produced or 'nothing'}, but its type is "  # type: ignore[attr-defined]  # it is an operator
                f"`{call.checked_type}`",
                call.span,
            )

    def _constant(self, node: Constant) -> Anything:
        """Embed a constant of one element in the code. Raise a RelayError for larger constants."""
        data = node.data
        dtype = data.dtype
        const = tvm().tirx.const
        values = data.values()
        if len(values) != 1:
            raise RelayError(
                f"a kernel cannot contain a constant of shape {data.shape}, only scalars",
                node.span,
                help=["fuse without `relay.FuseOps.link_params`"],
            )
        return self.te.compute(data.shape, lambda *_: const(values[0], dtype), name="constant")

    def results(self, tensors: list[Anything], inputs: list[Anything]) -> list[Anything]:
        """Return the kernel's outputs; a tensor that is an input or is returned twice is copied."""
        outputs: list[Anything] = []
        for tensor in tensors:
            if any(tensor.same_as(other) for other in (*inputs, *outputs)):
                tensor = self._copied(tensor)
            outputs.append(tensor)
        return outputs

    def _copied(self, tensor: Anything) -> Anything:
        return self.te.compute(tensor.shape, lambda *i: tensor(*i), name="copy")


def _fits(tensor: Anything, type_: TensorType) -> bool:
    """Whether a tensor has the type, as far as its sizes are static."""
    if tensor.dtype != type_.dtype or len(tensor.shape) != len(type_.shape):
        return False
    return all(
        not isinstance(want, int) or not hasattr(have, "value") or int(have) == want
        for have, want in zip(tensor.shape, type_.shape)
    )


def operations(tensors: Sequence[Anything]) -> list[Anything]:
    """Return the TE operations that compute tensors, in topological order: each once, after those that it
    reads. TVM emits their blocks in this order.
    """
    done: list[Anything] = []
    visited: set[Anything] = set()
    for tensor in tensors:
        stack = [(tensor.op, False)]
        while stack:
            op, ready = stack.pop()
            if ready:
                done.append(op)
            elif op not in visited:
                visited.add(op)
                stack.append((op, True))
                stack += [(t.op, False) for t in reversed(list(op.input_tensors)) if t.op not in visited]
    return done


def _prim_func(name: str, arguments: list[Anything]) -> tvm_types.PrimFunc:
    """Create the loops that compute tensors. A single block without loops, which TVM would mistake for the
    root block, is wrapped in a root block.
    """
    func: tvm_types.PrimFunc
    func = tvm().te.create_prim_func(arguments, index_dtype_override=_index_type(arguments))
    func = func.with_attr("global_symbol", name)
    s_tir = tvm().s_tir
    if isinstance(func.body, s_tir.SBlockRealize) and func.body.block.name_hint != "root":
        root = s_tir.SBlock([], [], [], "root", func.body)
        return func.with_body(s_tir.SBlockRealize([], True, root))
    return func


def _index_type(arguments: list[Anything]) -> str:
    """Return the integer type of all loop variables: int64 if a size is dynamic or exceeds int32. Lowerings
    mix int32 and int64, and TVM does not fuse loops of different types.
    """
    largest = 1
    for op in operations(arguments):
        for number in range(op.num_outputs):
            count = 1
            for size in op.output(number).shape:
                if not isinstance(size, (int, tvm().tirx.IntImm)):
                    return "int64"
                count *= int(size)
            largest = max(largest, count)
    return "int32" if largest < 1 << 31 else "int64"


def _with_blocks(name: str, stages: list[Stage], arguments: list[Anything]) -> list[Stage]:
    """Return the stages with the names of their blocks. TVM creates blocks in the order of `operations`: one
    for an operation, but one per output for an operation with several outputs that is not a reduction. It
    makes equal names unique by a number.
    """
    func = _prim_func(name, arguments)
    names = iter(block_names(tvm().s_tir.Schedule(tvm().IRModule({name: func})), name))
    by_op: dict[Anything, tuple[str, ...]] = {}
    for op in operations(arguments):
        if not isinstance(op, tvm().te.PlaceholderOp):
            by_op[op] = tuple([next(names) for _ in range(block_count(op))])
    return [replace(s, blocks=tuple([b for op in s.ops for b in by_op.get(op, ())])) for s in stages]


def block_names(schedule: Anything, name: str) -> list[str]:
    """Return the names of a kernel's blocks, in order."""
    schedule.work_on(name)
    root = schedule.get_sblock("root")
    return [str(schedule.get(block).name_hint) for block in schedule.get_child_blocks(root)]


def block_count(op: Anything) -> int:
    """Return the number of blocks that TVM creates for an operation."""
    te = tvm().te
    if not isinstance(op, te.ComputeOp):
        return 1
    return 1 if isinstance(op.body[0], te.Reduce) else len(op.body)
