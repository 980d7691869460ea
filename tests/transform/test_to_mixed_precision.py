"""ToMixedPrecision: categories, casts, and programs of every shape stay well-typed.

Where TVM 0.14 answers otherwise, it is in error:

* `def @main(%x: Tensor[(2), float64]) { exp(%x) }` became float32 there: half of the digits were lost where
  `exp` was to keep them. Here what was float64 is computed in float64.
* `let %f = fn (%a: Tensor[(2, 2), float32]) {…}; %f(nn.dense(%x, %w))`, a call of a global function, an `if`
  one of whose branches is narrow, a constructor with a narrow field: all were ill-typed afterwards.
* A convolution of int8 without `out_dtype`, and `full` of an integer without `dtype`, became floating-point.
* `keep_orig_output_dtype` was forgotten where the body is a `let` or an `if`.
"""

from __future__ import annotations

import logging

import numpy as np
import pytest

from relay_explorer import models, relay
from relay_explorer.ir import Function, IRModule
from relay_explorer.ir.errors import RelayError
from relay_explorer.ir.typed import tensor_type
from relay_explorer.ir.types import FuncType, TensorType, Type
from relay_explorer.lower.executor import create_executor
from relay_explorer.testing import generate
from relay_explorer.text import parse
from relay_explorer.transform import LambdaLift, PassContext, ToMixedPrecision
from relay_explorer.transform.mixed_precision.categories import MIXED_PRECISION_ALWAYS, PROPERTY
from relay_explorer.typing import infer_types
from tests.property.test_evaluation import value_of
from tests.transform.golden import check
from tests.transform.test_contracts import close

HEAD = '#[version = "0.0.5"]\n'


def test_a_product_is_computed_in_half_precision() -> None:
    check(
        ToMixedPrecision(),
        """
        #[version = "0.0.5"]
        def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(4, 3), float32]) {
          nn.dense(%x, %w, units=None)
        }
        """,
        """
        def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(4, 3), float32]) -> Tensor[(2, 4), float16] {
          %0 = cast(%x, dtype="float16");
          %1 = cast(%w, dtype="float16");
          nn.dense(%0, %1, out_dtype="float16")
        }
        """,
    )


def test_what_follows_stays_narrow_and_what_loses_is_wide() -> None:
    check(
        ToMixedPrecision(),
        """
        #[version = "0.0.5"]
        def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(4, 3), float32]) {
          %0 = nn.relu(nn.dense(%x, %w, units=None));
          (exp(%0), add(%0, 1f))
        }
        """,
        """
        def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(4, 3), float32]) -> (Tensor[(2, 4), float32], \
Tensor[(2, 4), float16]) {
          %0 = cast(%x, dtype="float16");
          %1 = cast(%w, dtype="float16");
          %2 = nn.dense(%0, %1, out_dtype="float16");
          %3 = nn.relu(%2);
          %4 = cast(%3, dtype="float32");
          %5 = cast(1f, dtype="float16");
          %6 = exp(%4);
          %7 = add(%3, %5);
          (%6, %7)
        }
        """,
    )


def test_a_cast_and_its_reverse_cancel() -> None:
    """A wide result, a narrow reader, a wide reader: the wide reader gets what there was."""
    check(
        ToMixedPrecision(),
        """
        #[version = "0.0.5"]
        def @main(%x: Tensor[(2, 2), float32]) {
          %0 = exp(%x);
          (nn.dense(%0, %0, units=None), exp(%0))
        }
        """,
        """
        def @main(%x: Tensor[(2, 2), float32]) -> (Tensor[(2, 2), float16], Tensor[(2, 2), float32]) {
          %0 = exp(%x);
          %1 = cast(%0, dtype="float16");
          %2 = nn.dense(%1, %1, out_dtype="float16");
          %3 = exp(%0);
          (%2, %3)
        }
        """,
    )


def test_nothing_to_gain_nothing_done() -> None:
    check(
        ToMixedPrecision(),
        """
        #[version = "0.0.5"]
        def @main(%x: Tensor[(2, 2), float32]) {
          %0 = exp(%x);
          add(%0, 1f)
        }
        """,
        """
        def @main(%x: Tensor[(2, 2), float32]) -> Tensor[(2, 2), float32] {
          %0 = exp(%x);
          add(%0, 1f)
        }
        """,
    )


def test_a_let_has_the_type_of_its_value() -> None:
    check(
        ToMixedPrecision(),
        """
        #[version = "0.0.5"]
        def @main(%x: Tensor[(2, 2), float32]) {
          let %y: Tensor[(2, 2), float32] = nn.dense(%x, %x, units=None);
          let %z = %y;
          nn.relu(%z)
        }
        """,
        """
        def @main(%x: Tensor[(2, 2), float32]) -> Tensor[(2, 2), float16] {
          %0 = cast(%x, dtype="float16");
          let %y: Tensor[(2, 2), float16] = nn.dense(%0, %0, out_dtype="float16");
          let %z: Tensor[(2, 2), float16] = %y;
          nn.relu(%z)
        }
        """,
    )


