"""Random first-order programs, and a machine that runs one inside the buffers of a storage plan."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from relay_explorer import relay
from relay_explorer.analysis.liveness import Step, StepKind
from relay_explorer.analysis.storage import StoragePlan
from relay_explorer.analysis.straight_line import Origin, is_kernel
from relay_explorer.ir import Call, Constant, Expr, Function, If, Let, Op, Tuple, TupleGetItem, Var
from relay_explorer.ir.types import TensorType, TupleType, Type
from relay_explorer.typing import infer_types

SHAPES = [(4,), (2, 6), (3, 40), (64,), (5, 5, 5), ()]


def random_function(seed: int, size: int = 25) -> Function:
    """Build a typed function of element-wise work, reshapes, splits, tuples, `let` and `if`, whose
    expressions are shared at random.
    """
    return _Maker(random.Random(seed)).function(size)


class _Maker:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.shape = rng.choice(SHAPES)
        self.flag = Var("c", TensorType((), "bool"))

    def function(self, size: int) -> Function:
        params = [Var(f"x{n}", TensorType(self.rng.choice(SHAPES))) for n in range(3)]
        body = self.block(dict.fromkeys(params), size, 0)
        result = infer_types(relay.IRModule.from_expr(Function([*params, self.flag], body)))["main"]
        assert isinstance(result, Function)
        return result

    def block(self, known: dict[Expr, None], size: int, depth: int) -> Expr:
        """Build an expression over some of the expressions `known`, and intermediate ones."""
        pool = list(known)
        shapes = {id(e): self._shape(e) for e in pool}
        lets: list[tuple[Var, Expr]] = []

        def keep(expr: Expr, shape: Any) -> None:
            if self.rng.random() < 0.3:
                variable = Var(f"v{self.rng.randrange(1000)}")
                lets.append((variable, expr))
                expr = variable
            pool.append(expr)
            shapes[id(expr)] = shape

        for _ in range(size):
            a = self.rng.choice(pool)
            shape = shapes[id(a)]
            choice = self.rng.random()
            if choice < 0.35:
                b = self.rng.choice([e for e in pool if shapes[id(e)] == shape])
                keep(self.rng.choice([relay.add, relay.multiply])(a, b), shape)
            elif choice < 0.55:
                keep(self.rng.choice([relay.tanh, relay.negative])(a), shape)
            elif choice < 0.7:
                keep(relay.reshape(a, (-1,)), (int(np.prod(shape)),))
            elif choice < 0.8 and shape and shape[-1] % 2 == 0:
                half = (*shape[:-1], shape[-1] // 2)
                parts = relay.split(a, 2, axis=-1).astuple()
                keep(TupleGetItem(parts, 1), half)
                keep(TupleGetItem(parts, 0), half)
            elif choice < 0.88:
                b = self.rng.choice(pool)
                keep(TupleGetItem(Tuple([a, Tuple([b, a])]), 0), shape)
            elif depth < 2:
                same = {e: None for e in pool if isinstance(e, Var) or self.rng.random() < 0.5}
                branches = [self._of_shape(same, shapes, shape, a, depth) for _ in range(2)]
                keep(If(self.flag, branches[0], branches[1]), shape)
        result: Expr = Tuple(self.rng.sample(pool, min(3, len(pool)))) if depth == 0 else pool[-1]
        for variable, value in reversed(lets):
            result = Let(variable, value, result)
        self.last = shapes[id(pool[-1])]
        return result

    def _of_shape(
        self, known: dict[Expr, None], shapes: dict[int, Any], shape: Any, start: Expr, depth: int
    ) -> Expr:
        """Build a branch whose value has the shape of `start`."""
        inner: Expr = relay.tanh(start)
        for _ in range(self.rng.randrange(4)):
            others = [e for e in known if shapes[id(e)] == shape]
            name = Var(f"w{self.rng.randrange(1000)}")
            inner = Let(name, relay.add(inner, self.rng.choice([start, *others])), relay.multiply(name, name))
        return self.rng.choice([inner, start]) if depth == 0 else inner

    def _shape(self, expr: Expr) -> Any:
        assert isinstance(expr, Var)
        assert isinstance(expr.type_annotation, TensorType)
        return tuple(expr.type_annotation.shape)


class Machine:
    """Runs a plan: one array of bytes, in which every tensor has its place. It knows nothing of lifetimes:
    each byte remembers which tensor was written there last, and a tensor that is read must own all of its.
    """

    def __init__(self, plan: StoragePlan) -> None:
        self.plan = plan
        self.arena = np.full(plan.arena, 0xA5, np.uint8)
        self.owner = np.full(plan.arena, -1)
        self.outside: dict[int, Any] = {}
        for tensor in plan.tensors:
            if isinstance(tensor.expr, Constant):
                self.outside[tensor.number] = tensor.expr.data.numpy()

    def run(self, args: list[Any]) -> list[Any]:
        """Run the plan; return the tensors of the result, flat."""
        params = [t.number for t in self.plan.tensors if t.origin is Origin.PARAMETER]
        self.outside.update(zip(params, args, strict=True))
        at = 0
        while at < len(self.plan.steps):
            at = self._step(at, self.plan.steps[at])
        return [self.read(t) for t in self.plan.result]

    def _step(self, at: int, step: Step) -> int:
        """Execute a step; return the number of the next."""
        if step.kind is StepKind.BRANCH:
            if not self.read(step.reads[0]):
                return self._after_branch(step.expr, 0)
        elif step.kind is StepKind.COPY:
            for source, target in zip(step.reads, step.writes, strict=True):
                self.write(target, self.read(source).copy())
            if step.branch == 0:
                return self._after_branch(step.expr, 1)
        elif step.kind is StepKind.COMPUTE:
            assert isinstance(step.expr, Call)
            result = self._computed(step.expr, iter(step.reads))
            for target, value in zip(step.writes, _flat(result), strict=True):
                self.write(target, value)
        for tensor in step.reads:
            self.read(tensor)  # nobody has written where an operator reads
        return at + 1

    def _after_branch(self, expr: Expr, branch: int) -> int:
        ends = (n for n, step in enumerate(self.plan.steps) if step.expr is expr and step.branch == branch)
        return next(ends) + 1

    def _computed(self, call: Call, reads: Any) -> Any:
        """Compute the result of a call on tensors, which are consumed in order."""
        values = [self._argument(a.checked_type, reads) for a in call.args]
        if isinstance(call.op, Op):
            assert call.op.reference is not None
            return call.op.reference(call.attrs, *values)
        assert is_kernel(call.op)
        return relay.create_executor("debug", relay.IRModule.from_expr(call.op)).evaluate()(*values)

    def _argument(self, type_: Type, reads: Any) -> Any:
        if isinstance(type_, TupleType):
            return tuple(self._argument(field, reads) for field in type_.fields)
        assert isinstance(type_, TensorType)
        return self.read(next(reads)).reshape(type_.concrete_shape)

    def read(self, tensor: int) -> Any:
        if tensor in self.outside:
            return self.outside[tensor]
        place, type_ = self.plan.places[tensor], self.plan.tensors[tensor].type
        stretch = slice(place.offset, place.offset + place.size)
        owner = tensor
        while owner in self.plan.code.within:  # a part of another tensor is written with that
            owner = self.plan.code.within[owner][0]
        assert (self.owner[stretch] == owner).all(), f"tensor {tensor} was overwritten"
        return self.arena[stretch].view(type_.dtype).reshape(type_.concrete_shape)

    def write(self, tensor: int, value: Any) -> None:
        place = self.plan.places[tensor]
        stretch = slice(place.offset, place.offset + place.size)
        value = np.ascontiguousarray(value)
        assert value.nbytes == place.size
        self.arena[stretch] = value.reshape(-1).view(np.uint8)
        self.owner[stretch] = tensor


def _flat(value: Any) -> list[Any]:
    """Return the arrays of a value, which may be tuples of tuples."""
    if isinstance(value, tuple):
        return [array for field in value for array in _flat(field)]
    return [value.numpy() if hasattr(value, "numpy") else value]
