"""Control flow of torch.export: `torch.cond`, `while_loop`, `scan` and `map` become `if` and recursion."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, cast
from typing import Any as Anything

from ...ir import const
from ...ir.errors import RelayError
from ...ir.expr import Expr, Var
from ...ops import namespaces as relay
from ..aten import Scalar, Value
from ..base.errors import DynamicShapeError
from ..base.loops import conditional, while_loop

if TYPE_CHECKING:
    from .importer import Importer

_UNROLLED = 16  # iterations of a scan over a static axis that are written out


def _condition(importer: Importer, value: Value) -> Expr:
    """Return a condition as a tensor of type bool without axes."""
    condition = importer.aten.tensor(value, "bool")
    return relay.reshape(condition, ()) if importer.aten.rank(condition) else condition


def _numbers(importer: Importer, values: Sequence[Value]) -> list[Expr]:
    """Return values as tensors."""
    return [importer.aten.tensor(value) for value in values]


def _values(exprs: Sequence[Expr], like: Sequence[Value]) -> list[Value]:
    """Return tensors as values: those that stand for numbers in `like` become numbers again."""
    return [expr if isinstance(kind, Expr) else Scalar(expr) for expr, kind in zip(exprs, like)]


def cond(importer: Importer, fx_node: Anything, args: list[Value], kwargs: Mapping[str, Value]) -> Value:
    """Convert `torch.cond(predicate, true, false, operands)`."""
    predicate, then, otherwise, operands = args
    arguments = list(cast(Sequence[Value], operands))
    known = importer.aten.unwrapped(predicate) if isinstance(predicate, Scalar) else predicate
    if isinstance(known, (bool, int)):
        return importer.run(then if known else otherwise, arguments)
    results = conditional(
        importer.context,
        _condition(importer, predicate),
        lambda: _numbers(importer, importer.run(then, arguments)),
        lambda: _numbers(importer, importer.run(otherwise, arguments)),
    )
    expected = fx_node.meta.get("val")
    is_number = [type(part).__name__ in ("SymInt", "int") for part in expected or [None] * len(results)]
    return [importer.aten.scalar(result) if number else result for result, number in zip(results, is_number)]


def loop(importer: Importer, fx_node: Anything, args: list[Value], kwargs: Mapping[str, Value]) -> Value:
    """Convert `while_loop(condition, body, carried, additional)`."""
    condition, body, carried, additional = args
    start, rest = list(cast(Sequence[Value], carried)), list(cast(Sequence[Value], additional))
    variables = [(f"carried_{index}", importer.aten.tensor(value)) for index, value in enumerate(start)]

    def test(current: Sequence[Var]) -> Expr:
        return _condition(importer, importer.run(condition, [*_values(current, start), *rest])[0])

    def following(current: Sequence[Var]) -> list[Expr]:
        return _numbers(importer, importer.run(body, [*_values(current, start), *rest]))

    results = while_loop(importer.context, fx_node.name, variables, test, following)
    return _values(results, start)


def scan(importer: Importer, fx_node: Anything, args: list[Value], kwargs: Mapping[str, Value]) -> Value:
    """Convert `scan(combine, init, xs, additional)`: the carried values first, then the stacked results."""
    combine, init, xs, additional = args
    return _scanned(
        importer,
        fx_node,
        combine,
        list(cast(Sequence[Value], init)),
        cast(Sequence[Expr], xs),
        list(cast(Sequence[Value], additional)),
        carried_first=True,
    )


def mapped(importer: Importer, fx_node: Anything, args: list[Value], kwargs: Mapping[str, Value]) -> Value:
    """Convert `map(f, xs, *args)`."""
    function, xs, additional = args
    return _scanned(
        importer,
        fx_node,
        function,
        [],
        cast(Sequence[Expr], xs),
        list(cast(Sequence[Value], additional)),
        carried_first=False,
    )


def _scanned(
    importer: Importer,
    fx_node: Anything,
    step: Anything,
    carried: list[Value],
    xs: Sequence[Expr],
    rest: list[Value],
    *,
    carried_first: bool,
) -> list[Value]:
    """Apply `step` to one slice of `xs` after another."""
    if not xs:
        raise RelayError("scan and map require at least one tensor to iterate over")
    ctx, count = importer.aten, importer.aten.shape(xs[0])[0]

    def sliced(index: Expr) -> list[Value]:
        return [relay.take(x, index, axis=0, mode="clip") for x in xs]

    if isinstance(count, int) and 0 < count <= _UNROLLED:
        columns: list[list[Expr]] = []
        for index in range(count):
            results = importer.run(step, [*carried, *sliced(const(index, "int64")), *rest])
            carried, rows = results[: len(carried)], _numbers(importer, results[len(carried) :])
            columns = [[*column, row] for column, row in zip(columns or [[] for _ in rows], rows)]
        return [*carried, *[relay.stack(column, 0) for column in columns]]
    described = fx_node.meta["val"][len(carried) :]
    start = [
        relay.zeros((0, *_static(fake.shape[1:])), str(fake.dtype).removeprefix("torch."))
        for fake in described
    ]
    variables = [
        ("index", const(0, "int64")),
        *[(f"carried_{i}", expr) for i, expr in enumerate(_numbers(importer, carried))],
        *[(f"result_{i}", expr) for i, expr in enumerate(start)],
    ]
    length = ctx.tensor(ctx.size(xs[0], 0), "int64")
    middle = 1 + len(carried)

    def body(current: Sequence[Var]) -> list[Expr]:
        index, before, stacked = current[0], current[1:middle], current[middle:]
        results = importer.run(step, [*_values(before, carried), *sliced(index), *rest])
        after, rows = results[: len(carried)], _numbers(importer, results[len(carried) :])
        grown = [relay.concatenate([a, relay.expand_dims(row, 0)], 0) for a, row in zip(stacked, rows)]
        return [relay.add(index, const(1, "int64")), *_numbers(importer, after), *grown]

    final = while_loop(
        importer.context, fx_node.name, variables, lambda current: relay.less(current[0], length), body
    )
    return [*_values(final[1:middle], carried), *final[middle:]]


def _static(shape: Sequence[Anything]) -> list[int]:
    if not all(isinstance(extent, int) for extent in shape):
        raise DynamicShapeError("scan and map require that the results of an iteration have static shapes")
    return [int(extent) for extent in shape]


def inlined(importer: Importer, fx_node: Anything, args: list[Value], kwargs: Mapping[str, Value]) -> Value:
    """Convert a block under `torch.no_grad()`: the block itself."""
    _, graph, *operands = args
    return importer.run(graph, operands)


def without_checkpoint(
    importer: Importer, fx_node: Anything, args: list[Value], kwargs: Mapping[str, Value]
) -> Value:
    """Convert an activation checkpoint, which only training distinguishes from the block itself."""
    graph, *operands = args
    return importer.run(graph, operands)


def autocast(importer: Importer, fx_node: Anything, args: list[Value], kwargs: Mapping[str, Value]) -> Value:
    """Convert a block under `torch.autocast` if that is switched off."""
    _, _, enabled, _, graph, *operands = args
    if enabled:
        raise RelayError(
            "a block under torch.autocast computes in another precision than its graph says",
            help=["export the model without torch.autocast, in the precision that is wanted"],
        )
    return importer.run(graph, operands)


Conversion = Callable[..., Value]
CONVERTERS: dict[str, Conversion] = {
    "cond": cond,
    "while_loop": loop,
    "scan": scan,
    "map_impl": mapped,
    "wrap_with_set_grad_enabled": inlined,
    "tag_activation_checkpoint": without_checkpoint,
    "wrap_with_autocast": autocast,
}
