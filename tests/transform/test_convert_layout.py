"""ConvertLayout and AlterOpLayout: layouts move through networks, which keep their types and values.

Where TVM 0.14 answers otherwise, it is in error:

* `argmax` of a whole image after a convolution in another layout numbered the places in that layout.
* `nn.dropout` after a layer that is laid anew lost its second field.
* A reader that sees other axes in the tensor (a pool in layout NHWC of what a convolution made in NCHW) was
  given the tensor of the other layout, and so pooled over channels.
* `nn.instance_norm`, which takes the first axis for the images, was let into layouts such as HWNC.
* Where a network's channels cannot lie in blocks of 16, the pass ended in an error inside; here it leaves the
  layer as it is.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any as Anything

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.ir import Attrs, Call, Expr, Function, IRModule, Op, post_order
from relay_explorer.ir.errors import RelayError
from relay_explorer.ir.narrow import as_a, as_tensor_type
from relay_explorer.ir.tuple_wrapper import TupleWrapper
from relay_explorer.text import parse
from relay_explorer.transform import AlterOpLayout, ConvertLayout, LayoutConfig, Pass, PassContext
from relay_explorer.typing import infer_types
from tests.transform.golden import check
from tests.transform.networks import Network, broken

WANTED: list[dict[str, list[str]]] = [
    {"nn.conv2d": ["NHWC", "default"]},
    {"nn.conv2d": ["NCHW", "default"]},
    {"nn.conv2d": ["NHWC", "OHWI"], "nn.max_pool2d": ["NCHW"]},
    {"nn.conv2d": ["NCHW2c", "OIHW2i2o"]},
    {"nn.conv2d": ["NCHW4c", "OIHW4o"], "nn.avg_pool2d": ["NHWC"]},
    {"nn.max_pool2d": ["NHWC"], "nn.avg_pool2d": ["NCHW"]},
]


def test_a_layer_and_what_follows_it() -> None:
    check(
        ConvertLayout({"nn.conv2d": ["NHWC", "default"]}),
        """
        #[version = "0.0.5"]
        def @main(%x: Tensor[(1, 4, 6, 6), float32], %w: Tensor[(8, 4, 3, 3), float32], \
%b: Tensor[(8), float32]) {
          %0 = nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=8, kernel_size=[3, 3]);
          %1 = nn.bias_add(%0, %b);
          %2 = nn.relu(%1);
          nn.max_pool2d(%2, pool_size=[2, 2], strides=[2, 2], padding=[0, 0, 0, 0])
        }
        """,
        """
        def @main(%x: Tensor[(1, 4, 6, 6), float32], %w: Tensor[(8, 4, 3, 3), float32], \
%b: Tensor[(8), float32]) \
-> Tensor[(1, 8, 3, 3), float32] {
          %0 = layout_transform(%x, src_layout="NCHW", dst_layout="NHWC");
          %1 = layout_transform(%w, src_layout="OIHW", dst_layout="HWIO");
          %2 = expand_dims(%b, axis=1, num_newaxis=2);
          %3 = expand_dims(%2, axis=0);
          %4 = nn.conv2d(%0, %1, padding=[1, 1, 1, 1], channels=8, kernel_size=[3, 3], data_layout="NHWC", \
kernel_layout="HWIO");
          %5 = layout_transform(%3, src_layout="NCHW", dst_layout="NHWC");
          %6 = add(%4, %5);
          %7 = nn.relu(%6);
          %8 = nn.max_pool2d(%7, pool_size=[2, 2], strides=[2, 2], padding=[0, 0, 0, 0], layout="NHWC");
          layout_transform(%8, src_layout="NHWC", dst_layout="NCHW")
        }
        """,
    )


def test_nothing_to_do_nothing_done() -> None:
    text = """
        def @main(%x: Tensor[(1, 4, 6, 6), float32], %w: Tensor[(8, 4, 3, 3), float32]) \
