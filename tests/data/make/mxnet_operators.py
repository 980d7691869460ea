"""Write `operators.json` and `operators.bin` of `tests/data/mxnet`: one small graph for each use of an operator,
with random inputs and weights, and the outputs of MXNet.

Run it as `mxnet.py` beside it.
"""
# ruff: noqa: C408, E501  # calls are listed as they are written in MXNet

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.pop(0)  # this folder, whose mxnet.py is not MXNet

import numpy as np

mx: Any = importlib.import_module("mxnet")
sym: Any = mx.sym
FOLDER = Path(__file__).parents[1] / "mxnet"
DATA, OTHER = sym.var("data"), sym.var("other")
RANDOM = np.random.RandomState(1)
CASES: list[dict[str, Any]] = []
BYTES = bytearray()


def tensor(*shape: int, lo: float = -2, hi: float = 2) -> Any:
    """Return random numbers from `lo` to `hi`."""
    return RANDOM.uniform(lo, hi, shape).astype("float32")


def stored(array: Any) -> list[Any]:
    """Append an array to the file of bytes; return its type, its shape and where it begins."""
    offset = len(BYTES)
    BYTES.extend(array.tobytes())
    return [str(array.dtype), list(array.shape), offset]


def case(name: str, symbol: Any, *arrays: Any, **named: Any) -> None:
    """Evaluate a graph, whose inputs are `data`, `other` and those in `named`, with random weights."""
    inputs = dict(zip(("data", "other"), arrays)) | named
    shapes, _, states = symbol.infer_shape(**{key: value.shape for key, value in inputs.items()})
    if shapes is None:  # MXNet does not infer shapes of control flow
        shapes, states = [inputs[key].shape for key in symbol.list_arguments()], []
    weights = {
        key: tensor(*shape, lo=-0.5, hi=0.5)
        for key, shape in zip(symbol.list_arguments(), shapes)
        if key not in inputs
    }
    aux = {key: tensor(*shape, lo=0.2, hi=1) for key, shape in zip(symbol.list_auxiliary_states(), states)}
    values = {key: mx.nd.array(value, dtype=value.dtype) for key, value in (inputs | weights).items()}
    executor = symbol.bind(
        mx.cpu(), values, aux_states={key: mx.nd.array(value) for key, value in aux.items()}
    )
    outputs = [output.asnumpy() for output in executor.forward(is_train=False)]
    CASES.append(
        {
            "name": name,
            "symbol": json.loads(symbol.tojson()),
            "inputs": {key: stored(value) for key, value in inputs.items()},
            "weights": {key: stored(value) for key, value in (weights | aux).items()},
            "outputs": [stored(output) for output in outputs],
        }
    )


def elementwise() -> None:
    for n in [
        "abs",
        "relu",
        "sigmoid",
        "exp",
        "log2",
        "log10",
        "sqrt",
        "rsqrt",
        "negative",
        "sign",
        "floor",
        "ceil",
        "trunc",
        "fix",
        "sin",
        "cos",
        "tan",
        "arctan",
        "sinh",
        "cosh",
        "tanh",
        "arcsinh",
        "erf",
        "square",
        "reciprocal",
        "cbrt",
        "rcbrt",
        "expm1",
        "log1p",
        "degrees",
        "radians",
        "softsign",
        "round",
        "rint",
        "log",
        "hard_sigmoid",
        "logical_not",
    ]:
        a = (
            tensor(3, 4, lo=0.1, hi=3)
            if n in ("log", "log2", "log10", "sqrt", "rsqrt", "reciprocal", "rcbrt", "log1p")
            else np.concatenate(
                [tensor(3, 4), np.array([[1.5, 2.5, -1.5, -2.5], [0.5, -0.5, 0, 3]], "float32")]
            )
        )
        if n in ("rcbrt",):
            a = tensor(3, 4, lo=0.5)
        case(n, getattr(sym, n)(DATA), a)
    for n in ["arcsin", "arccos", "arctanh"]:
        case(n, getattr(sym, n)(DATA), tensor(3, 4, lo=-0.9, hi=0.9))
    case("arccosh", sym.arccosh(DATA), tensor(3, lo=1.1, hi=3))
    for n in ["elemwise_add", "elemwise_sub", "elemwise_mul", "elemwise_div"]:
        case(n, getattr(sym, n)(DATA, OTHER), tensor(3, 4), tensor(3, 4, lo=0.5))
    for n in [
        "add",
        "sub",
        "mul",
        "div",
        "mod",
        "power",
        "maximum",
        "minimum",
        "equal",
        "not_equal",
        "greater",
        "greater_equal",
        "lesser",
        "lesser_equal",
        "logical_and",
        "logical_or",
        "logical_xor",
        "hypot",
    ]:
        case(
            "broadcast_" + n,
            getattr(sym, "broadcast_" + n)(DATA, OTHER),
            np.round(tensor(3, 4, lo=0.6, hi=4)),
            np.round(tensor(1, 4, lo=0.6, hi=4)),
        )
    case("mod neg", DATA % 3, tensor(3, 4, lo=-5, hi=5))
    case("rmod", 5 % DATA, tensor(3, 4, lo=0.5, hi=5))
    case(
        "scalars",
        (2 - DATA) / (3 + DATA * DATA)
        + 2**DATA
        - (DATA > 0.5) * (DATA <= 1)
        + 1 / (DATA * DATA + 1)
        + sym.broadcast_maximum(DATA, DATA)
        + (DATA == DATA)
        + (DATA != 1)
        + DATA**2,
        tensor(3, 4),
    )
    case("scalar int", DATA * 2 + 1, tensor(3, 4, lo=0, hi=9).astype("int32"))
    case("maximum_scalar", sym.maximum(DATA, 0.5) + sym.minimum(DATA, 0.3), tensor(3, 4))
    case("clip", sym.clip(DATA, -1, 1), tensor(3, 4))
    case("smooth_l1", sym.smooth_l1(DATA, scalar=2), tensor(3, 4))
    case("cast", sym.cast(DATA, dtype="int32"), tensor(3, 4))
    case("add_n", sym.add_n(DATA, OTHER, DATA), tensor(3, 4), tensor(3, 4))
    case("ones_like", sym.ones_like(DATA) + sym.zeros_like(DATA), tensor(3, 4))


