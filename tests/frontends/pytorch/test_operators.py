"""Converters of ATen operators, against PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from relay_explorer.frontends.pytorch import from_pytorch
from relay_explorer.ir.errors import RelayError
from tests.frontends.pytorch.helpers import Calls, infos, operators, same_traced, traced

X = torch.tensor([[-1.5, 0.25, 2.5, -0.5], [0.5, 3.5, -2.5, 1.0], [0.0, -0.25, 0.75, 6.0]])
I = torch.tensor([[-4, 3, 2, 0], [5, -1, 7, 2], [1, 1, -3, 4]])  # noqa: E741
B = X > 0
POSITIVE = X.abs() * 0.1 + 0.05

ON_FLOATS = [
    "exp",
    "log1p",
    "expm1",
    "tanh",
    "sigmoid",
    "erf",
    "erfc",
    "sin",
    "cos",
    "tan",
    "abs",
    "neg",
    "floor",
    "ceil",
    "round",
    "sign",
    "frac",
    "square",
    "isnan",
    "isinf",
    "isfinite",
    "exp2",
    "sinh",
    "cosh",
    "asinh",
    "atan",
    "relu",
    "sinc",
    "deg2rad",
    "rad2deg",
    "signbit",
    "trunc",
    "nan_to_num",
]
ON_POSITIVE = ["sqrt", "rsqrt", "log", "log2", "log10", "reciprocal", "asin", "acos", "atanh", "logit"]
ACTIVATIONS = [
    "relu6",
    "leaky_relu",
    "elu",
    "selu",
    "celu",
    "gelu",
    "silu",
    "mish",
    "softplus",
    "softsign",
    "logsigmoid",
    "hardsigmoid",
    "hardswish",
    "hardshrink",
    "softshrink",
    "tanhshrink",
    "hardtanh",
]


@pytest.mark.parametrize("name", ON_FLOATS)
def test_functions_of_one_tensor(name: str) -> None:
    same_traced(getattr(torch, name), X)


@pytest.mark.parametrize("name", ON_POSITIVE)
def test_functions_of_positive_numbers(name: str) -> None:
    same_traced(getattr(torch, name), POSITIVE)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(name: str) -> None:
    same_traced(getattr(F, name), X)


def test_expm1_and_log1p_keep_the_digits_of_small_numbers() -> None:
    small = torch.tensor([1e-7, -3e-6, 2e-4, 0.3])
    same_traced(torch.expm1, small, tolerance=1e-6)
    same_traced(torch.log1p, small, tolerance=1e-6)


Case = tuple[Callable[..., Any], tuple[torch.Tensor, ...]]
CASES: dict[str, Case] = {
    "int times float is float": (lambda x: x * 1.5, (I,)),
    "int divided by int is float": (lambda x: x / 2, (I,)),
    "floor division": (lambda x, y: (x // 2, torch.div(y, 0.3, rounding_mode="floor")), (I, X)),
    "truncated division": (lambda x, y: [torch.div(v, 2, rounding_mode="trunc") for v in (x, y)], (I, X)),
    "remainders": (lambda x, y: (x % 3, torch.fmod(x, 3), y % 1.5), (I, X)),
    "powers": (lambda x: (x**3, 2.0**x, x.abs() ** 0.5, x**2, x.abs() ** 1.7), (X,)),
    "powers of integers": (lambda x: (x**3, x**5, x**0), (I,)),
    "bool arithmetic": (lambda a: (a & ~a, a | a, a ^ a, a + a, a * a, a.sum(), ~a), (B,)),
    "comparisons": (lambda x: (x > 0, x == x, x != 1, x <= 0.5, x.lt(x.t()[0, 0]), x >= x), (X,)),
    "logic": (lambda x: (torch.logical_and(x, x > 0), x.logical_not(), x.logical_xor(x > 1)), (I,)),
    "bits": (lambda x: (x & 3, x | 8, x ^ 5, ~x, x << 2, x >> 1), (I,)),
    "promotion": (lambda i, x: (i + x, i.to(torch.int32) + i, x.double() + x, i.float().half() + 1), (I, X)),
    "atan2 in all quadrants": (
        torch.atan2,
        (torch.tensor([0.0, -0.0, 1.0, -1.0, 2.0, -2.0]), torch.tensor([-1.0, -1.0, 0.0, 0.0, -3.0, 3.0])),
    ),
    "copysign of zeros": (torch.copysign, (X, torch.tensor([0.0, -0.0, 1.0, -1.0]))),
    "bounds": (
        lambda x: (x.clamp(-0.5, 0.5), x.clamp(min=0), x.clamp(max=torch.tensor(0.1)), x.fmax(x.t()[0, 0])),
        (X,),
    ),
    "bounds of integers": (lambda x: (x.clamp(-1, 2), torch.maximum(x, x.flip(1))), (I,)),
    "scaled sums": (
        lambda a, b: (torch.addcmul(a, a, b, value=0.5), torch.lerp(a, b, 0.3), torch.rsub(a, b, alpha=2)),
        (X, X + 3),
    ),
    "sums": (lambda x: (x.sum(), x.sum(1), x.sum((0, 1), keepdim=True), x.mean(-1), x.prod(0)), (X,)),
    "sums of integers": (lambda x: (x.sum(), x.cumsum(0), x.prod(1), (x > 0).sum(0), x.any()), (I,)),
    "extremes": (
        lambda x: (x.amax(1), x.max(0), x.min(1, True), x.argmax(1), x.argmin(), x.max(), x.median(1)),
        (X,),
    ),
    "moments": (lambda x: (x.std(), x.var(1), x.std(0, unbiased=False), torch.var_mean(x, 1)), (X,)),
    "norms": (
        lambda x: (x.norm(), x.norm(p=1, dim=1), torch.linalg.norm(x, dim=1), x.norm(p=float("inf"), dim=0)),
        (X,),
    ),
    "logsumexp with infinities": (
        lambda x: x.logsumexp(1),
        (torch.tensor([[1.0, 1000.0], [float("-inf")] * 2]),),
    ),
    "quantifiers": (lambda x: ((x > 0).all(), (x > 0).any(1), x.count_nonzero(), (x > -9).all(0)), (X,)),
    "running": (lambda x: (x.cumsum(1), x.cumprod(0)), (X,)),
    "views": (
        lambda x: (x.view(2, 6), x.reshape(-1), x.t(), x.permute(1, 0), x[None], x.unflatten(1, (2, 2))),
        (X,),
    ),
    "parts": (
        lambda x: (
            x.chunk(3, 1),
            x.split(2, 1),
            x.split([1, 3], 1),
            x.unbind(),
            x.narrow(1, 1, 2),
            x[:, 1::2],
        ),
        (X,),
    ),
    "indices from the end": (lambda x: (x[-1, -2:], x[:, -1], x.select(1, -2), x.tensor_split(3, 1)), (X,)),
    "moved": (lambda x: (x.roll(1), x.roll((1, -1), (0, 1)), x.flip(1), x.rot90(), x.movedim(0, 1)), (X,)),
    "repeated": (
        lambda x: (x.repeat(2, 1, 3), x.repeat_interleave(2, 1), x[:, :1].expand(3, 5), x.expand(2, 3, -1)),
        (X,),
    ),
    "triangles": (lambda x: (x.tril(), x.triu(1), x.diagonal(), torch.diag(x[0]), x.diagonal(-1)), (X,)),
    "joined": (
        lambda x: (torch.stack([x, x], 1), torch.cat([x, x], 1), torch.hstack([x, x]), torch.vstack([x, x])),
        (X,),
    ),
    "windows": (lambda x: x.unfold(1, 2, 1), (X,)),
    "grids": (lambda x: torch.meshgrid(x[0], x[1], indexing="ij"), (X,)),
    "created": (
        lambda x: (torch.zeros(2, 3), torch.ones_like(x), torch.full((2,), 3.5), x.new_full((2,), 7)),
        (X,),
    ),
    "ranges": (
        lambda x: (torch.arange(5), torch.eye(3), torch.arange(1, 4, 0.5), torch.linspace(0, 1, 5), x),
        (X,),
    ),
    "softmax": (lambda x: (x.softmax(1), x.log_softmax(-1), F.glu(x, -1), F.softmin(x, 0)), (X,)),
    "prelu": (lambda x: F.prelu(x, torch.tensor([0.2, 0.3, 0.1, 0.4])), (X,)),
    "spectra": (
        lambda x: [torch.stft(x, 4, 2, center=c, return_complex=False, window=x[0]) for c in (False, True)],
        (X,),
    ),
    "counts": (lambda i: (torch.bincount(i.abs()[0]), torch.bincount(i.abs()[0], minlength=9)), (I,)),
    "conversions": (lambda x: (x.to(torch.float64), x.int(), x.type_as(x.double()), x.bool()), (X,)),
}


@pytest.mark.parametrize("name", CASES)
def test_operators_agree_with_pytorch(name: str) -> None:
    function, args = CASES[name]
    same_traced(function, *args, tolerance=1e-3 if "promotion" in name else 1e-5)


A = torch.linspace(-1, 1, 24).reshape(2, 3, 4)
C = torch.linspace(-2, 1, 40).reshape(2, 4, 5)
PRODUCTS: dict[str, Callable[..., Any]] = {
    "batches": lambda a, b: (a @ b, torch.bmm(a, b)),
    "matrices": lambda a, b: (a[0] @ b[0], a @ b[0], a[0] @ b),
    "vectors": lambda a, b: (a[0, 0] @ b, a[0] @ b[0, :, 0], torch.dot(a[0, 0], a[1, 1])),
    "broadcast batches": lambda a, b: (a[None] @ b, a[:, None] @ b[None]),
    "scaled": lambda a, b: (
        torch.baddbmm(torch.ones(2, 3, 5), a, b, beta=0.5, alpha=2),
        torch.addmm(torch.ones(5), a[0], b[0]),
        torch.addmm(torch.ones(3, 5), a[0], b[0], beta=0, alpha=3),
    ),
    "einsum": lambda a, b: torch.einsum("bij,bjk->bik", a, b),
    "tensordot": lambda a, b: torch.tensordot(a, b, dims=([2], [1])),
    "outer": lambda a, b: (torch.outer(a[0, 0], b[0, 0]), torch.kron(a[0], b[0])),
    "linear": lambda a, b: (F.linear(a, b[0].t(), b[0, 0]), F.linear(a[0, 0], b[0].t())),
    "cross": lambda a, b: (torch.cross(a, a + 1, dim=1), F.cosine_similarity(a, a * 2 + 1, dim=2)),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_agree_with_pytorch(name: str) -> None:
    same_traced(PRODUCTS[name], A, C)


def test_a_matrix_product_of_many_rows_is_one_dense() -> None:
    mod = same_traced(lambda a, b: a @ b[0], A, C)
    assert "nn.dense" in operators(mod)
    assert "nn.batch_matmul" not in operators(mod)


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda x: torch.linalg.matrix_norm(x, 2), "singular values"),
        (lambda x: torch.complex(x, x).real, "complex"),
        (lambda x: x.long() ** x.long().abs(), "exponent"),
    ],
)
def test_what_relay_cannot_compute_is_refused_with_a_reason(
    function: Callable[..., Any], reason: str
) -> None:
    from relay_explorer.frontends import from_pytorch

    with pytest.raises(RelayError, match=reason):
        from_pytorch(traced(Calls(function), [X]), infos([X]))


def test_squares_of_bools_are_numbers() -> None:
    same_traced(torch.square, B)


def test_refuses_results_that_no_converter_gives() -> None:
    script = traced(torch.nn.AdaptiveMaxPool1d(2, return_indices=True), [X[None]])
    with pytest.raises(RelayError, match="the program uses result 1 of aten::adaptive_max_pool1d"):
        from_pytorch(script, infos([X[None]]))
