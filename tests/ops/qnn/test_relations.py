"""The types of quantized operators: what relations accept, infer and refuse, and how calls are printed."""

from __future__ import annotations

import numpy as np
import pytest
from inline_snapshot import snapshot
from inline_snapshot.extra import raises

from relay_explorer import relay
from relay_explorer.ir.expr import Expr, Function, Var, const
from relay_explorer.ir.module import IRModule
from relay_explorer.ir.typed import tensor_type
from relay_explorer.ir.types import TensorType
from relay_explorer.text import astext, parse
from relay_explorer.typing import infer_types
from tests.ops.qnn.generate import MAKERS, program

op = relay.qnn.op
SCALE, ZERO = const(0.5), const(0)


def typed(body: Expr) -> TensorType:
    """Return the inferred type of an expression."""
    params = relay.analysis.free_vars(body)
    main = infer_types(IRModule.from_expr(Function(params, body)))["main"]
    assert isinstance(main, Function)
    return tensor_type(main.body)


def data(*shape: object, dtype: str = "int8") -> Var:
    return relay.var("x", shape=shape, dtype=dtype)


def vector(count: int, dtype: str = "float32") -> Expr:
    return const(np.full(count, 1, dtype))


@pytest.mark.parametrize("name", MAKERS)
def test_text_is_read_back(name: str) -> None:
    for seed in range(5):
        module, _ = program(name, seed)
        again = infer_types(parse(astext(module)))
        assert astext(again) == astext(module)


def test_calls_are_printed_as_in_tvm() -> None:
    x, w = data(1, 3, 8, 8, dtype="uint8"), relay.var("w", shape=(4, 3, 3, 3), dtype="int8")
    sums = op.conv2d(x, w, const(3), ZERO, SCALE, SCALE, kernel_size=(3, 3), channels=4, padding=1)
    body = op.requantize(sums, SCALE, ZERO, SCALE, ZERO, axis=1)
    assert str(Function([x, w], body)) == snapshot(
        "fn (%x: Tensor[(1, 3, 8, 8), uint8], %w: Tensor[(4, 3, 3, 3), int8]) {\n"
        "  %0 = qnn.conv2d(%x, %w, 3, 0, 0.5f, 0.5f, padding=[1, 1, 1, 1], channels=4, "
        'kernel_size=[3, 3], out_dtype="int32");\n'
        '  qnn.requantize(%0, 0.5f, 0, 0.5f, 0, axis=1, out_dtype="int8")\n'
        "}"
    )
    real = op.dequantize(op.quantize(relay.var("x", shape=(2,)), SCALE, ZERO), SCALE, ZERO, axis=0)
    assert str(Function(relay.analysis.free_vars(real), real)) == snapshot("""\
fn (%x: Tensor[(2), float32]) {
  %0 = qnn.quantize(%x, 0.5f, 0, out_dtype="int8");
  qnn.dequantize(%0, 0.5f, 0, axis=0, out_dtype="float32")
}\
""")


def test_results_have_the_shape_of_the_plain_operator() -> None:
    x = data(2, relay.Any(), 6)
    assert typed(
        op.dense(x, relay.var("w", shape=(3, 6), dtype="int8"), ZERO, ZERO, SCALE, SCALE, 3)
    ) == TensorType((2, relay.Any(), 3), "int32")
    assert typed(op.requantize(x, SCALE, ZERO, SCALE, ZERO, out_dtype="uint8")) == TensorType(
        (2, relay.Any(), 6), "uint8"
    )
    a, b = data(2, 6), relay.var("y", shape=(6,), dtype="int8")
    assert typed(op.add(a, b, SCALE, ZERO, SCALE, ZERO, SCALE, ZERO)) == TensorType((2, 6), "int8")


def test_parameters_are_numbers_vectors_of_one_element_or_one_for_each_channel() -> None:
    x = data(2, 6, dtype="int32")
    for scale in (SCALE, vector(1), vector(6)):
        for zero in (ZERO, vector(1, "int32"), vector(6, "int32")):
            assert typed(op.requantize(x, scale, zero, SCALE, ZERO)).dtype == "int8"