def tensors() -> None:
    shapes: list[tuple[tuple[int, ...], dict[str, Any]]] = [
        ((2, 3, 4, 5), dict(shape=(0, -1))),
        ((2, 3, 4, 5), dict(shape=(-2,))),
        ((2, 3, 4, 5), dict(shape=(-3, -3))),
        ((2, 3, 4, 5), dict(shape=(0, -4, -1, 3, -2))),
        ((2, 3, 4), dict(shape=(-4, 1, 2, -2))),
        ((8, 3, 3, 3, 4, 4), dict(shape=(-1, 0), reverse=True)),
        ((10, 5, 4), dict(shape=(-1, 0), reverse=True)),
        ((10, 5, 4), dict(shape=(-1, 0))),
        ((2, 3, 4), dict(shape=(4, 0, 2))),
    ]
    for s, kw in shapes:
        case(f"reshape{s}{kw}", sym.reshape(DATA, **kw), tensor(*s))
    case("reshape split", sym.reshape(DATA, shape=(-4, 2, -1, 0, -2)), tensor(4, 3, 5))
    case("flatten", sym.Flatten(DATA), tensor(2, 3, 4))
    case("transpose", sym.transpose(DATA), tensor(2, 3, 4))
    case("transpose2", sym.transpose(DATA, axes=(1, 0, 2)), tensor(2, 3, 4))
    case("swapaxes", sym.swapaxes(DATA, 0, 2), tensor(2, 3, 4))
    case("expand_dims", sym.expand_dims(DATA, axis=1), tensor(2, 3))
    case("squeeze", sym.squeeze(DATA), tensor(1, 3, 1))
    case("squeeze ax", sym.squeeze(DATA, axis=(0,)), tensor(1, 3, 1))
    case("concat", sym.concat(DATA, OTHER, dim=1), tensor(2, 3), tensor(2, 4))
    case("stack", sym.stack(DATA, OTHER, axis=1), tensor(2, 3), tensor(2, 3))
    case("split", sym.Group(list(sym.split(DATA, num_outputs=3, axis=1))), tensor(2, 3, 4))
    case(
        "split sq",
        sym.Group(list(sym.split(DATA, num_outputs=3, axis=1, squeeze_axis=True))),
        tensor(2, 3, 4),
    )
    case("split_v2", sym.Group(list(sym.split_v2(DATA, (1, 3), axis=1))), tensor(2, 5))
    case("split_v2 n", sym.Group(list(sym.split_v2(DATA, 2, axis=0))), tensor(2, 5))
    case("tile", sym.tile(DATA, reps=(2, 3)), tensor(2, 3))
    case("repeat", sym.repeat(DATA, repeats=2, axis=1), tensor(2, 3))
    case("repeat none", sym.repeat(DATA, repeats=2), tensor(2, 3))
    case("reverse", sym.reverse(DATA, axis=1), tensor(2, 3))
    case("reverse2", sym.reverse(DATA, axis=(0, 1)), tensor(2, 3))
    case("broadcast_to", sym.broadcast_to(DATA, shape=(0, 3)), tensor(2, 1))
    case("broadcast_axis", sym.broadcast_axis(DATA, axis=(0, 2), size=(3, 4)), tensor(1, 2, 1))
    case("broadcast_like", sym.broadcast_like(DATA, OTHER), tensor(1, 2, 1), tensor(3, 2, 4))
    case(
        "broadcast_like2",
        sym.broadcast_like(DATA, OTHER, lhs_axes=(0,), rhs_axes=(1,)),
        tensor(1, 2),
        tensor(3, 5),
    )
    case("slice", sym.slice(DATA, begin=(0, 1), end=(2, 3)), tensor(3, 4))
    case("slice none", sym.slice(DATA, begin=(None, 1), end=(None, None)), tensor(3, 4))
    case("slice step", sym.slice(DATA, begin=(3, 0), end=(None, 4), step=(-1, 2)), tensor(4, 5))
    case("slice neg", sym.slice(DATA, begin=(-2,), end=(None,)), tensor(4, 5))
    case("slice 2.0", sym.slice(DATA, begin=(2, 0), end=(-9, 4), step=(-1, 2)), tensor(4, 5))
    case("slice_axis", sym.slice_axis(DATA, axis=-1, begin=-3, end=-1), tensor(2, 5))
    case("slice_axis n", sym.slice_axis(DATA, axis=0, begin=1, end=None), tensor(3, 5))
    case("slice_like", sym.slice_like(DATA, OTHER, axes=(0,)), tensor(3, 5), tensor(2, 2))
    case("slice_like all", sym.slice_like(DATA, OTHER), tensor(3, 5), tensor(2, 2))
    case("crop", sym.Crop(DATA, num_args=1, offset=(1, 2), h_w=(3, 4)), tensor(1, 2, 6, 8))
    case("crop c", sym.Crop(DATA, num_args=1, center_crop=True, h_w=(3, 4)), tensor(1, 2, 6, 8))
    case("crop 2", sym.Crop(DATA, OTHER, num_args=2), tensor(1, 2, 6, 8), tensor(1, 2, 3, 3))
    for m in ("constant", "edge", "reflect"):
        case(
            "pad" + m,
            sym.pad(DATA, mode=m, pad_width=(0, 0, 0, 0, 1, 2, 2, 1), constant_value=3),
            tensor(1, 2, 4, 4),
        )
    case("d2s", sym.depth_to_space(DATA, 2), tensor(1, 8, 2, 3))
    case("s2d", sym.space_to_depth(DATA, 2), tensor(1, 2, 4, 6))
    case("shape_array", sym.shape_array(DATA), tensor(2, 3))
    case("size_array", sym.size_array(DATA), tensor(2, 3))
    case("where", sym.where(DATA > 0, DATA, OTHER), tensor(3, 4), tensor(3, 4))
    case(
        "where1",
        sym.where(sym.var("c"), DATA, OTHER),
        tensor(3, 4),
        tensor(3, 4),
        c=np.array([1, 0, 1], "float32"),
    )
    case("diag", sym.diag(DATA), tensor(3, 4))
    case("diagk", sym.diag(DATA, k=1), tensor(3, 4))
    case("diag-k", sym.diag(DATA, k=-1), tensor(3, 4))
    case("reshape_like", sym.reshape_like(DATA, OTHER), tensor(2, 6), tensor(3, 4))
    case(
        "reshape_like2",
        sym.reshape_like(DATA, OTHER, lhs_begin=0, lhs_end=1, rhs_begin=0, rhs_end=2),
        tensor(6, 5),
        tensor(2, 3),
    )


