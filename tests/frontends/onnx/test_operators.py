"""Operators of ONNX, imported and run by the interpreter, give what ONNX Runtime gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from relay_explorer.frontends import from_onnx
from tests.frontends.onnx.support import Array, assert_same, check, floats, interpreted, of_node

R = np.random.default_rng(13)


def x(*shape: int) -> Array:
    return R.standard_normal(shape).astype("float32")


def i(*values: int) -> Array:
    return np.array(values, "int64")


def ints(*shape: int) -> Array:
    return R.integers(-9, 9, shape).astype("int64")


IMAGE = x(2, 4, 9, 8)
Case = tuple[str, list[Array | None], dict[str, Any]]

CASES: dict[str, Case] = {
    # arithmetic
    "integer division truncates": ("Div", [i(-7, 7, -7), i(2, -2, -2)], {}),
    "Mod has the divisor's sign": ("Mod", [i(-7, 7, -7), i(2, -2, -2)], {}),
    "fmod has the dividend's sign": ("Mod", [x(5), x(5)], {"fmod": 1}),
    "power of a float by an integer": ("Pow", [np.abs(x(3)) + 1, i(0, 1, 3)], {}),
    "power of an integer by a float": ("Pow", [np.array([1, 2, 3], "int32"), floats([2, 0.5, 3])], {}),
    "square": ("Pow", [x(2, 3), floats(2)], {"constants": [1]}),
    "broadcast": ("Add", [x(2, 1, 4), x(3, 1)], {}),
    "maximum of three": ("Max", [x(2, 3), x(3), x(1, 1)], {}),
    "mean of three": ("Mean", [x(2, 3), x(2, 3), x(3)], {}),
    "round half to even": ("Round", [floats([0.5, 1.5, -2.5, 2.4])], {}),
    "infinite below": ("IsInf", [floats([np.inf, -np.inf, np.nan, 1])], {"detect_positive": 0}),
    "clip by attributes": ("Clip", [x(9)], {"opset": 6, "min": -0.5, "max": 0.5}),
    "clip by weights": ("Clip", [x(9), floats(-0.5), floats(0.5)], {"constants": [1, 2]}),
    "clip by operands": ("Clip", [x(9), None, floats(0.5)], {}),
    "clip of large integers": (
        "Clip", [i(2**60 + 1, -5, 2**53 + 1), i(0).reshape(()), None], {"constants": [1]},
    ),
    # activations
    "leaky ReLU": ("LeakyRelu", [x(9)], {"alpha": 0.3}),
    "PReLU by channel": ("PRelu", [IMAGE, x(4, 1, 1)], {}),
    "ELU": ("Elu", [x(9)], {"alpha": 0.7}),
    "SELU": ("Selu", [x(9)], {}),
    "CELU": ("Celu", [x(9)], {"alpha": 2.0}),
    "hard sigmoid": ("HardSigmoid", [3 * x(9)], {"alpha": 0.3}),
    "hard swish": ("HardSwish", [4 * x(9)], {}),
    "Mish": ("Mish", [4 * x(9)], {}),
    "softplus of large numbers": ("Softplus", [100 * x(9)], {}),
    "shrink": ("Shrink", [x(9)], {"lambd": 0.4, "bias": 0.1}),
    "GELU": ("Gelu", [x(9)], {}),
    "GELU by tanh": ("Gelu", [x(9)], {"approximate": "tanh"}),
    "softmax": ("Softmax", [x(2, 3, 4)], {"axis": 1}),
    "softmax of a matrix, opset 11": ("Softmax", [x(2, 3, 4)], {"axis": 1, "opset": 11}),
    "log-softmax of a matrix, opset 11": ("LogSoftmax", [x(2, 3, 4)], {"opset": 11}),
    "hardmax": ("Hardmax", [x(2, 3, 4)], {"axis": 1}),
    # convolutions
    "convolution": ("Conv", [IMAGE, x(6, 4, 3, 3), x(6)], {"pads": [1, 0, 2, 1], "strides": [2, 1]}),
    "SAME_UPPER": ("Conv", [IMAGE, x(6, 4, 3, 2)], {"auto_pad": "SAME_UPPER", "strides": [2, 3]}),
    "SAME_LOWER": ("Conv", [IMAGE, x(6, 4, 3, 2)], {"auto_pad": "SAME_LOWER", "strides": [2, 3]}),
    "depthwise convolution": ("Conv", [IMAGE, x(8, 1, 3, 3)], {"group": 4, "dilations": [2, 1]}),
    "convolution of sequences": ("Conv", [x(2, 4, 9), x(6, 2, 3)], {"group": 2}),
    "convolution of volumes": ("Conv", [x(1, 2, 5, 6, 7), x(3, 2, 2, 3, 2)], {"pads": [1, 0, 1, 0, 1, 1]}),
    "transposed": ("ConvTranspose", [IMAGE, x(4, 6, 3, 3), x(6)], {"strides": [2, 2], "pads": [1, 0, 1, 1]}),
    "transposed, in groups": ("ConvTranspose", [IMAGE, x(4, 3, 3, 3)], {"group": 2, "strides": [2, 1]}),
    "transposed, output padding": (
        "ConvTranspose", [IMAGE, x(4, 6, 3, 3)], {"strides": [3, 2], "output_padding": [2, 1]},
    ),
    "transposed to a shape": (
        "ConvTranspose", [IMAGE, x(4, 6, 3, 3)], {"strides": [2, 2], "output_shape": [18, 16]},
    ),
    "transposed, SAME_UPPER": (
        "ConvTranspose", [IMAGE, x(4, 6, 3, 3)], {"strides": [2, 2], "auto_pad": "SAME_UPPER"},
    ),
    "deformable": (
        "DeformConv", [x(1, 4, 5, 6), x(6, 2, 3, 2), 2 * x(1, 24, 3, 6), x(6), x(1, 12, 3, 6)],
        {"pads": [1, 0, 2, 1], "strides": [2, 1], "group": 2, "offset_group": 2, "opset": 19},
    ),
    "deformable, without a mask": (
        "DeformConv", [x(1, 2, 5, 4), x(3, 2, 3, 3), x(1, 18, 5, 4)], {"pads": [1, 1, 1, 1], "opset": 19},
    ),
    # pools
    "max pool": ("MaxPool", [IMAGE], {"kernel_shape": [3, 2], "strides": [2, 2], "pads": [1, 0, 1, 1]}),
    "max pool, rounded up": ("MaxPool", [IMAGE], {"kernel_shape": [2, 3], "strides": [2, 3], "ceil_mode": 1}),
    "max pool with indices": (
        "MaxPool", [IMAGE], {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1], "outputs": 2},
    ),
    "average pool": ("AveragePool", [IMAGE], {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}),
    "average with padding": (
        "AveragePool", [IMAGE], {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "count_include_pad": 1},
    ),
    "average, SAME_UPPER": (
        "AveragePool", [IMAGE], {"kernel_shape": [3, 2], "strides": [2, 2], "auto_pad": "SAME_UPPER"},
    ),
    "global average": ("GlobalAveragePool", [IMAGE], {}),
    "global maximum of volumes": ("GlobalMaxPool", [x(1, 2, 3, 4, 5)], {}),
    "Lp pool": ("LpPool", [IMAGE], {"kernel_shape": [3, 2], "strides": [2, 1], "p": 3, "opset": 18}),
    # normalizations
    "batch norm": ("BatchNormalization", [IMAGE, x(4), x(4), x(4), np.abs(x(4))], {"epsilon": 1e-3}),
    "instance norm": ("InstanceNormalization", [IMAGE, x(4), x(4)], {}),
    "local response norm": ("LRN", [IMAGE], {"size": 3, "alpha": 0.1}),
    "Lp norm": ("LpNormalization", [x(3, 4)], {"axis": 0, "p": 1}),
    # products
    "matrix product": ("MatMul", [x(2, 3), x(3, 4)], {}),
    "vector times matrices": ("MatMul", [x(3), x(5, 3, 4)], {}),
    "matrices times vector": ("MatMul", [x(5, 4, 3), x(3)], {}),
    "vector times vector": ("MatMul", [x(3), x(3)], {}),
    "broadcast stacks": ("MatMul", [x(2, 1, 3, 4), x(5, 4, 6)], {}),
    "stacks of four axes": ("MatMul", [x(2, 3, 4, 5), x(2, 3, 5, 6)], {}),
    "one matrix for a stack": ("MatMul", [x(2, 3, 4), x(4, 6)], {"constants": [1]}),
    "Gemm": ("Gemm", [x(3, 2), x(4, 3), x(4)], {"transA": 1, "transB": 1, "alpha": 0.5, "beta": 2.0}),
    "Gemm, a column": ("Gemm", [x(2, 3), x(3, 4), x(2, 1)], {}),
    # reductions
    "sum by attribute": ("ReduceSum", [x(2, 3, 4)], {"axes": [0, -1], "opset": 11}),
    "sum by weight": ("ReduceSum", [x(2, 3, 4), i(1)], {"constants": [1], "keepdims": 0}),
    "sum by operand": ("ReduceSum", [x(2, 3, 4), i(-3, 2)], {"keepdims": 0}),
    "maximum by operand": ("ReduceMax", [x(2, 3, 4), i(1)], {}),
    "sum over nothing": ("ReduceSum", [x(2, 3), i()], {"noop_with_empty_axes": 1, "constants": [1]}),
    "log-sum-exp": ("ReduceLogSumExp", [100 * x(2, 3), i(1)], {"constants": [1]}),
    "L2": ("ReduceL2", [x(2, 3, 4), i(0, 1)], {"constants": [1]}),
    "last of the largest": ("ArgMax", [i(3, 1, 3, 2)], {"select_last_index": 1}),
    "first of the smallest": ("ArgMin", [floats([[3, 1, 1], [2, 2, 5]])], {"axis": 1, "keepdims": 0}),
    # shapes
    "reshape": ("Reshape", [x(2, 3, 4), i(0, -1)], {"constants": [1]}),
    "reshape by operand": ("Reshape", [x(2, 3, 4), i(4, -1)], {}),
    "reshape, zero allowed": ("Reshape", [x(0, 3, 4), i(3, 4, 0)], {"constants": [1], "allowzero": 1}),
    "flatten": ("Flatten", [x(2, 3, 4)], {"axis": 2}),
    "flatten from the end": ("Flatten", [x(2, 3, 4)], {"axis": -1}),
    "flatten to a row": ("Flatten", [x(2, 3, 4)], {"axis": 0}),
    "squeeze by attribute": ("Squeeze", [x(1, 3, 1)], {"axes": [0], "opset": 11}),
    "squeeze by operand": ("Squeeze", [x(1, 3, 1), i(-1)], {}),
    "squeeze all": ("Squeeze", [x(1, 3, 1)], {}),
    "unsqueeze": ("Unsqueeze", [x(3, 4), i(-1, 0)], {"constants": [1]}),
    "unsqueeze by operand": ("Unsqueeze", [x(3, 4), i(3, 1)], {}),
    "transpose": ("Transpose", [x(2, 3, 4)], {"perm": [2, 0, 1]}),
    "reverse all axes": ("Transpose", [x(2, 3, 4)], {}),
    "part of a shape": ("Shape", [x(2, 3, 4)], {"start": -2}),
    "size": ("Size", [x(2, 3, 4)], {}),
    "expand": ("Expand", [x(3, 1), i(2, 1, 4)], {"constants": [1]}),
    "expand by operand": ("Expand", [x(3, 1), i(2, 1, 4)], {}),
    "tile": ("Tile", [x(2, 3), i(2, 1)], {"constants": [1]}),
    "tile by operand": ("Tile", [x(2, 3), i(2, 2)], {}),
    "depth to space": ("DepthToSpace", [x(1, 8, 2, 3)], {"blocksize": 2, "mode": "CRD"}),
    "space to depth": ("SpaceToDepth", [x(1, 2, 4, 6)], {"blocksize": 2}),
    # slices
    "slice by attributes": ("Slice", [x(5, 6)], {"starts": [1, -3], "ends": [100, -1], "opset": 9}),
    "slice backwards": ("Slice", [x(5, 6), i(-1), i(-100), i(1), i(-2)], {"constants": [1, 2, 3, 4]}),
    "slice backwards from before the beginning": (
        "Slice",
        [x(4), i(-9), i(-9), i(0), i(-1)],
        {"constants": [1, 2, 3, 4]},
    ),
    "slice backwards from a computed place": ("Slice", [x(4), i(-9), i(-9), i(0), i(-1)], {}),
    "empty slice": ("Slice", [x(5, 6), i(4), i(2), i(0)], {"constants": [1, 2, 3]}),
    "slice by operands": ("Slice", [x(5, 6), i(1), i(4), i(1)], {}),
    "slice with a computed step": ("Slice", [x(5, 6), i(1), i(9), i(1), i(2)], {"constants": [3]}),
    "split evenly": ("Split", [x(2, 6)], {"axis": 1, "outputs": 3, "num_outputs": 3}),
    "split unevenly": ("Split", [x(2, 7)], {"axis": 1, "outputs": 3, "num_outputs": 3}),
    "split into parts of which one is empty": ("Split", [x(4)], {"outputs": 3, "num_outputs": 3}),
    "split by sizes": ("Split", [x(7, 2), i(1, 4, 2)], {"outputs": 3, "constants": [1]}),
    "split by operand": ("Split", [x(7, 2), i(1, 4, 2)], {"outputs": 3}),
    "split by attribute": ("Split", [x(7, 2)], {"split": [3, 4], "outputs": 2, "opset": 11}),
    "concatenate": ("Concat", [x(2, 3), x(2, 1)], {"axis": -1}),
    "pad": ("Pad", [x(2, 3), i(1, 0, 0, 2), floats(1.5)], {"constants": [1]}),
    "pad by cutting": ("Pad", [x(4, 5), i(-1, 1, 2, -2)], {"constants": [1]}),
    "pad by reflection": ("Pad", [x(4, 5), i(1, 2, 2, 3)], {"constants": [1], "mode": "reflect"}),
    "pad around": ("Pad", [x(4, 5), i(1, 2, 2, 3)], {"constants": [1], "mode": "wrap"}),
    "pad around by an operand": ("Pad", [x(4, 5), i(1, -1, -2, 3)], {"mode": "wrap"}),
    "pad some axes": ("Pad", [x(4, 5), i(1, 2), None, i(1)], {"constants": [1, 3]}),
    "pad by operand": ("Pad", [x(4, 5), i(1, 2, 0, 3)], {}),
    "pad by attributes": ("Pad", [x(4, 5)], {"pads": [1, 2, 0, 3], "value": 2.0, "opset": 10}),
    "reverse sequences": ("ReverseSequence", [x(4, 3), i(1, 4, 2)], {}),
    # indices
    "gather": ("Gather", [x(4, 5), np.array([[0, -1], [2, 1]])], {"axis": 1}),
    "gather by weight": ("Gather", [x(4, 5), i(-1, 0)], {"constants": [1]}),
    "gather elements": ("GatherElements", [x(4, 5), R.integers(-4, 4, (2, 5))], {}),
    "gather n-dimensional": ("GatherND", [x(2, 3, 4), R.integers(-2, 2, (3, 2))], {}),
    "gather n-dimensional, in batches": (
        "GatherND", [x(2, 3, 4), R.integers(0, 3, (2, 5, 1))], {"batch_dims": 1},
    ),
    "scatter": ("ScatterElements", [x(4, 5), i(1, -1).reshape(1, 2), x(1, 2)], {"axis": 1}),
    "scatter, added": ("ScatterElements", [x(3), i(1, 1, -2), x(3)], {"reduction": "add"}),
    "scatter n-dimensional": ("ScatterND", [x(4, 5), np.array([[0], [-1]]), x(2, 5)], {}),
    "scatter n-dimensional, largest": ("ScatterND", [x(4), np.array([[1], [1]]), x(2)], {"reduction": "max"}),
    "non-zero": ("NonZero", [floats([[1, 0], [2, 3]])], {}),
    "non-zero of a number": ("NonZero", [np.asarray(3.0, "float32")], {}),
    "compress": ("Compress", [x(3, 4), np.array([True, False, True])], {"axis": 0}),
    "compress everything": ("Compress", [x(2, 2), np.array([False, True, True])], {"constants": [1]}),
    "where": ("Where", [np.array([True, False]), x(3, 2), x(1)], {}),
    "one-hot": ("OneHot", [i(0, -1, 7), i(3), floats([2, 5])], {"axis": 0, "constants": [1]}),
    "one-hot by operand": ("OneHot", [i(0, -1, 7), i(3), floats([2, 5])], {}),
    "largest": ("TopK", [x(3, 5), i(2)], {"outputs": 2, "constants": [1]}),
    "smallest": ("TopK", [x(3, 5), i(2)], {"outputs": 2, "largest": 0, "axis": 0}),
    "cumulative sum": ("CumSum", [x(3, 4), i(1).reshape(())], {"exclusive": 1, "reverse": 1}),
    "cumulative sum by operand": ("CumSum", [x(3, 4), i(-2).reshape(())], {}),
    "lower triangle": ("Trilu", [x(4, 4), i(-1).reshape(())], {"upper": 0}),
    # creation
    "constant of a shape": ("ConstantOfShape", [i(2, 3)], {}),
    "range": ("Range", [i(9).reshape(()), i(2).reshape(()), i(-3).reshape(())], {}),
    "identity matrix": ("EyeLike", [x(3, 4)], {"k": 1}),
    "cast to bool": ("Cast", [floats([0, 0.5, -2])], {"to": 9}),
    "cast to integers": ("Cast", [floats([0.9, -1.9])], {"to": 7}),
    "unpool": (
        "MaxUnpool",
        [x(1, 1, 2, 2), i(5, 7, 13, 15).reshape(1, 1, 2, 2)],
        {"kernel_shape": [2, 2], "strides": [2, 2]},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_operator_agrees_with_onnx_runtime(name: str) -> None:
    op, operands, options = CASES[name]
    proto, inputs = of_node(op, operands, **options)
    check(proto, inputs, atol=2e-5)


FUNCTIONS = """Neg Abs Ceil Floor Exp Erf Sign Sin Cos Tan Asin Acos Atan Sinh Cosh Asinh Atanh Tanh
Sigmoid Softsign Reciprocal"""


@pytest.mark.parametrize("op", FUNCTIONS.split())
def test_function_of_elements_agrees_with_onnx_runtime(op: str) -> None:
    proto, inputs = of_node(op, [R.uniform(-0.9, 0.9, 7).astype("float32")])
    check(proto, inputs)


@pytest.mark.parametrize("op", ["And", "Or", "Xor"])
def test_logic_agrees_with_onnx_runtime(op: str) -> None:
    proto, inputs = of_node(op, [np.array([[True], [False]]), np.array([True, False])])
    check(proto, inputs)


@pytest.mark.parametrize("op", ["Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"])
def test_comparison_agrees_with_onnx_runtime(op: str) -> None:
    proto, inputs = of_node(op, [ints(2, 1), ints(3)])
    check(proto, inputs)


def test_space_to_depth_in_the_order_of_channels() -> None:
    """ONNX Runtime does not have this mode yet, which the newest opset adds."""
    data = x(2, 3, 4, 6)
    proto, inputs = of_node("SpaceToDepth", [data], opset=28, blocksize=2, mode="CRD")
    blocks = data.reshape(2, 3, 2, 2, 3, 2).transpose(0, 1, 3, 5, 2, 4).reshape(2, 12, 2, 3)
    assert_same(interpreted(from_onnx(proto, opset=21)[0], inputs), [blocks])
