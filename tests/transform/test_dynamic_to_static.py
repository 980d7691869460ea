"""Shapes that can be computed beforehand become attributes; long concatenations are split."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.execute.interpreter import Interpreter
from relay_explorer.ir import Call, IRModule, Op, post_order
from relay_explorer.ir.errors import RelayError
from relay_explorer.ir.narrow import as_func_type
from relay_explorer.text import parse
from relay_explorer.transform import DynamicToStatic, FoldConstant, FuseOps, Pass, SplitArgs
from relay_explorer.typing import infer_types
from tests.transform.golden import check

INTS = "newshape=None"


def names(module: IRModule) -> list[str]:
    return [n.op.name for n in post_order(module["main"]) if isinstance(n, Call) and isinstance(n.op, Op)]


def test_a_shape_that_is_known_becomes_an_attribute() -> None:
    check(DynamicToStatic(), """
    def @main(%x: Tensor[(2, 3), float32], %y: Tensor[(3, 2), float32]) {
      dyn.reshape(%x, shape_of(%y, dtype="int64"), newshape=None)
    }
    """, """
    def @main(%x: Tensor[(2, 3), float32], %y: Tensor[(3, 2), float32]) {
      reshape(%x, newshape=[3, 2])
    }
    """)  # fmt: skip


def test_one_shape_leads_to_the_next_through_names_tuples_and_branches() -> None:
    check(DynamicToStatic(), """
    def @main(%x: Tensor[(2, 3), float32], %y: Tensor[(3, 2), float32], %c: bool) {
      let %s = shape_of(%y, dtype="int64");
      let %z = dyn.reshape(%x, %s, newshape=None);
      let %p = (dyn.tile(%z, shape_of(%z, dtype="int64"), reps=None), %z);
      %0 = if (%c) { %p.0 } else { tanh(%p.0) };
      dyn.zeros(shape_of(%0, dtype="int64"), shape=None, dtype="float32")
    }
    """, """
    def @main(%x: Tensor[(2, 3), float32], %y: Tensor[(3, 2), float32], %c: bool) {
      let %z = reshape(%x, newshape=[3, 2]);
      %0 = tile(%z, reps=[3, 2]);
      let %p = (%0, %z);
      zeros(shape=[9, 4], dtype="float32")
    }
    """)  # fmt: skip


def test_arithmetic_of_shapes_is_done() -> None:
    module = infer_types(
        parse(
            """
    def @main(%x: Tensor[(2, 3, 4), float32]) {
      %0 = shape_of(%x, dtype="int64");
      %1 = (strided_slice(%0, begin=[0], end=[1], strides=[1]), meta[relay.Constant][0]);
      %2 = concatenate(%1);
      dyn.reshape(%x, cast(%2, dtype="int32"), newshape=None)
    }
    """.replace("meta[relay.Constant][0]", 'multiply(full(1i64, shape=[1], dtype="int64"), -1i64)')
        )
    )
    result = infer_types(DynamicToStatic()(module))
    assert "newshape=[2, -1]" in result.astext()
    assert str(result["main"].body.checked_type) == "Tensor[(2, 12), float32]"


def test_a_rank_that_only_folding_tells() -> None:
    """The program has no type as it is: how many numbers the shape has is computed."""
    number, like = relay.var("n", "float32"), relay.var("y", shape=(1, 2, 3))
    shape = relay.shape_of(like)
    shape = relay.strided_slice(shape, [1], relay.shape_of(shape))
    module = IRModule.from_expr(relay.Function([number, like], relay.full(number, shape, "float32")))
    with pytest.raises(RelayError):
        infer_types(module)
    result = DynamicToStatic()(module)
    assert names(result) == ["full"]
    assert str(as_func_type(result["main"].checked_type).ret_type) == "Tensor[(2, 3), float32]"


def test_a_program_that_is_wrong_is_refused_as_always() -> None:
    text = "def @main(%x: Tensor[(2, 3), float32], %y: Tensor[(4), float32]) { add(%x, %y) }"
    with pytest.raises(RelayError, match="add"):
        DynamicToStatic()(parse(text))


@pytest.mark.parametrize("step", [DynamicToStatic(), FoldConstant()])
def test_shapes_keep_their_element_type(step: Pass) -> None:
    text = """
    def @main(%x: Tensor[(3, 2), float32]) {
      (shape_of(%x, dtype="int64"), ndarray_size(%x, dtype="int64"), shape_of(%x))
    }
    """
    expected = "(Tensor[(2), int64], int64, Tensor[(2), int32])"
    assert str(as_func_type(infer_types(step(parse(text)))["main"].checked_type).ret_type) == expected


def test_what_only_the_run_knows_stays() -> None:
    text = """
    def @main(%x: Tensor[(?, 3), float32], %n: Tensor[(2), int64]) {
      (dyn.reshape(%x, %n, newshape=None), dyn.zeros(shape_of(%x), shape=None, dtype="float32"))
    }
    """
    assert names(DynamicToStatic()(infer_types(parse(text)))) == ["dyn.reshape", "shape_of", "dyn.zeros"]


CALLS = [
    lambda x, n: relay.broadcast_to(x, n([2, 1, 4])),
    lambda x, n: relay.expand_dims(x, n(1)),
    lambda x, n: relay.full(relay.const(2.0), n([2, 3]), "float32"),
    lambda x, n: relay.image.resize2d(relay.reshape(x, (1, 1, 1, 4)), n([4, 8])),
    lambda x, n: relay.nn.pad(x, n([[1, 2], [0, 3]])),
    lambda x, n: relay.nn.upsampling(relay.reshape(x, (1, 1, 2, 2)), n(2.0), n(3.0)),
    lambda x, n: relay.one_hot(relay.cast(x, "int32"), relay.const(1), relay.const(0), n(5), -1, "int32"),
    lambda x, n: relay.ones(n([2, 3]), "float32"),
    lambda x, n: relay.reshape(x, n([2, -1])),
    lambda x, n: relay.squeeze(x, n([0])),
    lambda x, n: relay.strided_slice(x, n([0, 3]), n([1, 0]), n([1, -2])),
    lambda x, n: relay.strided_slice(x, n([0, 1]), n([1, 2]), n([1, 1]), slice_mode="size"),
    lambda x, n: relay.tile(x, n([2, 3])),
    lambda x, n: relay.topk(x, n(3), axis=1, ret_type="values"),
    lambda x, n: relay.zeros(n([4]), "float32"),
]


@pytest.mark.parametrize("call", CALLS)
def test_values_stay(call: object) -> None:
    """With the amounts as parameters the operator is the dynamic one; as constants, it is the other."""
    x = relay.var("x", shape=(1, 4))
    amounts: list[Any] = []
    values: list[Any] = []

    def parameter(value: object) -> object:
        array = np.asarray(value)
        array = array.astype({"i": "int64", "f": "float32"}[array.dtype.kind])
        amounts.append(relay.var(f"n{len(amounts)}", shape=array.shape, dtype=array.dtype.name))
        values.append(array)
        return amounts[-1]

    body = call(x, parameter)  # type: ignore[operator]
    function = relay.Function([x, *amounts], body)
    bound = relay.build_module.bind_params_by_name(
        function, {a.name_hint: v for a, v in zip(amounts, values)}
    )
    module, before = infer_types(IRModule.from_expr(bound)), infer_types(IRModule.from_expr(function))
    assert any(name.startswith("dyn.") for name in names(before))
    result = infer_types(DynamicToStatic()(module))
    assert not any(name.startswith("dyn.") for name in names(result))
    data = relay.const(np.array([[3.0, 1.0, 2.0, 4.0]], "float32"))
    first = Interpreter(before).evaluate(
        Call(before.get_global_var("main"), [data, *map(relay.const, values)])
    )
    second = Interpreter(result).evaluate(Call(result.get_global_var("main"), [data]))
    assert np.array_equal(first, second)


def test_a_long_row_of_reshapes_takes_one_walk() -> None:
    rows = ["def @main(%x: Tensor[(2, 3), float32]) {", "let %z0 = %x;"]
    for n in range(1, 300):
        rows.append(f"let %z{n} = dyn.reshape(%z{n - 1}, shape_of(%z{n - 1}), newshape=None);")
    result = infer_types(DynamicToStatic()(parse("\n".join([*rows, "%z299 }"]))))
    assert "?" not in result.astext()
    assert names(result) == ["reshape"] * 299


# -- SplitArgs


def joined(count: int, shape: str = "(1, 2)") -> str:
    params = ", ".join(f"%p{n}: Tensor[{shape}, float32]" for n in range(count))
    return f"def @main({params}) {{ concatenate(({', '.join(f'%p{n}' for n in range(count))})) }}"


@pytest.mark.parametrize(("limit", "calls"), [(0, 1), (20, 1), (12, 1), (8, 2), (5, 3), (3, 9)])
def test_a_concatenation_has_at_most_so_many_arguments(limit: int, calls: int) -> None:
    module = infer_types(parse(joined(10)))
    output = infer_types(SplitArgs(limit)(module))
    result = [n for n in post_order(output["main"]) if isinstance(n, Call) and n.op is Op.get("concatenate")]
    assert len(result) == calls
    args = [relay.const(np.full((1, 2), n, "float32")) for n in range(10)]
    values = [Interpreter(m).evaluate(Call(m.get_global_var("main"), args)) for m in (module, output)]
    assert np.array_equal(*values)
    if calls > 1:
        kernels = [n.op for n in post_order(FuseOps(2)(output)["main"]) if isinstance(n, Call)]
        assert max(len(k.params) + 1 for k in kernels if isinstance(k, relay.Function)) <= limit


def test_unknown_extents_need_arguments_too() -> None:
    result = infer_types(SplitArgs(20)(parse(joined(10, "(?, 2)"))))
    assert names(result).count("concatenate") > names(infer_types(SplitArgs(20)(parse(joined(10))))).count(
        "concatenate"
    )


def test_a_limit_that_allows_nothing_is_refused() -> None:
    with pytest.raises(RelayError) as refused:
        SplitArgs(2)(parse(joined(10)))
    assert refused.value.message == (
        "with at most 2 arguments, no two tensors of this `concatenate` can be joined"
    )
    assert refused.value.help == ("give max_function_args of 3 or more",)


def test_keeps_the_type_that_a_branch_declares() -> None:
    """A branch without elements must not become the type of the other branch, which has some."""
    some = relay.TensorType((relay.Any(),), "int64")
    condition = relay.var("c", shape=(), dtype="bool")
    x = relay.var("x", relay.TensorType((relay.Any(),), "int32"))
    none = relay.Function([], relay.const(np.zeros(0), "int64"), some)
    choice = relay.If(condition, relay.Call(none, []), relay.cast(x, "int64"))
    module = infer_types(IRModule.from_expr(relay.Function([condition, x], choice)))
    result = infer_types(DynamicToStatic()(module))
    assert as_func_type(result["main"].checked_type).ret_type == some