def creation() -> None:
    case("zeros", DATA + sym.zeros((2, 3)), tensor(2, 3))
    case("full", sym.full((2, 3), 4) + DATA, tensor(2, 3))
    case("arange", DATA + sym.arange(0, 6, 2), tensor(3))
    case("arange rep", DATA + sym.arange(0, 2, 1, repeat=2), tensor(4))
    case("arange1", sym.arange(4) + DATA, tensor(4))
    case("linspace", sym.linspace(0, 1, 5) + DATA, tensor(5))
    case("eye", sym.eye(3) + DATA, tensor(3, 3))
    case("eye2", sym.eye(3, 4, 1) + DATA, tensor(3, 4))
    case("arange_like", sym.contrib.arange_like(DATA, axis=1), tensor(2, 5))
    case("arange_like n", sym.contrib.arange_like(DATA, start=1, step=2), tensor(2, 5))
    case("arange_like r", sym.contrib.arange_like(DATA, repeat=2, axis=0), tensor(6, 5))


def reductions() -> None:
    for n in ["sum", "mean", "max", "min", "prod", "nansum"]:
        for kw in (
            dict(),
            dict(axis=1),
            dict(axis=(0, 2), keepdims=True),
            dict(axis=1, exclude=True),
            dict(axis=-1),
        ):
            case(n + str(kw), getattr(sym, n)(DATA, **kw), tensor(2, 3, 4))
    case("norm", sym.norm(DATA), tensor(2, 3))
    case("norm1", sym.norm(DATA, ord=1, axis=1), tensor(2, 3))
    case("norm2", sym.norm(DATA, axis=1, keepdims=True), tensor(2, 3))
    case("moments", sym.Group(list(sym.moments(DATA, axes=(0,)))), tensor(2, 3))
    for n in ("argmax", "argmin"):
        for kw in (dict(axis=1), dict(axis=0, keepdims=True), dict()):
            case(n + str(kw), getattr(sym, n)(DATA, **kw), tensor(3, 4))
    case("argmax_channel", sym.argmax_channel(DATA), tensor(3, 4))
    for rt in ("indices", "value", "mask"):
        case("topk" + rt, sym.topk(DATA, k=2, ret_typ=rt, axis=1), tensor(3, 5))
    case(
        "topk both",
        sym.Group(list(sym.topk(DATA, k=2, ret_typ="both", axis=0, is_ascend=True))),
        tensor(3, 5),
    )
    case("topk mask0", sym.topk(DATA, k=2, ret_typ="mask", axis=0), tensor(3, 5))
    case("topk none", sym.topk(DATA, k=3, axis=None), tensor(3, 5))
    case("topk3", sym.topk(DATA, k=2, axis=1, ret_typ="mask"), tensor(2, 3, 4))
    case("argsort", sym.argsort(DATA, axis=0, is_ascend=False), tensor(3, 5))
    case("sort", sym.sort(DATA, axis=1), tensor(3, 5))
    case("sort DATA", sym.sort(DATA, axis=0, is_ascend=False), tensor(3, 5))
    case("cumsum", sym.cumsum(DATA, axis=1), tensor(3, 5))
    case("cumsum n", sym.cumsum(DATA), tensor(3, 5))
    case("dot", sym.dot(DATA, OTHER), tensor(3, 4), tensor(4, 5))
    case("dot ta", sym.dot(DATA, OTHER, transpose_a=True), tensor(4, 3), tensor(4, 5))
    case("dot tb", sym.dot(DATA, OTHER, transpose_b=True), tensor(3, 4), tensor(5, 4))
    case("dot nd", sym.dot(DATA, OTHER), tensor(2, 3, 4), tensor(4, 5, 2))
    case("dot 1", sym.dot(DATA, OTHER), tensor(4), tensor(4))
    case("dot nd t", sym.dot(DATA, OTHER, transpose_a=True), tensor(4, 2, 3), tensor(4, 5))
    case("dot 21", sym.dot(DATA, OTHER), tensor(2, 4), tensor(4))
    for a in (0, 1):
        for b in (0, 1):
            case(
                f"batch_dot{a}{b}",
                sym.batch_dot(DATA, OTHER, transpose_a=bool(a), transpose_b=bool(b)),
                tensor(2, *((4, 3) if a else (3, 4))),
                tensor(2, *((5, 4) if b else (4, 5))),
            )
    case(
        "gemm2", sym.linalg.gemm2(DATA, OTHER, alpha=2.0, transpose_b=True), tensor(2, 3, 4), tensor(2, 5, 4)
    )
    case(
        "gemm",
        sym.linalg.gemm(DATA, OTHER, sym.var("c"), alpha=2.0, beta=0.5),
        tensor(3, 4),
        tensor(4, 5),
        c=tensor(3, 5),
    )
    for m in ("instance", "channel", "spatial"):
        case("l2" + m, sym.L2Normalization(DATA, mode=m), tensor(2, 3, 4, 5))