def test_a_vector_of_another_length_is_refused() -> None:
    with raises(
        snapshot(
            "TypeInferenceError:\n"
            "error: `qnn.requantize`: input_scale must be one number or a vector of 6, one for each "
            "channel, but its shape is (5)\n"
            "help: an attribute names the channels' axis; if it is another one, set it"
        )
    ):
        typed(op.requantize(data(2, 6, dtype="int32"), vector(5), ZERO, SCALE, ZERO))
    with raises(
        snapshot(
            "TypeInferenceError:\n"
            "error: `qnn.quantize`: output_scale must be one number or a vector of 2, one for each "
            "channel, but its shape is (6)\n"
            "help: an attribute names the channels' axis; if it is another one, set it"
        )
    ):
        typed(op.quantize(relay.var("x", shape=(2, 6)), vector(6), ZERO, axis=0))
    with raises(
        snapshot(
            "TypeInferenceError:\n"
            "error: `qnn.dequantize`: input_scale must be one number or a vector of 6, one for each "
            "channel, but its shape is (2, 3)\n"
            "help: relay.reshape(…, (-1,)) makes a vector of it"
        )
    ):
        typed(op.dequantize(data(2, 6), const(np.ones((2, 3), "float32")), ZERO))


def test_the_result_has_one_scale() -> None:
    with raises(
        snapshot("""\
TypeInferenceError:
error: `qnn.requantize`: output_scale must be one number, but its shape is (6)
help: give a scalar: relay.const(…, "float32")\
""")
    ):
        typed(op.requantize(data(2, 6, dtype="int32"), SCALE, ZERO, vector(6), ZERO))


def test_scales_are_float32_and_zero_points_int32() -> None:
    with raises(
        snapshot("""\
TypeInferenceError:
error: `qnn.dequantize`: input_scale must be float32, but its elements are float64
help: give float32: relay.const(…, "float32")\
""")
    ):
        typed(op.dequantize(data(2), const(1.0, "float64"), ZERO))
    with raises(
        snapshot("""\
TypeInferenceError:
error: `qnn.dequantize`: input_zero_point must be int32, but its elements are int8
help: give int32: relay.const(…, "int32")\
""")
    ):
        typed(op.dequantize(data(2), SCALE, const(3, "int8")))


def test_axes_matter_only_for_vectors() -> None:
    x = relay.var("x", shape=(2,))
    assert typed(op.quantize(x, SCALE, ZERO, axis=7)).dtype == "int8"
    with raises(
        snapshot(
            "TypeInferenceError:\n"
            "error: `qnn.quantize`: axis 7 is out of range: the tensor has 1 axis, so quantize takes -1 "
            "to 0\n"
            "note: `%x` is annotated `Tensor[(2), float32]`"
        )
    ):
        typed(op.quantize(x, vector(2), ZERO, axis=7))


def test_elements_must_be_quantized() -> None:
    with raises(
        snapshot(
            "TypeInferenceError:\n"
            "error: `qnn.dense`: data must be int8, uint8, int16 or uint16, but its elements are "
            "float32\n"
            "note: `%x` is annotated `Tensor[(2, 6), float32]`\n"
            'help: relay.qnn.op.quantize(…, out_dtype="int8") makes it from floating-point numbers'
        )
    ):
        typed(op.dense(relay.var("x", shape=(2, 6)), data(3, 6), ZERO, ZERO, SCALE, SCALE, 3))
    with raises(
        snapshot("""\
TypeInferenceError:
error: `qnn.tanh`: data must be int8 or uint8, but its elements are int16
note: `%x` is annotated `Tensor[(2), int16]`
help: relay.qnn.op.requantize(…, out_dtype="int8") converts it from one scale to another\
""")
    ):
        typed(op.tanh(data(2, dtype="int16"), SCALE, ZERO, SCALE, ZERO))
    with raises(
        snapshot("""\
TypeInferenceError:
error: `qnn.quantize`: data must be float32, but its elements are int8
note: `%x` is annotated `Tensor[(2), int8]`
help: convert it: relay.cast(…, "float32")\
""")
    ):
        typed(op.quantize(data(2), SCALE, ZERO))


def test_element_types_of_results_are_checked() -> None:
    with raises(
        snapshot("""\
TypeInferenceError:
error: `qnn.quantize`: out_dtype="int64" must be int8, uint8, int16, uint16 or int32
note: `%x` is annotated `Tensor[(2), float32]`\
""")
    ):
        typed(op.quantize(relay.var("x", shape=(2,)), SCALE, ZERO, out_dtype="int64"))
    with raises(
        snapshot("""\
TypeInferenceError:
error: `qnn.dequantize`: out_dtype="float64" must be float32 or float16
note: `%x` is annotated `Tensor[(2), int8]`\
""")
    ):
        typed(op.dequantize(data(2), SCALE, ZERO, out_dtype="float64"))