-> (Tensor[(1, 4, 6, 6), float32], Tensor[(1, 4, 6, 6), float32]) {
          %0 = nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=8, kernel_size=[3, 3]);
          split(%0, indices_or_sections=2, axis=1)
        }
        """
    check(ConvertLayout({"nn.conv2d": ["NCHW", "default"]}), f'#[version = "0.0.5"]\n{text}', text)
    check(ConvertLayout({}), f'#[version = "0.0.5"]\n{text}', text)


def calls(module: IRModule, name: str) -> list[Call]:
    result = [node for node in post_order(module["main"]) if isinstance(node, Call)]
    return [node for node in result if isinstance(node.op, Op) and node.op.name == name]


def followed(*ends: Callable[[Expr], Expr], channels: int = 8) -> IRModule:
    """Build a convolution in NCHW, of which each of `ends` computes a result."""
    x = relay.var("x", shape=(1, 4, 5, 6))
    w = relay.var("w", shape=(channels, 4, 3, 3))
    y = relay.nn.conv2d(x, w, channels=channels, kernel_size=(3, 3), padding=(1, 1))
    body = relay.Tuple([end(y) for end in ends])
    return IRModule.from_expr(Function(relay.analysis.free_vars(body), body))


VECTORS = [relay.var(name, shape=(8,)) for name in ("a", "b", "c", "d")]
AFTER: dict[str, Callable[[Expr], Anything]] = {
    "pad": lambda y: relay.nn.pad(y, pad_width=((0, 0), (0, 0), (1, 2), (0, 1))),
    "pad channels": lambda y: relay.nn.pad(y, pad_width=((0, 0), (1, 0), (1, 2), (0, 1))),
    "sum": lambda y: relay.sum(y, axis=[2, 3]),
    "sum of all": lambda y: relay.sum(y),
    "mean": lambda y: relay.mean(y, axis=1, keepdims=True),
    "mean but": lambda y: relay.mean(y, axis=[0, 1], exclude=True),
    "variance": lambda y: relay.variance(y, axis=[1, 3]),
    "argmax": lambda y: relay.argmax(y, axis=[2, 3]),
    "argmax of channels": lambda y: relay.argmax(y, axis=[1, 2]),
    "argmin of all": lambda y: relay.argmin(y),
    "transpose": lambda y: relay.transpose(y, axes=[0, 2, -1, 1]),
    "reversed": lambda y: relay.transpose(y),
    "squeeze": lambda y: relay.squeeze(y),
    "squeeze mean": lambda y: relay.squeeze(relay.mean(y, axis=[2], keepdims=True), axis=[0, 2]),
    "slice": lambda y: relay.strided_slice(y, begin=[0, 4], end=[1, 8], strides=[1, 1]),
    "slice of all": lambda y: relay.strided_slice(
        y, begin=[0, 1, 3, 0], end=[1, 7, 0, 6], strides=[1, 2, -1, 3]
    ),
    "slice by size": lambda y: relay.strided_slice(y, begin=[0, 2, 1], end=[1, 4, -1], slice_mode="size"),
    "slice by axes": lambda y: relay.strided_slice(y, begin=[4, 1], end=[8, 3], axes=[1, -1]),
    "slice_like": lambda y: relay.slice_like(y, relay.nn.relu(y), axes=[2, 3]),
    "split": lambda y: relay.split(y, 2, axis=1)[1],
    "split at": lambda y: relay.split(y, [4], axis=-3)[0],
    "split rows": lambda y: relay.split(y, [1, 3], axis=2)[1],
    "join a split": lambda y: relay.concatenate(relay.split(y, 2, axis=1).astuple(), axis=0),
    "concatenate": lambda y: relay.concatenate([y, relay.nn.relu(y)], axis=1),
    "topk": lambda y: as_a(TupleWrapper, relay.topk(y, k=2, axis=2)).astuple(),
    "topk indices": lambda y: relay.topk(y, k=2, axis=1, ret_type="indices"),
    "batch_norm": lambda y: relay.nn.batch_norm(y, VECTORS[0], VECTORS[1], VECTORS[2], VECTORS[3])[0],
    "layer_norm": lambda y: relay.nn.layer_norm(y, VECTORS[0], VECTORS[1], axis=1),
    "instance_norm": lambda y: relay.nn.instance_norm(y, VECTORS[0], VECTORS[1]),
    "l2_normalize": lambda y: relay.nn.l2_normalize(y, eps=0.1, axis=[1, 2]),
    "prelu": lambda y: relay.nn.prelu(y, VECTORS[0]),
    "softmax": lambda y: relay.nn.softmax(y, axis=1),
    "dropout": lambda y: relay.nn.dropout(y),
    "upsampling": lambda y: relay.nn.upsampling(y, scale_h=2, scale_w=2),
    "resize": lambda y: relay.image.resize2d(y, (3, 4)),
    "pool": lambda y: relay.nn.adaptive_avg_pool2d(y, (2, 2)),
    "pool of other axes": lambda y: relay.nn.max_pool2d(y, (2, 2), layout="NHWC"),
    "number": lambda y: relay.add(relay.const(2.0), y),
    "row": lambda y: relay.multiply(y, relay.var("row", shape=(6,))),
    "larger": lambda y: relay.add(y, relay.var("five", shape=(2, 1, 8, 5, 6))),
    "images": lambda y: relay.add(relay.var("image", shape=(1, 8, 5, 6)), y),
    "scale": lambda y: relay.multiply(relay.var("scale", shape=(8, 1, 1)), y),
    "compare": lambda y: relay.less(y, relay.nn.relu(y)),
    "table": lambda y: relay.take(
        relay.const(np.arange(256, dtype="float32")),
        relay.reinterpret(relay.cast(relay.clip(relay.round(y), -9, 9), "int8"), "uint8"),
        axis=0,
    ),
    "rows at": lambda y: relay.take(y, relay.const([0, 0]), axis=1),
    "flatten": lambda y: relay.nn.batch_flatten(y),
    "tuple": lambda y: relay.TupleGetItem(relay.Tuple([y, relay.Tuple([relay.nn.relu(y)])]), 0),
    "let": lambda y: relay.Let(
        v := relay.var("v", shape=(1, 8, 5, 6)), relay.nn.relu(y), relay.add(v, relay.tanh(v))
    ),
}


@pytest.mark.parametrize("name", AFTER)
@pytest.mark.parametrize("data", ["NHWC", "HWNC", "NCHW", "NCHW4c", "NCHW8c"])
def test_every_operator_after_a_convolution(name: str, data: str) -> None:
    kernel = "default" if "c" not in data else f"OIHW{data[4]}o"
    module = followed(AFTER[name], lambda y: y)
    assert broken(infer_types(module), [ConvertLayout({"nn.conv2d": [data, kernel]})]) is None


@pytest.mark.parametrize(
    ("name", "laid"),
    [
        ("pad", 3), ("sum", 2), ("sum of all", 2), ("mean", 3), ("argmax", 2), ("transpose", 2), ("split", 3),
        ("concatenate", 3), ("batch_norm", 3), ("number", 3), ("scale", 4), ("softmax", 3), ("slice", 3),
        ("flatten", 3), ("resize", 3), ("argmin of all", 3), ("squeeze", 3),
        ("table", 3), ("rows at", 3),
    ],
)  # fmt: skip
def test_how_often_a_tensor_is_laid_anew(name: str, laid: int) -> None:
    """Data and weight are; and the result, unless the operator has undone the new layout."""
    result = ConvertLayout({"nn.conv2d": ["NHWC", "default"]})(followed(AFTER[name]))
    assert len(calls(result, "layout_transform")) == laid, result


def test_each_tensor_is_laid_anew_once() -> None:
    module = followed(relay.nn.batch_flatten, relay.nn.softmax, lambda y: y)
    result = ConvertLayout({"nn.conv2d": ["NHWC", "default"]})(module)
    assert len(calls(result, "layout_transform")) == 3


def test_layers_that_stay() -> None:
    x = relay.var("x", shape=(1, 4, 5, 6))
    y: Expr = x
    for number in range(3):
        y = relay.nn.conv2d(y, relay.var(f"w{number}", shape=(4, 4, 1, 1)), channels=4, kernel_size=(1, 1))
    module = IRModule.from_expr(Function(relay.analysis.free_vars(y), y))
    with LayoutConfig(skip_layers=[1]) as config:
        result = ConvertLayout({"nn.conv2d": ["NHWC", "default"]})(module)
    assert [as_a(Attrs, call.attrs)["data_layout"] for call in calls(result, "nn.conv2d")] == [
        "NHWC",
        "NCHW",
        "NHWC",
    ]
    assert config.skip_counter == 3
    assert LayoutConfig.current is None


def test_channels_that_blocks_do_not_divide() -> None:
    result = ConvertLayout({"nn.conv2d": ["NCHW16c", "OIHW16o"]})(followed(lambda y: y))
    assert not calls(result, "layout_transform")


def test_depthwise_convolutions() -> None:
    x, w = relay.var("x", shape=(1, 4, 5, 5)), relay.var("w", shape=(4, 1, 3, 3))
    y = relay.nn.conv2d(x, w, groups=4, channels=4, kernel_size=(3, 3))
    module = infer_types(IRModule.from_expr(Function([x, w], relay.Tuple([y]))))
    step = ConvertLayout({"nn.conv2d": ["NHWC", "default"]})
    assert as_a(Attrs, calls(step(module), "nn.conv2d")[0].attrs)["kernel_layout"] == "HWOI"
    assert broken(module, [step]) is None


@pytest.mark.parametrize(
    ("expected", "message"),
    [
        ({"nn.conv9d": ["NHWC"]}, "there is no operator called `nn.conv9d`"),
        ({"nn.conv2d": ["NHWC"]}, "has data and a weight, but 1 layouts are requested"),
        ({"nn.conv2d": ["default", "HWIO"]}, "cannot be converted to the layout 'default'"),
        ({"nn.conv2d": ["NHWC", "none at all"]}, "cannot have its weight in the layout 'none at all'"),
        ({"nn.conv2d": ["NWHC", "default"]}, "has no default layout of the weight"),
    ],
)
def test_layouts_that_make_no_sense(expected: dict[str, list[str]], message: str) -> None:
    with pytest.raises(RelayError, match=message):
        ConvertLayout(expected)(followed(lambda y: y))


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize("expected", range(len(WANTED)))
def test_random_networks(layout: str, expected: int) -> None:
    for seed in range(25):
        module = Network(8000 + seed, layout, channels=(2, 4, 8)).images(3 + seed % 14)
        assert broken(module, [ConvertLayout(WANTED[expected])]) is None, seed


def test_there_and_back() -> None:
    rng = random.Random(0)
    for seed in range(20):
        module = Network(9000 + seed, "NCHW", channels=(2, 4)).images(10)
        steps: list[Pass] = [ConvertLayout(rng.choice(WANTED)) for _ in range(3)]
        assert broken(module, steps) is None, seed


# -- AlterOpLayout


@pytest.fixture
def altered() -> Anything:
    """Set how an operator is altered, for one test."""
    names: list[str] = []

    def set_to(name: str, function: Callable[..., Anything]) -> None:
        relay.op.get(name).set_attr("FTVMAlterOpLayout", function)
        names.append(name)

    yield set_to
    for name in names:
        relay.op.get(name).reset_attr("FTVMAlterOpLayout")


def in_blocks(attrs: Anything, inputs: list[Expr], tinfos: list[Anything], out_type: Anything) -> Expr:
    assert [len(type_.shape) for type_ in tinfos] == [4, 4]
    return relay.nn.conv2d(
        inputs[0], inputs[1], **{**dict(attrs.items()), "data_layout": "NCHW2c", "kernel_layout": "OIHW2i"}
    )


def test_an_operator_says_what_it_would_rather_be(altered: Anything) -> None:
    altered("nn.conv2d", in_blocks)
    for seed in range(25):
        module = Network(8500 + seed, "NCHW", channels=(2, 4)).images(3 + seed % 12)
        assert broken(module, [AlterOpLayout()]) is None, seed
    result = AlterOpLayout()(followed(relay.nn.relu))
    assert [as_a(Attrs, call.attrs)["dst_layout"] for call in calls(result, "layout_transform")] == [
        "NCHW2c",
        "OIHW2i",
        "NCHW",
    ]


def test_other_arguments_and_no_answer(altered: Anything) -> None:
    altered("nn.conv2d", lambda attrs, inputs, *_: relay.nn.conv2d(
        inputs[0], relay.multiply(inputs[1], relay.const(2.0)), **dict(attrs.items())
    ))  # fmt: skip
    asked: list[object] = []
    altered("nn.relu", lambda *args: asked.append(args))
    result = AlterOpLayout()(followed(relay.nn.relu))
    assert len(calls(result, "multiply")) == 1
    assert not calls(result, "layout_transform")
    assert len(asked) == 1


def test_an_operator_without_a_rule(altered: Anything) -> None:
    altered("nn.softmax", lambda attrs, inputs, *_: relay.nn.fast_softmax(*inputs, **dict(attrs.items())))
    result = AlterOpLayout()(followed(relay.nn.softmax))
    assert len(calls(result, "nn.fast_softmax")) == 1


def test_an_answer_that_is_no_call(altered: Anything) -> None:
    altered("nn.conv2d", lambda attrs, inputs, *_: inputs[0])
    with pytest.raises(RelayError, match="only a call can take the place of a call"):
        AlterOpLayout()(followed(lambda y: y))


def test_deep_networks() -> None:
    rows = "".join(f"%{n + 1} = nn.relu(%{n});\n" for n in range(3000))
    text = (
        '#[version = "0.0.5"]\n'
        "def @main(%x: Tensor[(1, 2, 1, 1), float32], %w: Tensor[(2, 2, 1, 1), float32]) "
        f"{{ %0 = nn.conv2d(%x, %w, padding=[0, 0, 0, 0]);\n{rows} %3000 }}"
    )
    with PassContext(opt_level=3):
        result = ConvertLayout({"nn.conv2d": ["NHWC", "default"]})(parse(text))
    assert len(calls(result, "layout_transform")) == 3


@pytest.mark.parametrize("kernel", ["default", "OIDHW", "DHWIO"])
@pytest.mark.parametrize("data", ["NCDHW", "NDHWC"])
def test_weights_of_transposed_convolutions(data: str, kernel: str) -> None:
    x, w = relay.var("x", shape=(1, 3, 2, 3, 4)), relay.var("w", shape=(3, 2, 2, 2, 3))
    layer = relay.nn.conv3d_transpose(x, w, channels=2, kernel_size=(2, 2, 3), strides=(2, 1, 1))
    module = IRModule.from_expr(Function([x, w], layer))
    converted = ConvertLayout({"nn.conv3d_transpose": [data, kernel]})(module)
    random = np.random.default_rng(0)
    values = [
        random.standard_normal(as_tensor_type(v.type_annotation).concrete_shape).astype("float32")
        for v in (x, w)
    ]
    before, after = (relay.create_executor("debug", mod=m).evaluate()(*values) for m in (module, converted))
    np.testing.assert_allclose(after.numpy(), before.numpy(), rtol=1e-5)


def test_a_convolution_in_blocks_of_channels_has_an_operator_of_its_own() -> None:
    x, w = relay.var("x", shape=(1, 8, 6, 6)), relay.var("w", shape=(8, 8, 3, 3))
    grouped = relay.var("g", shape=(8, 4, 3, 3))
    body = relay.nn.conv2d(relay.nn.conv2d(x, w, padding=1), grouped, padding=1, groups=2)
    module = ConvertLayout({"nn.conv2d": ["NCHW4c", "OIHW4i4o"]})(relay.IRModule.from_expr(body))
    calls = [node for node in post_order(module["main"]) if isinstance(node, Call)]
    names = [call.op.name for call in calls if isinstance(call.op, Op)]
    assert [name for name in names if "conv2d" in name] == ["nn.contrib_conv2d_NCHWc", "nn.conv2d"]