def layers() -> None:
    case(
        "conv",
        sym.Convolution(DATA, kernel=(3, 3), num_filter=4, pad=(1, 1), stride=(2, 2)),
        tensor(1, 3, 8, 8),
    )
    case(
        "conv nb",
        sym.Convolution(DATA, kernel=(3, 2), num_filter=4, no_bias=True, dilate=(2, 1), num_group=2),
        tensor(1, 4, 8, 8),
    )
    case("conv1d", sym.Convolution(DATA, kernel=(3,), num_filter=4), tensor(1, 3, 8))
    case("conv3d", sym.Convolution(DATA, kernel=(2, 2, 2), num_filter=4), tensor(1, 3, 4, 5, 6))
    case(
        "deconv",
        sym.Deconvolution(DATA, kernel=(3, 3), num_filter=4, stride=(2, 2), pad=(1, 1), adj=(1, 1)),
        tensor(1, 3, 4, 4),
    )
    case(
        "deconv g",
        sym.Deconvolution(DATA, kernel=(3, 3), num_filter=4, num_group=2, no_bias=False),
        tensor(1, 4, 4, 4),
    )
    case("deconv1", sym.Deconvolution(DATA, kernel=(3,), num_filter=4, stride=(2,)), tensor(1, 3, 4))
    case("fc", sym.FullyConnected(DATA, num_hidden=4), tensor(2, 3, 4))
    case("fc nf", sym.FullyConnected(DATA, num_hidden=4, flatten=False), tensor(2, 3, 4))
    case("fc nb", sym.FullyConnected(DATA, num_hidden=4, no_bias=True), tensor(2, 3))
    for a in ["relu", "sigmoid", "tanh", "softrelu", "softsign"]:
        case("act" + a, sym.Activation(DATA, act_type=a), tensor(3, 4))
    for a in ["leaky", "prelu", "elu", "selu", "gelu"]:
        case("leaky" + a, sym.LeakyReLU(DATA, act_type=a, slope=0.3), tensor(2, 3, 4))
    for kw in (dict(), dict(axis=1), dict(temperature=2.0), dict(axis=0)):
        for n in ("softmax", "log_softmax", "softmin"):
            case(n + str(kw), getattr(sym, n)(DATA, **kw), tensor(2, 3, 4))
    case(
        "softmax len",
        sym.softmax(DATA, sym.var("c"), use_length=True, axis=-1),
        tensor(2, 3, 4),
        c=np.array([[1, 2, 4], [3, 4, 2]], "int32"),
    )
    case(
        "softmax len1",
        sym.softmax(DATA, sym.var("c"), use_length=True, axis=1),
        tensor(2, 3, 4),
        c=np.array([[1, 2, 3, 2], [3, 2, 2, 1]], "int32"),
    )
    case("SoftmaxActivation", sym.SoftmaxActivation(DATA), tensor(2, 3))
    case("SoftmaxActivation c", sym.SoftmaxActivation(DATA, mode="channel"), tensor(2, 3, 4))
    for pt in ("max", "avg", "sum", "lp"):
        for pc in ("valid", "full"):
            for cip in (True, False):
                for pad in ((0, 0), (1, 1)):
                    if pt in ("max", "sum", "lp") and (not cip):
                        continue
                    case(
                        f"pool{pt}{pc}{cip}{pad}",
                        sym.Pooling(
                            DATA,
                            kernel=(3, 3),
                            stride=(2, 2),
                            pad=pad,
                            pool_type=pt,
                            pooling_convention=pc,
                            count_include_pad=cip,
                            **dict(p_value=2) if pt == "lp" else {},
                        ),
                        tensor(1, 2, 8, 7),
                    )
        case(
            "gpool" + pt,
            sym.Pooling(
                DATA, kernel=(1, 1), global_pool=True, pool_type=pt, **dict(p_value=2) if pt == "lp" else {}
            ),
            tensor(1, 2, 8, 7),
        )
    case("pool1d", sym.Pooling(DATA, kernel=(3,), pool_type="max"), tensor(1, 2, 8))
    case(
        "pool3d",
        sym.Pooling(DATA, kernel=(2, 2, 2), pool_type="avg", stride=(2, 2, 2)),
        tensor(1, 2, 4, 4, 4),
    )
    case(
        "pool1d full",
        sym.Pooling(DATA, kernel=(3,), stride=(2,), pool_type="avg", pooling_convention="full"),
        tensor(1, 2, 8),
    )
    case("aap", sym.contrib.AdaptiveAvgPooling2D(DATA, output_size=(3, 2)), tensor(1, 2, 7, 5))
    case("aap1", sym.contrib.AdaptiveAvgPooling2D(DATA), tensor(1, 2, 7, 5))
    norms: list[dict[str, Any]] = [
        dict(), dict(fix_gamma=False), dict(use_global_stats=True), dict(axis=2, fix_gamma=False),
    ]  # fmt: skip
    for options in norms:
        case("bn" + str(options), sym.BatchNorm(DATA, **options), tensor(2, 3, 4, 5))
    case("ln", sym.LayerNorm(DATA), tensor(2, 3, 4))
    case("ln1", sym.LayerNorm(DATA, axis=1), tensor(2, 3, 4))
    case("in", sym.InstanceNorm(DATA), tensor(2, 3, 4, 5))
    case("gn", sym.GroupNorm(DATA, num_groups=2), tensor(2, 4, 3, 3))
    case("lrn", sym.LRN(DATA, nsize=3), tensor(1, 5, 3, 3))