def test_attributes_of_requantize_are_checked() -> None:
    with raises(
        snapshot("""\
TypeInferenceError:
error: `qnn.requantize`: rounding="DOWN" must be UPWARD, TONEAREST, TOEVEN or None
note: `%x` is annotated `Tensor[(2), int8]`\
""")
    ):
        typed(op.requantize(data(2), SCALE, ZERO, SCALE, ZERO, rounding="DOWN"))
    with raises(
        snapshot("""\
TypeInferenceError:
error: `qnn.requantize`: compute_dtype="int32" must be int64, float32, float64 or None
note: `%x` is annotated `Tensor[(2), int8]`\
""")
    ):
        typed(op.requantize(data(2), SCALE, ZERO, SCALE, ZERO, compute_dtype="int32"))


def test_a_concatenation_needs_the_parameters_of_every_part() -> None:
    x, y = data(2, 6), relay.var("y", shape=(2, 3), dtype="int8")
    assert typed(op.concatenate([x, y], [SCALE] * 2, [ZERO] * 2, SCALE, ZERO, axis=1)).shape == (2, 9)
    with raises(
        snapshot("""\
TypeInferenceError:
error: `qnn.concatenate`: qnn.concatenate expects 2 scales, got 1
note: `(%x, %y)` is a tuple of type `(Tensor[(2, 6), int8], Tensor[(2, 3), int8])`
note: `(0.5)` is a tuple of type `(float32,)`
help: give one for each tensor\
""")
    ):
        typed(op.concatenate([x, y], [SCALE], [ZERO] * 2, SCALE, ZERO, axis=1))


def test_a_kernels_vectors_have_an_element_per_output_channel() -> None:
    x, w = data(1, 4, 8, 8), relay.var("w", shape=(4, 2, 3, 3), dtype="int8")

    def depthwise(scale: Expr, zero: Expr) -> Expr:
        result: Expr = op.conv2d(x, w, ZERO, zero, SCALE, scale, (3, 3), 8, groups=4)
        return result

    assert typed(depthwise(vector(8), vector(8, "int32"))).shape == (1, 8, 6, 6)
    assert typed(depthwise(vector(8), vector(4, "int32"))).shape == (1, 8, 6, 6)  # of each input channel
    with raises(
        snapshot(
            "TypeInferenceError:\n"
            "error: `qnn.conv2d`: kernel_scale must be one number or a vector of 8, one for each "
            "channel, but its shape is (3)\n"
            "help: the result has 8 channels"
        )
    ):
        typed(depthwise(vector(3), ZERO))


def test_simulations_take_vectors_whose_length_is_dynamic() -> None:
    x = relay.var("x", shape=(2, 6))
    scale, zero = relay.var("s", shape=(relay.Any(),)), relay.var("z", shape=(relay.Any(),), dtype="int32")
    assert typed(op.simulated_quantize(x, scale, zero)) == TensorType((2, 6), "float32")
    with raises(
        snapshot(
            "TypeInferenceError:\n"
            "error: `qnn.simulated_quantize`: the scale must be a vector of 1 or 6 elements of float32, "
            "but is float32 of shape (5)\n"
            "note: the result of `reshape(…)` is `Tensor[(5), float32]`\n"
            "help: relay.reshape(…, (-1,)) makes a vector of it"
        )
    ):
        typed(op.simulated_quantize(x, vector(5), const([0])))
    with raises(
        snapshot("""\
TypeInferenceError:
error: `qnn.simulated_quantize`: the code of the element type must be int32, not float32
help: the codes are 0 (disable), 1 (int8), 2 (uint8), 3 (int32)\
""")
    ):
        typed(op.simulated_quantize(x, vector(6), const([0]), out_dtype=const(1.0)))


def test_what_is_not_known_yet_is_waited_for() -> None:
    """The type of a parameter of a function follows from its use elsewhere."""
    scale = relay.var("s")
    x = relay.var("x", shape=(2,))
    body = op.quantize(x, relay.multiply(scale, const(2.0)), ZERO)
    assert typed(Function([x], relay.Let(scale, const(0.5), body)).body).dtype == "int8"
