"""Operators whose results' sizes are computed from data, compiled ahead of time: they agree with NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.execute import ExecutionError, Interpreter
from relay_explorer.execute.aot.shape_constraints import shape_constraints
from relay_explorer.ir import IRModule
from relay_explorer.ir.expr import Call, Expr, Function, If, Tuple, Var, const
from relay_explorer.ir.narrow import as_a
from relay_explorer.ir.op import Op
from relay_explorer.ir.size import Any as Unknown
from relay_explorer.ir.tuple_wrapper import TupleWrapper
from relay_explorer.ir.types import TensorType
from relay_explorer.lower.build import build_native
from relay_explorer.lower.link.native import NativeExecutable
from relay_explorer.typing import infer_types
from tests.execute.programs import assert_same

ANY = Unknown()
DTYPES = ("float32", "float16", "float64", "int8", "uint8", "int16", "int64", "uint64", "bool")
random = np.random.default_rng(7)


class Calls:
    """Calls of operators, each of arguments of its own, in one program."""

    def __init__(self) -> None:
        self.params: list[Var] = []
        self.values: list[Any] = []
        self.made: list[Expr] = []

    def given(self, value: Any, dtype: str | None = None) -> Var:
        array = np.asarray(value, dtype)
        self.params.append(Var(f"x{len(self.params)}", TensorType(array.shape, str(array.dtype))))
        self.values.append(array)
        return self.params[-1]

    def numbers(self, shape: tuple[int, ...], dtype: str = "float32") -> Var:
        return self.given((random.normal(size=shape) * 9).astype("int64" if "int" in dtype else dtype), dtype)

    def add(self, *calls: Expr | TupleWrapper) -> None:
        self.made += [call.astuple() if isinstance(call, TupleWrapper) else call for call in calls]

    def module(self) -> IRModule:
        return IRModule.from_expr(Function(self.params, Tuple(self.made)))

    def build(self) -> NativeExecutable:
        return build_native(self.module(), opt_level=0)

    def agree(self) -> set[str]:
        """Compare the results, and return the names of the operators that ran."""
        exe = self.build()
        result = exe(*self.values)
        expected = Interpreter(self.module()).call("main", self.values)
        for call, ours, theirs in zip(self.made, result, expected):
            try:
                assert_same(ours, theirs, 1e-5, 1e-5)
            except AssertionError as problem:
                raise AssertionError(f"{call}\n{problem}") from None
        assert exe.library.live == 0
        assert not exe.kernels
        return {call.op.name for call in self.made if isinstance(call, Call) and isinstance(call.op, Op)}


def shapes(calls: Calls) -> None:
    for shape, new in [((2, 3, 4), (4, -1)), ((0, 3), (0, 1, 3)), ((2, 3, 4), (0, -1, 2)), ((1, 1), ())]:
        calls.add(relay.reshape(calls.numbers(shape), calls.given(new, "int64")))
    calls.add(
        relay.expand_dims(calls.numbers((2, 3)), calls.given(-1, "int32"), 2),
        relay.expand_dims(calls.numbers((2, 3)), calls.given(1, "int64")),
        relay.squeeze(calls.numbers((1, 3, 1)), calls.given([0, -1], "int32")),
        relay.reshape(calls.numbers((6, 2)), calls.given((3, 4), "int8")),
    )


def filled(calls: Calls) -> None:
    places = calls.given([[0, 2], [5, -1]], "int32")
    for dtype in DTYPES:
        shape = calls.given([2, 3], "int32")
        calls.add(
            relay.zeros(shape, dtype),
            relay.ones(shape, dtype),
            relay.full(calls.given(2.75, "float32"), shape, dtype),
            relay.full(calls.given(-3, "int64"), shape, "float16"),
            relay.one_hot(places, calls.given(3.5), calls.given(1.5), calls.given(3, "int32"), 1, dtype),
        )
        if dtype != "bool":
            calls.add(
                relay.arange(calls.given(1, dtype), calls.given(7, dtype), calls.given(2, dtype), dtype=dtype)
            )
    calls.add(
        relay.zeros(calls.given([0, 3]), "float32"),
        relay.full(const(1.0), calls.given([], "int32")),
        relay.arange(
            calls.given(0.3, "float32"),
            calls.given(-2, "float32"),
            calls.given(-0.4, "float32"),
            dtype="float32",
        ),
        relay.arange(
            calls.given(5, "int64"), calls.given(-5, "int64"), calls.given(-3, "int64"), dtype="int64"
        ),
        relay.arange(
            calls.given(5, "int32"), calls.given(5, "int32"), calls.given(1, "int32"), dtype="int32"
        ),
    )


def moved(calls: Calls) -> None:
    for dtype in DTYPES:
        x = calls.numbers((3, 1, 4), dtype)
        calls.add(
            relay.broadcast_to(x, calls.given([2, 3, 5, 4])),
            relay.tile(x, calls.given([2, 1, 3, 2])),
            relay.tile(x, calls.given([2])),
            relay.strided_slice(x, calls.given([-1, 0]), calls.given([-9, 9]), calls.given([-2, 1])),
        )
        for mode in ("constant", "edge", "reflect"):
            widths = [[1, 2], [-1, 0], [0, 0]] if mode == "constant" else [[4, 5], [1, 2], [-1, 3]]
            calls.add(relay.nn.pad(x, calls.given(widths), calls.given(2.5), mode))
    x = calls.numbers((5, 6))
    far = calls.given([2**31 - 1, -(2**31)])
    for begin, end, strides in [
        ((1, 2), (4, 99), (1, 2)),
        ((-2, -3), (5, 6), (1, 1)),
        ((4, 5), (0, -7), (-1, -3)),
    ]:
        calls.add(relay.strided_slice(x, calls.given(begin), calls.given(end), calls.given(strides)))
    calls.add(
        relay.strided_slice(x, far, far),
        relay.strided_slice(x, calls.given([1, -2]), calls.given([3, -1]), slice_mode="size"),
        relay.collapse_sum_to(x, calls.given([1, 6])),
        relay.collapse_sum_to(calls.numbers((2, 3, 4), "int8"), calls.given([3, 1])),
    )


def searched(calls: Calls) -> None:
    for dtype in DTYPES:
        x = calls.numbers((2, 7, 3), dtype)
        calls.add(relay.argwhere(x), relay.topk(x, calls.given(4), 1))
        calls.add(relay.topk(x, calls.given(0), 0, "values"))
    holes = np.array([[2, np.nan, 2, -np.inf, np.nan, 0, 2]])
    for ascending in (False, True):
        x = calls.given(holes)
        calls.add(relay.topk(x, calls.given([6], "int64"), -1, "both", ascending, "int64"))
    calls.add(relay.topk(x, calls.given(3), -1, "indices", True, "uint8"), relay.argwhere(calls.given(0.0)))
    calls.add(relay.argwhere(calls.given(3, "int8")))
    shape = calls.given([5, 6], "int64")
    places = calls.given([[0, 1], [3, 2], [3, 0]], "int64")
    elements, one = calls.numbers((3,)), calls.given(-1.0, "float32")
    calls.add(
        relay.sparse_to_dense(places, shape, elements, one),
        relay.sparse_to_dense(calls.given([2, 0]), calls.given([4]), calls.given(3.0), calls.given(1.0)),
        relay.sparse_fill_empty_rows(calls.given([[3, 1], [0, 1], [3, 0]], "int64"), elements, shape, one),
        relay.sparse_fill_empty_rows(calls.given(np.zeros((0, 2), "int64")), calls.numbers((0,)), shape, one),
    )


def resized(calls: Calls) -> None:
    modes = ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize")
    x, roi = calls.numbers((1, 2, 4, 5)), calls.given([0.1, -0.2, 0.8, 1.1], "float32")
    x16 = calls.numbers((1, 1, 3, 4, 2), "float16")
    for mode in modes:
        for method in ("nearest_neighbor", "linear", "cubic"):
            how: dict[str, Any] = {
                "method": method,
                "coordinate_transformation_mode": mode,
                "extrapolation_value": 7.0,
            }
            for size in ((7, 3), (1, 9)):
                calls.add(relay.image.resize2d(x, calls.given(size), roi, **how))
    calls.add(
        relay.image.resize2d(x, calls.given([6, 6]), method="cubic", cubic_exclude=1, cubic_alpha=-0.75),
        relay.image.resize2d(calls.numbers((1, 4, 5, 2), "uint8"), calls.given([8, 3]), layout="NHWC"),
        relay.image.resize2d(x16, calls.given([8, 3]), layout="NCHW2c", out_dtype="float16"),
        relay.image.resize2d(calls.numbers((1, 2, 1, 4, 2)), calls.given([6, 3]), layout="NCHW2h"),
        relay.nn.upsampling(x, calls.given(1.7), calls.given(2.0, "float32"), method="bilinear"),
        relay.nn.upsampling(x, calls.given(0.5), calls.given(3.0), method="bicubic", align_corners=True),
        relay.nn.upsampling3d(
            calls.numbers((1, 2, 3, 2, 2)), calls.given(2.0), calls.given(1.5), calls.given(1.0)
        ),
        relay.nn.upsampling3d(
            calls.numbers((1, 2, 3, 2, 1)),
            calls.given(2.0),
            calls.given(1.5),
            calls.given(1.0),
            "NDHWC",
            "trilinear",
        ),
    )


def test_every_operator_agrees() -> None:
    calls = Calls()
    for group in (shapes, filled, moved, searched, resized):
        group(calls)
    ran = calls.agree()
    host = {name for name in Op.list_op_names() if Op.get(name).lowering == "host"}
    assert ran >= host


def wrong(calls: Calls) -> None:
    x, one = calls.numbers((2, 3)), calls.given(1.0, "float32")
    calls.add(
        *[relay.reshape(x, calls.given(new)) for new in ([4, 2], [-1, -1], [0, -5], [-4, 4, 2], [4, -1])],
        relay.zeros(calls.given([2, -1]), "int8"),
        relay.zeros(calls.given([1 << 40, 1 << 40]), "int8"),
        relay.broadcast_to(x, calls.given([2, 4])),
        relay.expand_dims(relay.squeeze(x, calls.given([0])), calls.given(0)),
        relay.strided_slice(x, calls.given([0]), calls.given([1]), calls.given([0])),
        relay.nn.pad(x, calls.given([[0, -3], [0, 0]]), one),
        as_a(TupleWrapper, relay.topk(x, calls.given(4)))[0],
        relay.image.resize2d(calls.numbers((1, 1, 2, 2)), calls.given([0, 2])),
        relay.nn.upsampling(calls.numbers((1, 1, 2, 2)), calls.given(-1.0), calls.given(1.0)),
        relay.sparse_to_dense(calls.given([3]), calls.given([3]), one, one),
        relay.sparse_fill_empty_rows(calls.given([[2, 0]]), calls.numbers((1,)), calls.given([2, 1]), one)[2],
        relay.collapse_sum_to(x, calls.given([2, 2])),
        relay.arange(one, one, calls.given(0.0, "float32")),
    )


def test_what_goes_wrong_is_said() -> None:
    """In one program, of which each run goes wrong elsewhere."""
    calls = Calls()
    wrong(calls)
    chosen = [Var(f"b{k}", TensorType((), "bool")) for k in range(len(calls.made))]
    column = calls.given([-1, 1])
    body: Expr = relay.reshape(calls.params[0], column)
    body = relay.argwhere(body)
    for choice, call in zip(chosen, calls.made):
        body = If(choice, relay.argwhere(relay.reshape(call, column)), body)
    module = IRModule.from_expr(Function([*chosen, *calls.params], body))
    exe, interpreter = build_native(module, opt_level=0), Interpreter(module)
    for number in range(len(chosen)):
        given = [np.array(number == k) for k in range(len(chosen))] + calls.values
        with pytest.raises(ExecutionError) as expected:
            interpreter.call("main", given)
        with pytest.raises(ExecutionError) as result:
            exe(*given)
        name = expected.value.message.partition(" failed")[0]
        assert result.value.message.startswith((f"{name} failed: ", "out of memory"))
        assert exe.library.live == 0


def test_layers_and_indices_of_sizes_that_only_a_run_tells() -> None:
    """Of numbers of axes too: those of a shape that is data."""
    text = """
    def @main(%i: Tensor[(?), int64], %s: Tensor[(?), int64], %at: Tensor[(?, 2), int32],
              %x: Tensor[(?, 1, ?, ?, 4), float32], %w: Tensor[(2, 1, 3, 3, 4, 4), float32],
              %y: Tensor[(?, 2, ?, ?), float32], %o: Tensor[(?, 8, ?, ?), float32],
              %v: Tensor[(?, 2, 2, 2), float32]) {
      (unravel_index(%i, %s), sparse_reshape(%at, %i, %s),
       nn.contrib_conv2d_NCHWc(%x, %w, padding=[1, 0, 1, 0], strides=[2, 1], data_layout="NCHW4c",
                               kernel_layout="OIHW4i4o", kernel_size=[3, 3]),
       nn.deformable_conv2d(%y, %o, %v, kernel_size=[2, 2]))
    }"""
    sizes = [(2, 1, 7, 6, 4), (2, 1, 3, 3, 4, 4), (2, 2, 4, 4), (2, 8, 3, 3), (3, 2, 2, 2)]
    numbers = [random.normal(size=shape).astype("float32") for shape in sizes]
    given = [np.array([5, 7]), np.array([7, 5]), np.array([[2, 1], [4, 6]], "int32"), *numbers]
    module = relay.parse(text)
    expected = Interpreter(infer_types(module)).call("main", given)
    assert_same(build_native(module)(*given), expected, 1e-4, 1e-4)


@pytest.mark.parametrize(
    ("call", "shapes", "expected"),
    [
        ("slice_like", [(ANY, ANY), (ANY, ANY)], []),
        ("nn.bitpack", [(ANY, ANY)], []),
        ("nn.dense", [(ANY, ANY), (ANY, ANY)], [[(0, 1), (1, 1)]]),
        ("nn.conv3d", [(ANY,) * 5, (ANY,) * 5], [[(0, 1), (1, 1)]]),
        ("vision.roi_pool", [(ANY,) * 4, (ANY, ANY)], [[(1, 1)]]),
    ],
)
def test_which_sizes_must_agree(call: str, shapes: Any, expected: Any) -> None:
    """Those that are equal; none for other constraints: that one is at most another, or 32 divides it."""
    attrs: dict[str, dict[str, Any]] = {
        "nn.bitpack": {"bits": 2},
        "vision.roi_pool": {"pooled_size": (2, 2), "spatial_scale": 1.0},
    }
    params = [Var(f"x{k}", TensorType(shape, "float32")) for k, shape in enumerate(shapes)]
    if call == "nn.bitpack":
        params = [Var("x", TensorType(shapes[0], "int32"))]
    of, _, name = call.rpartition(".")
    output = getattr(getattr(relay, of) if of else relay, name)(*params, **attrs.get(call, {}))
    function = infer_types(IRModule.from_expr(Function(params, output)))["main"]
    assert isinstance(function, Function)
    result = shape_constraints(function)
    assert [[*agreement.places] for agreement in result] == expected
    assert [agreement.number for agreement in result] == [5 if call == "vision.roi_pool" else None] * len(
        result
    )