def indexing() -> None:
    case("take", sym.take(DATA, sym.var("c")), tensor(4, 3), c=np.array([[0, 2], [3, 9]], "float32"))
    case(
        "take w",
        sym.take(DATA, sym.var("c"), mode="wrap", axis=1),
        tensor(4, 3),
        c=np.array([-1, 2, 4], "float32"),
    )
    case("pick", sym.pick(DATA, sym.var("c")), tensor(3, 4), c=np.array([0, 3, 9], "float32"))
    case(
        "pick0",
        sym.pick(DATA, sym.var("c"), axis=0, keepdims=True),
        tensor(3, 4),
        c=np.array([0, 2, 1, 1], "float32"),
    )
    case("pickw", sym.pick(DATA, sym.var("c"), mode="wrap"), tensor(3, 4), c=np.array([-1, 5, 1], "float32"))
    case(
        "emb", sym.Embedding(sym.var("c"), input_dim=5, output_dim=3), c=np.array([[0, 2], [4, 9]], "float32")
    )
    case(
        "one_hot",
        sym.one_hot(sym.var("c"), depth=4, on_value=2, off_value=-1),
        c=np.array([[0, 2], [3, 1]], "float32"),
    )
    case(
        "gather_nd",
        sym.gather_nd(DATA, sym.var("c")),
        tensor(3, 4, 2),
        c=np.array([[0, 2], [3, 1]], "float32"),
    )
    case(
        "scatter_nd",
        sym.scatter_nd(DATA, sym.var("c"), shape=(3, 4)),
        tensor(2),
        c=np.array([[0, 2], [3, 1]], "float32"),
    )
    case(
        "smask",
        sym.SequenceMask(DATA, sym.var("c"), use_sequence_length=True, value=-1),
        tensor(4, 3, 2),
        c=np.array([1, 4, 2], "float32"),
    )
    case(
        "smask1",
        sym.SequenceMask(DATA, sym.var("c"), use_sequence_length=True, axis=1),
        tensor(3, 4, 2),
        c=np.array([1, 4, 2], "float32"),
    )
    case(
        "srev",
        sym.SequenceReverse(DATA, sym.var("c"), use_sequence_length=True),
        tensor(4, 3, 2),
        c=np.array([1, 4, 2], "float32"),
    )
    case("srev n", sym.SequenceReverse(DATA), tensor(4, 3, 2))
    case(
        "slast",
        sym.SequenceLast(DATA, sym.var("c"), use_sequence_length=True),
        tensor(4, 3, 2),
        c=np.array([1, 4, 2], "float32"),
    )
    case(
        "slast1",
        sym.SequenceLast(DATA, sym.var("c"), use_sequence_length=True, axis=1),
        tensor(3, 4, 2),
        c=np.array([1, 4, 2], "float32"),
    )
    case("slast n", sym.SequenceLast(DATA), tensor(4, 3, 2))
    case(
        "slast2",
        sym.SequenceLast(DATA, sym.var("c"), use_sequence_length=True),
        tensor(4, 3),
        c=np.array([1, 4, 2], "float32"),
    )
    case("batch_take", sym.batch_take(DATA, sym.var("c")), tensor(3, 4), c=np.array([0, 3, 1], "int32"))