def test_the_result_keeps_its_type_on_request() -> None:
    with PassContext(config={"relay.ToMixedPrecision.keep_orig_output_dtype": True}):
        result = ToMixedPrecision()(
            parse(
                HEAD + "def @main(%x: Tensor[(2, 2), float32]) "
                "{ let %y = nn.dense(%x, %x, units=None); (%y, exp(%y)) }"
            )
        )
    text = result.astext()
    assert str(type_of_result(result)) == "(Tensor[(2, 2), float32], Tensor[(2, 2), float32])"
    assert text.index("let %y") < text.index('dtype="float32"')  # below the let


def type_of_result(module: IRModule) -> Type:
    type_ = infer_types(module)["main"].checked_type
    assert isinstance(type_, FuncType)
    return type_.ret_type


def result_type(body: str, params: str, head: str = "") -> str:
    result = ToMixedPrecision(missing_op_mode=2)(parse(f"{HEAD}{head}\ndef @main({params}) {{ {body} }}"))
    return str(type_of_result(result))


SQUARE = "%x: Tensor[(2, 2), float32]"
NARROW = "nn.dense(%x, %x, units=None)"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (f"if (True) {{ {NARROW} }} else {{ exp(%x) }}", "float32"),
        (f"if (True) {{ {NARROW} }} else {{ {NARROW} }}", "float16"),
        (f"let %f = fn (%a: Tensor[(2, 2), float32]) {{ exp(%a) }}; %f({NARROW})", "float32"),
        (
            f"let %f = fn (%a: Tensor[(2, 2), float32]) {{ nn.dense(%a, %a, units=None) }}; %f({NARROW})",
            "float16",
        ),
        (f"let %r = ref({NARROW}); ref_write(%r, {NARROW}); ref_read(%r)", "float32"),
        (f"let %p = ({NARROW}, exp(%x)); %p.0", "float16"),
        (f"concatenate(({NARROW}, %x), axis=0)", "float32"),
    ],
)
def test_programs_of_every_shape(body: str, expected: str) -> None:
    assert expected in result_type(body, SQUARE)


def test_functions_that_are_values_keep_their_types() -> None:
    body = f"let %f = fn ({SQUARE}) {{ {NARROW} }}; let %g = %f; (%f, %g(%x)).1"
    assert "float32" in result_type(body, SQUARE)


def test_a_function_that_calls_itself_keeps_its_type() -> None:
    body = (
        "let %f = fn (%a: Tensor[(2, 2), float32], %n: int32) -> Tensor[(2, 2), float32] "
        "{ if (less(%n, 1)) { %a } else { %f(nn.dense(%a, %a, units=None), subtract(%n, 1)) } }; %f(%x, 3)"
    )
    assert "float32" in result_type(body, SQUARE)


def test_data_and_functions_of_the_module() -> None:
    head = f"type Box {{ Full(Tensor[(2, 2), float32]) }}\ndef @f({SQUARE}) {{ {NARROW} }}"
    assert "float32" in result_type(f"match (Full({NARROW})) {{ Full(%v) => @f(%v) }}", SQUARE, head)


@pytest.mark.parametrize(
    ("body", "params", "expected"),
    [
        ("exp(%x)", "%x: Tensor[(2), float64]", "Tensor[(2), float64]"),
        ("nn.dense(%x, %x, units=None)", "%x: Tensor[(2, 2), int8]", "Tensor[(2, 2), int8]"),
        ("full(1, shape=[2], dtype=int32)", "", "Tensor[(2), int32]"),
        ("zeros(shape=[2], dtype=float32)", "", "Tensor[(2), float16]"),
        ("clip(%x, a_min=-70000f, a_max=70000f)", "%x: Tensor[(2), float32]", "Tensor[(2), float32]"),
        ("clip(%x, a_min=-6f, a_max=6f)", "%x: Tensor[(2), float32]", "Tensor[(2), float16]"),
    ],
)
def test_element_types(body: str, params: str, expected: str) -> None:
    assert result_type(body, params) == expected


