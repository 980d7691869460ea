"""Random programs of a few operators on tensors, for the exercise `shape_analysis`."""

from __future__ import annotations

import random

from ...ir.expr import Call, Expr, Function, Let, Tuple, Var
from ...ir.module import IRModule
from ...ir.op import Op
from ...ir.types import Any, Dim, TensorType
from ...ir.walk import free_vars, rewrite

Shape = tuple[Dim, ...]
UNARY = ("tanh", "nn.relu", "exp")
BINARY = ("add", "multiply", "maximum")
AXES = ("transpose", "sum", "concatenate")


def call(name: str, *args: Expr, **attrs: object) -> Call:
    op = Op.get(name)
    return Call(op, list(args), op.attrs_class(**attrs) if op.attrs_class is not None else None)


class Maker:
    """Generate one program: an expression for a shape that was chosen first."""

    def __init__(self, rng: random.Random, operators: tuple[str, ...], lets: bool = False) -> None:
        self.rng = rng
        self.operators = operators
        self.lets = lets
        self.shapes: dict[Var, Shape] = {}
        self.bound: set[Var] = set()

    def module(self, depth: int) -> IRModule:
        shape: Shape = tuple(self.rng.choice([1, 2, 3, 4]) for _ in range(self.rng.randint(1, 3)))
        body = self.expr(shape, depth)
        return with_shapes(body, {v: s for v, s in self.shapes.items() if v not in self.bound})

    def leaf(self, shape: Shape) -> Expr:
        """Return a variable of a shape: an existing one, or a new parameter."""
        same = [v for v, known in self.shapes.items() if known == shape]
        if same and self.rng.random() < 0.5:
            return self.rng.choice(same)
        var = Var(f"x{len(self.shapes)}")
        self.shapes[var] = shape
        return var

    def expr(self, shape: Shape, depth: int) -> Expr:
        if depth == 0 or self.rng.random() < 0.15:
            return self.leaf(shape)
        if self.lets and self.rng.random() < 0.4:
            inner = tuple(self.rng.randint(1, 3) for _ in range(2))
            value = self.expr(inner, depth - 1)
            var = Var(f"v{len(self.bound)}")
            self.bound.add(var)
            self.shapes[var] = inner
            body = self.expr(shape, depth - 1)
            del self.shapes[var]
            return Let(var, value, body)
        return self.of(self.rng.choice(self.operators), shape, depth - 1)

    def of(self, name: str, shape: Shape, depth: int) -> Expr:
        """Build a call of an operator that returns the shape; if it cannot, call another operator."""
        rng, rank = self.rng, len(shape)
        if name in BINARY:
            start = rng.choice([0, 0, rank // 2])
            narrow = tuple(1 if rng.random() < 0.3 else d for d in shape[start:])
            pair = [self.expr(shape, depth), self.expr(narrow, depth)]
            rng.shuffle(pair)
            return call(name, *pair)
        if name == "transpose" and rank:
            axes = rng.sample(range(rank), rank)
            if rng.random() < 0.3:
                return call("transpose", self.expr(shape[::-1], depth), axes=None)
            source = tuple(shape[axes.index(i)] for i in range(rank))
            return call("transpose", self.expr(source, depth), axes=axes)
        if name == "sum":
            return self._summed(shape, depth)
        if name == "concatenate" and rank:
            return self._joined(shape, depth)
        if name == "nn.dense" and rank:
            inner = rng.randint(1, 4)
            return call("nn.dense", self.expr((*shape[:-1], inner), depth), self.leaf((shape[-1], inner)))
        return call(rng.choice(UNARY), self.expr(shape, depth))

    def _summed(self, shape: Shape, depth: int) -> Expr:
        """Build a sum over one axis, or over all axes for a scalar."""
        rng, rank = self.rng, len(shape)
        if not rank:
            return call("sum", self.expr((2, rng.randint(1, 4)), depth), axis=None)
        at = rng.randint(0, rank - 1)
        keep = shape[at] == 1 and rng.random() < 0.7
        end = at + 1 if keep else at
        source = (*shape[:at], rng.randint(2, 4), *shape[end:])
        axis = at if rng.random() < 0.6 else at - len(source)
        return call("sum", self.expr(source, depth), axis=[axis], keepdims=keep)

    def _joined(self, shape: Shape, depth: int) -> Expr:
        at = self.rng.randrange(len(shape))
        whole = shape[at]
        if not isinstance(whole, int) or whole < 2:
            return call("tanh", self.expr(shape, depth))
        first = self.rng.randint(1, whole - 1)
        parts = [self.expr((*shape[:at], n, *shape[at + 1 :]), depth) for n in (first, whole - first)]
        axis = at if self.rng.random() < 0.6 else at - len(shape)
        return call("concatenate", Tuple(parts), axis=axis)


def with_shapes(body: Expr, shapes: dict[Var, Shape]) -> IRModule:
    """Build a module whose `@main` has this body, and a parameter of the shape for each of its free
    variables.
    """
    params = {v: Var(v.name_hint, TensorType(shapes[v], "float32")) for v in free_vars(body)}
    body = rewrite(body, lambda node: params.get(node) if isinstance(node, Var) else None)
    return IRModule.from_expr(Function(list(params.values()), body))


def changed(rng: random.Random, module: IRModule, dim: Dim | None) -> IRModule:
    """Replace one dimension of a parameter, at random, by `dim`; by a random number if it is None."""
    main = module["main"]
    assert isinstance(main, Function)
    shapes: dict[Var, Shape] = {}
    for param in main.params:
        assert isinstance(param.type_annotation, TensorType)
        shapes[param] = param.type_annotation.shape
    some = [param for param in main.params if shapes[param]]
    if some:
        param = rng.choice(some)
        at = rng.randrange(len(shapes[param]))
        new = rng.randint(1, 5) if dim is None else dim
        shapes[param] = (*shapes[param][:at], new, *shapes[param][at + 1 :])
    return with_shapes(main.body, shapes)


def forgetful(rng: random.Random, module: IRModule) -> IRModule:
    """Make some dimensions of the program's parameters dynamic."""
    for _ in range(rng.randint(1, 4)):
        module = changed(rng, module, Any())
    return module