def recurrent() -> None:
    for m in ("lstm", "gru", "rnn_relu", "rnn_tanh"):
        for bi in (False, True):
            for so in (True, False):
                kw = dict(state_cell=sym.var("sc")) if m == "lstm" else {}
                r = sym.RNN(
                    DATA,
                    sym.var("p"),
                    sym.var("s"),
                    state_size=4,
                    num_layers=2,
                    mode=m,
                    bidirectional=bi,
                    state_outputs=so,
                    **kw,
                )
                n = 4 if bi else 2
                case(
                    f"rnn{m}{bi}{so}",
                    sym.Group(list(r)) if so else r,
                    tensor(5, 2, 3),
                    s=tensor(n, 2, 4),
                    **{"sc": tensor(n, 2, 4)} if m == "lstm" else {},
                )


def images() -> None:
    case("ups", sym.UpSampling(DATA, scale=2, sample_type="nearest", num_args=1), tensor(1, 2, 3, 3))
    case(
        "ups b",
        sym.UpSampling(DATA, sym.var("w"), scale=2, sample_type="bilinear", num_filter=2, num_args=2),
        tensor(1, 2, 3, 3),
    )
    case(
        "ups b3",
        sym.UpSampling(DATA, sym.var("w"), scale=3, sample_type="bilinear", num_filter=2, num_args=2),
        tensor(1, 2, 3, 3),
    )
    case("resize", sym.contrib.BilinearResize2D(DATA, height=7, width=5), tensor(1, 2, 4, 4))
    case(
        "resize nc",
        sym.contrib.BilinearResize2D(DATA, height=7, width=5, align_corners=False),
        tensor(1, 2, 4, 4),
    )
    case("resize s", sym.contrib.BilinearResize2D(DATA, scale_height=2, scale_width=1.5), tensor(1, 2, 4, 4))
    case(
        "resize like",
        sym.contrib.BilinearResize2D(DATA, OTHER, mode="like"),
        tensor(1, 2, 4, 4),
        tensor(1, 2, 6, 3),
    )
    case(
        "sampler",
        sym.BilinearSampler(DATA, sym.var("g")),
        tensor(1, 2, 4, 4),
        g=tensor(1, 2, 3, 5, lo=-1.2, hi=1.2),
    )
    case("grid aff", sym.GridGenerator(DATA, transform_type="affine", target_shape=(3, 4)), tensor(2, 6))
    case("grid warp", sym.GridGenerator(DATA, transform_type="warp"), tensor(2, 2, 3, 4))
    case(
        "st",
        sym.SpatialTransformer(
            DATA, sym.var("l"), target_shape=(3, 3), transform_type="affine", sampler_type="bilinear"
        ),
        tensor(1, 2, 4, 4),
        l=tensor(1, 6, lo=-0.6, hi=0.6),
    )
    case(
        "corr",
        sym.Correlation(DATA, OTHER, kernel_size=1, max_displacement=2, stride1=1, stride2=1, pad_size=2),
        tensor(1, 2, 6, 6),
        tensor(1, 2, 6, 6),
    )
    case(
        "corr2",
        sym.Correlation(
            DATA,
            OTHER,
            kernel_size=3,
            max_displacement=2,
            stride1=2,
            stride2=1,
            pad_size=2,
            is_multiply=False,
        ),
        tensor(1, 2, 6, 6),
        tensor(1, 2, 6, 6),
    )


