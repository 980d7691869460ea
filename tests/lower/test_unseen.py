"""Networks that the package does not have, each beside the same in PyTorch, by the executors that run it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import relay_explorer
from relay_explorer import relay
from relay_explorer.execute import Interpreter
from relay_explorer.execute.vm.bytecode import VMProgram
from relay_explorer.ir import IRModule
from relay_explorer.ir.narrow import as_tensor_type
from relay_explorer.lower.prepare import prepared
from relay_explorer.lower.targets.target import Target
from relay_explorer.typing import infer_types

# A sentence of any length is read by a loop; another is written, word by word, until `end` is: its type has
# a size that grows in each turn. `%cell` is a closure, which another made, and a cell counts the words.
TRANSLATE = """
def @main(%source: Tensor[(?, 8), float32], %most: int32,
          %read: Tensor[(8, 8), float32], %write: Tensor[(8, 8), float32],
          %words: Tensor[(11, 8), float32]) {
  let %length = take(shape_of(%source, dtype="int32"), 0);
  let %encode = fn (%i: int32, %h: Tensor[(1, 8), float32]) -> Tensor[(1, 8), float32] {
    if (%i < %length) {
      let %x = expand_dims(take(%source, %i, axis=0), axis=0);
      %encode(%i + 1, tanh(nn.dense(%h, %read) + %x))
    } else { %h }
  };
  let %made = fn (%w: Tensor[(8, 8), float32]) {
    fn (%h: Tensor[(1, 8), float32], %x: Tensor[(1, 8), float32]) { tanh(nn.dense(%h + %x, %w)) }
  };
  let %cell = %made(%write);
  let %count = ref(0);
  let %decode = fn (%i: int32, %word: int32, %h: Tensor[(1, 8), float32], %out: Tensor[(?), int32])
      -> (Tensor[(?), int32], Tensor[(1, 8), float32]) {
    if (logical_and(%i < %most, %word != 7)) {
      let %g = %cell(%h, expand_dims(take(%words, %word, axis=0), axis=0));
      let %seen = nn.dense(nn.softmax(nn.dense(%g, %source)), transpose(%source));
      let %next = take(argmax(nn.dense(%g + %seen, %words), axis=[1]), 0);
      ref_write(%count, ref_read(%count) + 1);
      %decode(%i + 1, %next, %g, concatenate((%out, expand_dims(%next, axis=0)), axis=0))
    } else { (%out, %h) }
  };
  let %start = %encode(0, zeros(shape=[1, 8], dtype="float32"));
  (%decode(0, 1, %start, zeros(shape=[0], dtype="int32")), ref_read(%count))
}
"""


def translated(source: Any, most: int, read: Any, write: Any, words: Any) -> tuple[list[int], Any]:
    """Compute the same in PyTorch."""
    given, w, e = torch.tensor(source), torch.tensor(write), torch.tensor(words)
    h, word, out = torch.zeros(1, 8), 1, list[int]()
    for x in given:
        h = torch.tanh(F.linear(h, torch.tensor(read)) + x)
    while len(out) < most and word != 7:
        h = torch.tanh(F.linear(h + e[word], w))
        word = int(F.linear(h + (h @ given.T).softmax(-1) @ given, e).argmax())
        out.append(word)
    return out, h


@pytest.fixture(scope="module")
def weights() -> dict[str, Any]:
    random = np.random.default_rng(1)
    shapes = {"read": (8, 8), "write": (8, 8), "words": (11, 8)}
    return {name: random.normal(0, 0.6, shape).astype("float32") for name, shape in shapes.items()}


@pytest.mark.parametrize("executor", ["vm", "aot"])
def test_a_sequence_to_a_sequence(executor: str, weights: dict[str, Any]) -> None:
    """No kernel is left to Python: the empty list of words is of a known size, whatever it becomes."""
    exe = relay_explorer.build(relay.parse(TRANSLATE), params=weights, executor=executor)
    random = np.random.default_rng(2)
    lengths = set()
    for length, most in ((3, 5), (1, 0), (6, 20)):
        source = random.normal(size=(length, 8)).astype("float32")
        (out, state), count = exe(source, most)
        expected, last = translated(source, most, **weights)
        assert out.tolist() == expected
        assert int(count) == len(expected)
        np.testing.assert_allclose(state, last, rtol=1e-4, atol=1e-5)
        lengths.add(len(expected))
    assert len(lengths) == 3
    assert isinstance(exe.program, VMProgram)
    assert not any(code.host for code in exe.program.kernels)


def test_its_kernels_for_a_gpu() -> None:
    """A transpose whose sizes are not known takes no tile of shared memory."""
    x = relay.var("x", shape=(relay.Any(), 8))
    exe = relay_explorer.build(relay.Function([x], relay.transpose(relay.exp(x))), "cuda")
    (kernel,) = exe.kernels
    assert kernel.choice == {"rule": "Fallback"}
    assert "__global__" in kernel.source("cuda")


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_narrow_numbers(dtype: str) -> None:
    """A convolutional network in numbers of 16 bits, with a pooling that must see NaN."""
    random = np.random.default_rng(0)
    weight, dense = (random.normal(0, 0.3, s).astype("float32") for s in ((8, 4, 3, 3), (6, 128)))
    x = relay.var("x", shape=(1, 4, 8, 8))
    y = relay.nn.conv2d(
        relay.cast(x, dtype), relay.cast(relay.const(weight), dtype), padding=(1, 1), channels=8,
        kernel_size=(3, 3),
    )  # fmt: skip
    y = relay.nn.max_pool2d(y, (2, 2), (2, 2))
    y = relay.nn.dense(relay.nn.batch_flatten(y * relay.sigmoid(y)), relay.cast(relay.const(dense), dtype))
    module = relay.Function([x], relay.cast(relay.nn.softmax(y), "float32"))
    given = random.normal(size=(1, 4, 8, 8)).astype("float32")
    result = torch.tensor(given).to(getattr(torch, dtype))
    result = F.max_pool2d(F.conv2d(result, torch.tensor(weight).to(result.dtype), padding=1), 2)
    expected = F.linear(F.silu(result).flatten(1), torch.tensor(dense).to(result.dtype)).softmax(1).float()
    exe = relay_explorer.build(module)
    np.testing.assert_allclose(exe(given), expected, rtol=0.06, atol=0.02)
    given[0, 0, 0, 0] = np.nan
    assert np.isnan(exe(given)).all()
    checked = relay.IRModule.from_expr(module)
    assert np.isnan(Interpreter(checked).call("main", [given])).all()


@pytest.mark.parametrize("rows", [7, 29])
def test_rows_that_nothing_divides(rows: int) -> None:
    """A vision transformer has 197 of them: the last tile begins before the one before it ends."""
    random = np.random.default_rng(rows)
    weight, bias, given = (random.normal(size=s).astype("float32") for s in ((64, 24), (64,), (rows, 24)))
    x = relay.var("x", shape=(rows, 24))
    y = relay.nn.relu(relay.nn.bias_add(relay.nn.dense(x, relay.const(weight)), relay.const(bias)))
    exe = relay_explorer.build(relay.Function([x], y))
    (kernel,) = [kernel for kernel in exe.kernels if kernel.rule == "dense"]
    assert kernel.choice["rows"] > 3
    assert rows % kernel.choice["rows"] or rows == kernel.choice["rows"]
    expected = F.relu(F.linear(*map(torch.tensor, (given, weight, bias))))
    np.testing.assert_allclose(exe(given), expected, rtol=1e-5, atol=1e-5)


class Unit(torch.nn.Module):
    """A unit of ShuffleNet (version 2), of 20 channels: half of them pass, half are computed, then they are
    mixed. With a gate for each channel, as in EfficientNet, and a residual.
    """

    def __init__(self) -> None:
        super().__init__()
        conv, norm = torch.nn.Conv2d, torch.nn.BatchNorm2d
        self.grow, self.grown = conv(20, 24, 1, bias=False), norm(24)
        self.depth, self.deep = conv(24, 24, 3, padding=1, groups=24, bias=False), norm(24)
        self.squeeze, self.gate, self.back = conv(24, 5, 1), conv(5, 24, 1), conv(24, 20, 1)
        self.again = conv(20, 20, 3, padding=1)

    def forward(self, x: Any) -> Any:
        y = F.relu(self.grown(self.grow(x)))
        y = F.silu(self.deep(self.depth(y)))
        y = y * torch.sigmoid(self.gate(F.silu(self.squeeze(y.mean((2, 3), keepdim=True)))))
        y = self.back(y) + x
        y = torch.cat([x[:, :10], F.relu(self.again(F.max_pool2d(y, 3, 1, 1)))[:, 10:]], 1)
        return y.view(1, 2, 10, 8, 8).transpose(1, 2).reshape(1, 20, 8, 8)


def in_relay(unit: Unit) -> relay.Function:
    """Build the same in Relay."""

    def conv(data: Any, layer: Any, groups: int = 1) -> Any:
        weight = layer.weight.detach().numpy()
        size, pad = layer.kernel_size, layer.padding
        result = relay.nn.conv2d(
            data, relay.const(weight), padding=pad, groups=groups, channels=len(weight), kernel_size=size
        )
        return (
            result
            if layer.bias is None
            else relay.nn.bias_add(result, relay.const(layer.bias.detach().numpy()))
        )

    def norm(data: Any, layer: Any) -> Any:
        gamma, beta, mean, variance = (
            relay.const(part.detach().numpy())
            for part in (layer.weight, layer.bias, layer.running_mean, layer.running_var)
        )
        return relay.nn.batch_norm(data, gamma, beta, mean, variance)[0]

    x = relay.var("x", shape=(1, 20, 8, 8))
    y: relay.Expr = relay.nn.relu(norm(conv(x, unit.grow), unit.grown))
    y = norm(conv(y, unit.depth, 24), unit.deep)
    y = y * relay.sigmoid(y)
    z = conv(relay.nn.global_avg_pool2d(y), unit.squeeze)
    y = conv(y * relay.sigmoid(conv(z * relay.sigmoid(z), unit.gate)), unit.back) + x
    y = relay.nn.relu(conv(relay.nn.max_pool2d(y, (3, 3), (1, 1), padding=(1, 1)), unit.again))
    y = relay.concatenate([relay.split(x, 2, axis=1)[0], relay.split(y, 2, axis=1)[1]], axis=1)
    y = relay.transpose(relay.reshape(y, (0, -4, 2, -1, -2)), (0, 2, 1, 3, 4))
    return relay.Function([x], relay.reshape(y, (0, -3, -2)))


@pytest.mark.parametrize("executor", ["graph", "aot"])
def test_channels_that_fill_no_vectors(executor: str) -> None:
    """They get channels of zeros beside them, which are cut off only where something else reads them."""
    torch.manual_seed(0)
    unit = Unit().eval()
    for name, part in unit.named_buffers():
        if "running" in name:
            torch.nn.init.uniform_(part, 0.5, 1.5)
    given = torch.randn(1, 20, 8, 8)
    exe = relay_explorer.build(in_relay(unit), executor=executor)
    with torch.no_grad():
        np.testing.assert_allclose(exe(given.numpy()), unit(given), rtol=1e-4, atol=1e-5)


def test_they_stay_padded_between_layers() -> None:
    torch.manual_seed(0)
    module = infer_types(IRModule.from_expr(in_relay(Unit().eval())))
    result = str(prepared(module, Target.of("llvm -mcpu=skylake-avx512"), 3))
    assert "groups=32" in result
    assert "end=[24]" not in result  # of what has 24 channels nothing is cut, the gate neither


def test_sums_of_what_is_not_padded() -> None:
    """Unknown sizes, other numbers of axes, values that only the run knows: all stay as they are."""
    x = relay.var("x", shape=(1, 24, 8, 8))
    rows, gate = relay.var("rows", shape=(relay.Any(), 1, 1, 1)), relay.var("gate", shape=(24, 1, 1))
    weight = relay.const(np.random.default_rng(0).normal(size=(24, 24, 1, 1)).astype("float32"))
    output = relay.nn.conv2d(x, weight, channels=24, kernel_size=(1, 1))
    body = relay.Tuple([output + rows, output * gate, rows + rows, gate + gate, output - relay.const(2.0)])
    module = infer_types(IRModule.from_expr(relay.Function([x, rows, gate], body)))
    result = prepared(module, Target.of("llvm -mcpu=skylake-avx512"), 3)
    random = np.random.default_rng(1)
    args = [random.normal(size=s).astype("float32") for s in ((1, 24, 8, 8), (3, 1, 1, 1), (24, 1, 1))]
    for one, other in zip(Interpreter(result).call("main", args), Interpreter(module).call("main", args)):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("inputs", "outputs"), [(22, 16), (16, 22), (29, 29), (6, 9)])
def test_groups_of_channels_that_fill_no_vectors(inputs: int, outputs: int) -> None:
    """They are in blocks all the same, but where they are small."""
    random = np.random.default_rng(0)
    x = relay.var("x", shape=(2, 2 * inputs, 7, 5))
    weight = relay.const(random.normal(size=(2 * outputs, inputs, 3, 2)).astype("float32"))
    output = relay.nn.conv2d(
        x, weight, groups=2, channels=2 * outputs, kernel_size=(3, 2), strides=(2, 1), padding=(1, 0)
    )
    module = infer_types(IRModule.from_expr(relay.Function([x], relay.nn.relu(output))))
    result = prepared(module, Target.of("llvm -mcpu=skylake-avx512"), 3)
    assert ("NCHWc" in str(result)) == (inputs >= 16)
    args = [random.normal(size=(2, 2 * inputs, 7, 5)).astype("float32")]
    one, other = (Interpreter(each).call("main", args) for each in (result, module))
    np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("resized", [False, True])
def test_blocks_of_channels_that_are_joined_and_blocked_anew(resized: bool) -> None:
    """Which part an element is read from follows from two axes: one loop for each part would be wrong."""
    size = 2 if resized else 8
    parts = [
        relay.var(f"p{k}", shape=(1, 1, size if k == 3 else 8, size if k == 3 else 8, 8)) for k in range(4)
    ]
    joined = [*parts[:3], relay.image.resize2d(parts[3], (8, 8), layout="NCHW8c") if resized else parts[3]]
    result = relay.layout_transform(relay.concatenate(joined, axis=1), "NCHW8c", "NCHW16c")
    module = infer_types(IRModule.from_expr(relay.Function(parts, result)))
    random = np.random.default_rng(0)
    args = [
        random.normal(size=as_tensor_type(p.type_annotation).concrete_shape).astype("float32") for p in parts
    ]
    expected = Interpreter(module).call("main", args)
    np.testing.assert_allclose(relay_explorer.build(module)(*args), expected, rtol=1e-5, atol=1e-6)
