"""Every operator that has a lowering gives, compiled, what its NumPy meaning gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from relay_explorer.ir.errors import RelayError
from relay_explorer.ir.expr import Call, Function
from relay_explorer.ir.module import IRModule
from relay_explorer.ir.narrow import as_a
from relay_explorer.ir.op import Op
from relay_explorer.ir.tuple_wrapper import TupleWrapper
from relay_explorer.lower.lowering import lowering_of
from relay_explorer.ops.te.lowered import CANONICAL, HOST
from relay_explorer.text import astext, parse
from relay_explorer.typing import infer_types
from tests.lower.kernels import Case, agree, case, compiled, without_constants
from tests.ops.examples import EXAMPLES
from tests.ops.meanings import numbers, rng
from tests.ops.test_compute_every_operator import DIVIDING, SPECIAL, value_for
from tests.ops.test_examples import name_of, program

# A number that is none, or that the type does not hold, becomes any integer: these are real functions.
REAL = {
    "acos", "acosh", "asin", "atanh", "log", "log2", "log10", "rsqrt", "sigmoid", "negative", "subtract",
         "mean",
    "variance", "nn.batch_norm", "nn.layer_norm", "nn.group_norm", "nn.instance_norm", "nn.softmax",
    "nn.fast_softmax", "nn.log_softmax", "nn.cross_entropy", "nn.cross_entropy_with_logits",
}  # fmt: skip


def made(module: IRModule) -> Case | None:
    """Return the example of an operator with its arguments; None where it runs on the host."""
    typed, fixed = without_constants(infer_types(module))
    main = typed["main"]
    assert isinstance(main, Function)
    assert isinstance(main.body, Call)
    name = name_of(main.body)
    if not compiled(Op.get(name)) or name.startswith("nn.contrib"):  # these have tests of their own
        return None
    special, random = {**SPECIAL.get(name, {}), **fixed}, rng(name)
    return Case(typed, [value_for(p.checked_type, special.get(p.name_hint), random) for p in main.params])


def test_which_operators_stay_on_the_host() -> None:
    host = [name for name in Op.list_op_names() if Op.get(name).lowering == HOST]
    dynamic = [name for name in Op.list_op_names() if name.startswith("dyn.")]
    assert sorted(host) == sorted([*dynamic, "argwhere", "sparse_fill_empty_rows"])


def test_every_other_operator_has_a_lowering() -> None:
    names = [name for name in Op.list_op_names() if Op.get(name).lowering != HOST]
    without = [name for name in names if lowering_of(Op.get(name)) is None]
    assert without == [name for name in names if Op.get(name).lowering == CANONICAL]


def test_operators_without_one_have_a_canonical_form() -> None:
    for op in map(Op.get, Op.list_op_names()):
        assert (op.lowering == CANONICAL) <= (op.canonical is not None), op.name


def test_every_operator() -> None:
    cases = [c for c in map(made, map(program, EXAMPLES)) if c is not None]
    assert len({c.name for c in cases}) > 220
    agree(cases)


@pytest.mark.parametrize("dtype", ["float16", "int8", "bool"])
def test_every_operator_in_another_element_type(dtype: str) -> None:
    """Wherever inference accepts other elements than float32; sums of many halves are looser in NumPy."""
    cases = []
    for call in EXAMPLES:
        text = astext(infer_types(program(call))).replace("float32", dtype)
        try:
            one = made(parse(text))
        except RelayError:
            continue
        skipped = dtype != "float16" and (one is None or one.name in REAL | DIVIDING)
        if one is not None and not skipped and (dtype != "bool" or "avg_pool" not in one.name):
            cases.append(one)
    assert len(cases) > 120
    agree(cases, {"float16": 3e-2, "float32": 2e-5, "float64": 1e-11}, optimized=False)


SIGNED = ("int8", "int32", "int64")


def pairs(dtype: str) -> tuple[Any, Any]:
    """Dividends and divisors of every sign, and the least number by -1."""
    least = int(np.iinfo(dtype).min)
    return [7, -7, 7, -7, 6, least, 0], [2, 2, -2, -2, 3, -1, 5]


def test_integers_are_divided_as_numpy_does() -> None:
    from relay_explorer import relay

    ops = [relay.divide, relay.floor_divide, relay.trunc_divide, relay.mod, relay.floor_mod, relay.trunc_mod]
    cases = []
    for dtype in SIGNED:
        for op in ops:
            x, y = (relay.var(name, shape=(7,), dtype=dtype) for name in "xy")
            module = infer_types(IRModule.from_expr(Function([x, y], op(x, y))))
            a, b = pairs(dtype)
            cases.append(Case(module, [np.array(a, dtype), np.array(b, dtype)]))
    with np.errstate(all="ignore"):
        agree(cases)


def test_a_division_by_zero_does_not_end_the_process() -> None:
    """The interpreter raises an error; a kernel, which cannot, gives 0."""
    from relay_explorer import relay
    from tests.lower.kernels import results

    cases = []
    for op in (relay.divide, relay.floor_mod, relay.trunc_mod, relay.floor_divide):
        x, y = (relay.var(name, shape=(2,), dtype="int32") for name in "xy")
        module = infer_types(IRModule.from_expr(Function([x, y], op(x, y))))
        cases.append(Case(module, [np.array([5, -5], "int32"), np.zeros(2, "int32")]))
    zeros = [[np.zeros(2, "int32")]] * len(cases)
    assert [result[0].tolist() for result in results(cases, zeros)] == [[0, 0]] * len(cases)


def test_an_index_out_of_range_reads_and_writes_nothing_beyond() -> None:
    """The interpreter raises an error; a kernel reads the nearest element, and leaves writing out."""
    from relay_explorer import relay
    from tests.lower.kernels import results

    x = relay.var("x", shape=(3,))
    i = relay.var("i", shape=(4,), dtype="int32")
    u = relay.var("u", shape=(4,))
    gathered = infer_types(IRModule.from_expr(Function([x, i], relay.gather(x, 0, i))))
    scattered = infer_types(IRModule.from_expr(Function([x, i, u], relay.scatter_elements(x, i, u))))
    data, places = np.array([1, 2, 3], "float32"), np.array([-9, -1, 1, 99], "int32")
    cases = [Case(gathered, [data, places]), Case(scattered, [data, places, np.arange(4, dtype="float32")])]
    result = results(cases, [[np.zeros(4, "float32")], [data]])
    assert result[0][0].tolist() == [1, 3, 2, 3]
    assert result[1][0].tolist() == [1, 2, 1]


def test_not_a_number() -> None:
    """It is the greatest where elements are put in order, and what a maximum is where there is one."""
    from relay_explorer import relay

    x, y = relay.var("x", shape=(2, 4)), relay.var("y", shape=(2, 4))
    nan, big = np.nan, np.inf
    first = np.array([[3, nan, -big, 3], [-big, -big, -big, -big]], "float32")
    second = np.array([[nan, 1, 2, 3], [big, -1, 0, nan]], "float32")
    of_one: list[Any] = [
        relay.max(x, 1), relay.min(x, 1), relay.argmax(x, 1), relay.argmin(x, 1), relay.sort(x),
        relay.sort(x, is_ascend=False), relay.argsort(x), relay.argsort(x, is_ascend=False), relay.nn.relu(x),
        as_a(TupleWrapper, relay.topk(x, 2)).astuple(),
        relay.argmax(x, 1, select_last_index=True), relay.isnan(x),
        relay.isfinite(x), relay.isinf(x), relay.clip(x, -1, 1), relay.nn.leaky_relu(x, 0.5), relay.sign(x),
        relay.nn.max_pool1d(relay.expand_dims(x, 0), 2),
    ]  # fmt: skip
    of_two = [relay.maximum(x, y), relay.minimum(x, y), relay.less(x, y), relay.not_equal(x, y), x / y]
    plain = [call for call in of_one if all(arg is x for arg in call.args)]
    cases = [Case(infer_types(IRModule.from_expr(Function([x], call))), [first]) for call in plain]
    cases += [
        Case(infer_types(IRModule.from_expr(Function([x, y], call))), [first, second]) for call in of_two
    ]
    agree(cases)


def test_random_numbers_are_the_same_bits() -> None:
    """Also where the key's counter is full, and where its path is."""
    from relay_explorer import relay

    key = relay.var("key", shape=(10,), dtype="uint64")
    keys = [np.array(relay.random.threefry_key(7).data.values(), "uint64") for _ in range(3)]
    keys[1][7] = keys[2][7] = 2**64 - 3  # no room in the counter
    keys[2][8:] = 0  # nor on the path
    calls = [relay.random.threefry_generate(key, (3, 3)), relay.random.threefry_split(key)]
    calls += [relay.random.uniform(key, (5,), "float64"), relay.random.uniform(key, (0,))]
    cases = [
        Case(infer_types(IRModule.from_expr(Function([key], call.astuple()))), [value])
        for call in calls
        for value in keys
    ]
    agree(cases, {"float64": 0, "float32": 0})


def test_empty_tensors() -> None:
    from relay_explorer import relay

    x, truth = relay.var("x", shape=(0, 3)), relay.var("b", shape=(2, 0), dtype="bool")
    calls = [
        relay.exp(x), x + x, relay.sum(x), relay.sum(x, 0), relay.prod(x, 0), relay.sum(x, 1), relay.sort(x,
             0),
        relay.reshape(x, (3, 0), allowzero=True), relay.cumsum(x, 0), relay.transpose(x), relay.nn.softmax(x),
        relay.nn.dense(x, relay.const(np.ones((1, 3), "float32"))), relay.tile(x, (2, 2)),
    ]  # fmt: skip
    modules = [without_constants(infer_types(IRModule.from_expr(Function([x], call)))) for call in calls]
    cases = [Case(m, [numbers(rng(), (0, 3)), *fixed.values()]) for m, fixed in modules]
    agree([*cases, *[case(fold(truth, 1)) for fold in (relay.any, relay.all, relay.sum)]])