def vision() -> None:
    rois = np.array([[0, 0, 0, 5, 5], [0, 1, 2, 6, 7]], "float32")
    case(
        "roipool",
        sym.ROIPooling(DATA, sym.var("r"), pooled_size=(2, 2), spatial_scale=1.0),
        tensor(1, 2, 8, 8),
        r=rois,
    )
    case(
        "roialign",
        sym.contrib.ROIAlign(DATA, sym.var("r"), pooled_size=(2, 2), spatial_scale=0.5, sample_ratio=2),
        tensor(1, 2, 8, 8),
        r=rois,
    )
    case("prior", sym.contrib.MultiBoxPrior(DATA, sizes=(0.5, 0.3), ratios=(1, 2, 0.5)), tensor(1, 2, 3, 4))
    case(
        "prior c",
        sym.contrib.MultiBoxPrior(
            DATA, sizes=(0.5, 0.3), ratios=(1, 2, 0.5), clip=True, steps=(0.2, 0.3), offsets=(0.4, 0.6)
        ),
        tensor(1, 2, 3, 4),
    )
    anch = np.array(
        [
            [
                [0.1, 0.1, 0.3, 0.3],
                [0.2, 0.2, 0.5, 0.5],
                [0.12, 0.1, 0.32, 0.3],
                [0.6, 0.6, 0.9, 0.9],
                [0.6, 0.62, 0.9, 0.9],
            ]
        ],
        "float32",
    )
    cls = np.array(
        [[[0.1, 0.2, 0.3, 0.1, 0.3], [0.7, 0.3, 0.6, 0.3, 0.2], [0.2, 0.5, 0.1, 0.6, 0.5]]], "float32"
    )
    case(
        "mbd",
        sym.contrib.MultiBoxDetection(sym.var("cp"), sym.var("lp"), sym.var("an")),
        cp=cls,
        lp=tensor(1, 20, lo=-0.5, hi=0.5),
        an=anch,
    )
    case(
        "mbd f",
        sym.contrib.MultiBoxDetection(
            sym.var("cp"),
            sym.var("lp"),
            sym.var("an"),
            force_suppress=True,
            nms_threshold=0.3,
            nms_topk=4,
            clip=False,
        ),
        cp=cls,
        lp=tensor(1, 20, lo=-0.1, hi=0.1),
        an=anch,
    )
    bx = np.array(
        [
            [
                [0, 0.7, 0.1, 0.1, 0.3, 0.3],
                [1, 0.5, 0.2, 0.2, 0.5, 0.5],
                [0, 0.6, 0.12, 0.1, 0.32, 0.3],
                [1, 0.9, 0.6, 0.6, 0.9, 0.9],
                [1, 0.95, 0.6, 0.62, 0.9, 0.9],
                [0, 0.01, 0.5, 0.5, 0.6, 0.6],
            ]
        ],
        "float32",
    )
    case(
        "nms",
        sym.contrib.box_nms(
            DATA, overlap_thresh=0.5, valid_thresh=0.1, id_index=0, coord_start=2, score_index=1
        ),
        bx,
    )
    case(
        "nms f",
        sym.contrib.box_nms(
            DATA, overlap_thresh=0.5, valid_thresh=0.1, coord_start=2, score_index=1, force_suppress=True
        ),
        bx,
    )
    case("nms k", sym.contrib.box_nms(DATA, overlap_thresh=0.5, topk=2, id_index=0), bx)
    case("nms 2d", sym.contrib.box_nms(DATA, overlap_thresh=0.5, id_index=0), bx[0])
    case(
        "decode",
        sym.contrib.box_decode(DATA, sym.var("an"), std0=0.1, std1=0.1, std2=0.2, std3=0.2, format="corner"),
        tensor(1, 5, 4),
        an=anch,
    )
    case(
        "decode c",
        sym.contrib.box_decode(DATA, sym.var("an"), format="center", clip=0.5),
        tensor(1, 5, 4),
        an=anch,
    )
    case("iou", sym.contrib.box_iou(DATA, OTHER, format="corner"), anch[0], anch[0][:2])