def test_a_category_of_ones_own() -> None:
    operator = relay.op.get("exp")
    assert operator.get_attr(PROPERTY)(None, "float16")[0] == 2

    @relay.op.register_mixed_precision_conversion("exp", level=11)
    def always(call: object, target: str) -> list[object]:
        return [MIXED_PRECISION_ALWAYS, target, "float32"]

    try:
        result = ToMixedPrecision()(parse(HEAD + "def @main(%x: Tensor[(2), float32]) { exp(%x) }"))
    finally:
        operator.reset_attr(PROPERTY)
    assert [line.strip() for line in result.astext().splitlines() if "cast(" in line or "exp(" in line] == [
        '%0 = cast(%x, dtype="float16") /* ty=Tensor[(2), float16] */;',
        "%1 = exp(%0) /* ty=Tensor[(2), float16] */;",
        'cast(%1, dtype="float32") /* ty=Tensor[(2), float32] */',
    ]


def test_operators_without_a_category(caplog: pytest.LogCaptureFixture) -> None:
    module = parse(HEAD + "def @main(%x: Tensor[(2), float32]) { sin(sin(%x)) }")
    with pytest.raises(RelayError, match="ToMixedPrecision has no category for `sin`"):
        ToMixedPrecision(missing_op_mode=0)(module)
    with caplog.at_level(logging.WARNING):
        ToMixedPrecision(missing_op_mode=2)(module)
        assert not caplog.messages
        ToMixedPrecision()(module)
    assert caplog.messages == [
        "`sin`, which occurs 2 times, has no category of mixed precision, so it follows its arguments"
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("int8",), "`mixed_precision_type` must be a floating-point type"),
        (("float16", 3), "`missing_op_mode` must be 0 .*, not 3"),
    ],
)
def test_options_that_make_no_sense(arguments: tuple[str, int], message: str) -> None:
    with pytest.raises(RelayError, match=message):
        ToMixedPrecision(*arguments)


def test_deep_programs() -> None:
    rows = "".join(f"let %y{n + 1} = nn.dense(%y{n}, %y{n}, units=None);\n" for n in range(3000))
    module = parse(f"{HEAD}def @main(%y0: Tensor[(1, 1), float32]) {{ {rows} %y3000 }}")
    assert type_of_result(ToMixedPrecision()(module)) == TensorType((1, 1), "float16")
    aliases = "".join(f"let %y{n + 1} = %y{n};\n" for n in range(5000))
    module = parse(f"{HEAD}def @main(%x: Tensor[(1, 1), float32]) {{ let %y0 = {NARROW}; {aliases} %y5000 }}")
    assert type_of_result(ToMixedPrecision()(module)) == TensorType((1, 1), "float16")


def widened(value: object) -> object:
    """Convert a value's floating-point tensors to float64."""
    if isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value)
        return array.astype("float64") if array.dtype.kind == "f" else array
    return tuple(map(widened, value)) if isinstance(value, tuple) else value


@pytest.mark.parametrize("target", ["float16", "bfloat16", "float64"])
@pytest.mark.parametrize("keeps", [False, True])
def test_random_programs_keep_their_meaning(target: str, keeps: bool) -> None:
    step = ToMixedPrecision(target, missing_op_mode=2)
    for seed in range(100):
        module = generate(30_000 + seed, size=10 + seed % 40, closed=True).module
        with PassContext(config={"relay.ToMixedPrecision.keep_orig_output_dtype": keeps}):
            result = step(module)
        before, after = infer_types(module)["main"].checked_type, result["main"].checked_type
        assert before == after or not keeps, seed
        assert close(widened(value_of(module)), widened(value_of(result)), step.contract.error), seed


def test_an_image_network() -> None:
    module = models.load("lenet")
    result = ToMixedPrecision(missing_op_mode=2)(module)
    rng = np.random.default_rng(0)
    function = infer_types(module)["main"]
    assert isinstance(function, Function)
    values = [
        np.asarray(rng.normal(0, 0.1, tensor_type(p).concrete_shape), "float32") for p in function.params
    ]
    wide, narrow = (create_executor(mod=m).evaluate()(*values).numpy() for m in (module, result))
    np.testing.assert_allclose(wide, narrow, rtol=2e-2, atol=2e-3)


def test_a_variable_that_is_a_function_of_the_module_keeps_its_type() -> None:
    text = """
    def @double(%x: Tensor[(2, 2), float32]) -> Tensor[(2, 2), float32] { add(%x, %x) }
    def @main(%x: Tensor[(2, 2), float32]) { let %f = @double; %f(nn.dense(%x, %x, units=2)) }
    """
    result = ToMixedPrecision()(parse(text))
    assert str(infer_types(result)["main"].checked_type).endswith("-> Tensor[(2, 2), float32]")


def test_names_of_the_module_stand_anywhere() -> None:
    """In tuples, branches and results: LambdaLift leaves them there."""
    tried = 0
    for seed in range(90_180, 90_330, 6):
        lifted = LambdaLift()(generate(seed, size=10 + seed % 50).module)
        tried += "lifted_name" in lifted.astext()
        infer_types(ToMixedPrecision()(lifted))
    assert tried > 15