def attention() -> None:
    case("qk", sym.contrib.interleaved_matmul_selfatt_qk(DATA, heads=2), tensor(5, 3, 12))
    case(
        "va",
        sym.contrib.interleaved_matmul_selfatt_valatt(DATA, sym.var("a"), heads=2),
        tensor(5, 3, 12),
        a=tensor(6, 5, 5),
    )
    case(
        "eqk",
        sym.contrib.interleaved_matmul_encdec_qk(DATA, OTHER, heads=2),
        tensor(4, 3, 8),
        tensor(5, 3, 16),
    )
    case(
        "eva",
        sym.contrib.interleaved_matmul_encdec_valatt(DATA, sym.var("a"), heads=2),
        tensor(5, 3, 16),
        a=tensor(6, 4, 5),
    )
    case("dsd", sym.contrib.div_sqrt_dim(DATA), tensor(2, 3, 5))
    case(
        "bmask", sym.contrib.boolean_mask(DATA, sym.var("c")), tensor(3, 4), c=np.array([1, 0, 1], "float32")
    )


def control() -> None:
    def body(i: Any, s: Any) -> Any:
        return i + s[0], [s[0] * 2 + i]

    o, s = sym.contrib.foreach(body, DATA, [sym.var("s")])
    case("foreach", sym.Group([o, *s]), tensor(5, 3), s=tensor(3))
    o, s = sym.contrib.foreach(
        lambda i, s: ([i[0] + s[0], (i[1] * s[0]).sum()], [s[0] + i[0] * sym.var("w")]),
        [DATA, OTHER],
        [sym.var("s")],
    )
    case("foreach2", sym.Group(list(o) + s), tensor(5, 3), tensor(5, 3), s=tensor(3), w=tensor(3))
    o, s = sym.contrib.foreach(body, DATA, [sym.var("s")])
    case("foreach long", sym.Group([o, *s]), tensor(70, 2, lo=-1e-10, hi=1e-10), s=np.zeros(2, "float32"))
    o, s = sym.contrib.while_loop(
        cond=lambda i, a: i < 5,
        func=lambda i, a: ([a * 2], [i + 1, sym.broadcast_add(a, i)]),
        loop_vars=[sym.var("i"), DATA],
        max_iterations=8,
    )
    first = sym.slice_axis(o[0], axis=0, begin=0, end=3)  # the rest is not initialized
    case("while", sym.Group([first, *s]), tensor(3), i=np.array([2], "float32"))
    c = sym.contrib.cond(sym.var("c").sum() > 0, lambda: DATA + 1, lambda: DATA * 2)
    case("cond T", c, tensor(3), c=np.array([1], "float32"))
    case("cond F", c, tensor(3), c=np.array([-1], "float32"))
    c = sym.contrib.cond(
        DATA.sum() > OTHER.sum(),
        lambda: DATA + OTHER,
        lambda: sym.contrib.cond(OTHER.sum() > 0, lambda: OTHER * 3, lambda: DATA - OTHER),
    )
    case("cond nest", c, tensor(3) - 3, tensor(3) + 3)


FAMILIES: list[Callable[[], None]] = [
    elementwise,
    tensors,
    creation,
    reductions,
    layers,
    indexing,
    recurrent,
    images,
    vision,
    attention,
    control,
]


def main() -> None:
    for family in FAMILIES:
        family()
    (FOLDER / "operators.bin").write_bytes(BYTES)
    (FOLDER / "operators.json").write_text(json.dumps(CASES, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
