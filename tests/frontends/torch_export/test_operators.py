"""Each operator computes what PyTorch computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # PyTorch's own name for it
from torch import Tensor, nn

from relay_explorer.frontends.torch_export import from_exported_program
from relay_explorer.ir.errors import RelayError
from tests.frontends.torch_export.exporting import check, exported

DYNAMIC = torch.export.Dim.AUTO

torch.manual_seed(0)
X = torch.randn(2, 4, 6, 6)
SIGNAL = torch.randn(2, 4, 9)
VOLUME = torch.randn(1, 2, 4, 5, 6)
ROWS = torch.randn(3, 5)
POSITIVE = torch.rand(3, 5) * 0.8 + 0.1
INDEX = torch.tensor([2, 0, 1])
PLACES = torch.tensor([[0, 1, 2, 0, 1], [2, 2, 0, 1, 0]])
CLASSES = torch.tensor([4, 0, 2])
MASK = torch.tensor([[True, False, True, False, True]] * 3)
Case = tuple[Callable[..., Any] | nn.Module, tuple[Any, ...]]

CASES: dict[str, Case] = {
    # convolution
    "conv1d": (nn.Conv1d(4, 6, 3, stride=2, padding=1), (SIGNAL,)),
    "conv2d groups dilation": (nn.Conv2d(4, 4, 3, groups=2, dilation=2, bias=False), (X,)),
    "conv2d depthwise": (nn.Conv2d(4, 8, (3, 1), groups=4, padding=(1, 0)), (X,)),
    "conv2d same": (nn.Conv2d(4, 3, (4, 3), padding="same"), (X,)),
    "conv2d valid": (nn.Conv2d(4, 3, 3, padding="valid"), (X,)),
    "conv2d circular": (nn.Conv2d(4, 3, 3, padding=1, padding_mode="circular"), (X,)),
    "conv2d reflect": (nn.Conv2d(4, 3, 3, padding=2, padding_mode="reflect"), (X,)),
    "conv2d without batch": (nn.Conv2d(4, 3, 3), (X[0],)),
    "conv3d": (nn.Conv3d(2, 3, (2, 3, 3), padding=(1, 0, 1)), (VOLUME,)),
    "conv_transpose1d": (nn.ConvTranspose1d(4, 3, 3, stride=2), (SIGNAL,)),
    "conv_transpose2d": (nn.ConvTranspose2d(4, 3, 3, stride=2, padding=1, output_padding=1), (X,)),
    "conv_transpose2d groups": (nn.ConvTranspose2d(4, 6, 2, stride=2, groups=2, bias=False), (X,)),
    "conv_transpose2d dilation": (nn.ConvTranspose2d(4, 2, 3, dilation=2), (X,)),
    "conv_transpose3d": (nn.ConvTranspose3d(2, 3, 2, stride=2), (VOLUME,)),
    "conv_tbc": (lambda x, w, b: torch.conv_tbc(x, w, b, 1), (X[0], torch.randn(3, 6, 2), torch.randn(2))),
    "unfold": (nn.Unfold((2, 3), padding=1, stride=2), (X,)),
    "unfold dilation": (nn.Unfold((2, 2), dilation=2), (X,)),
    # pooling
    "max_pool1d": (nn.MaxPool1d(3, stride=2, padding=1), (SIGNAL,)),
    "max_pool2d": (nn.MaxPool2d(2), (X,)),
    "max_pool2d ceil dilation": (nn.MaxPool2d(2, stride=3, dilation=2, ceil_mode=True), (X,)),
    "max_pool2d without batch": (nn.MaxPool2d(3, padding=1), (X[1],)),
    "max_pool2d indices": (nn.MaxPool2d(3, stride=2, padding=1, return_indices=True), (X,)),
    "max_pool3d": (nn.MaxPool3d(2), (VOLUME,)),
    "avg_pool1d": (nn.AvgPool1d(3, padding=1), (SIGNAL,)),
    "avg_pool2d": (nn.AvgPool2d(3, stride=2, padding=1), (X,)),
    "avg_pool2d ceil": (nn.AvgPool2d(4, stride=3, ceil_mode=True), (X,)),
    "avg_pool2d exclude": (nn.AvgPool2d(3, stride=2, padding=1, count_include_pad=False), (X,)),
    "avg_pool2d divisor": (nn.AvgPool2d(2, divisor_override=3, padding=1), (X,)),
    "avg_pool3d": (nn.AvgPool3d(2), (VOLUME,)),
    "adaptive_avg_pool1d": (nn.AdaptiveAvgPool1d(4), (SIGNAL,)),
    "adaptive_avg_pool2d": (nn.AdaptiveAvgPool2d((4, None)), (X,)),
    "adaptive_avg_pool2d one": (nn.AdaptiveAvgPool2d(1), (X,)),
    "adaptive_avg_pool3d": (nn.AdaptiveAvgPool3d(2), (VOLUME,)),
    "adaptive_max_pool2d": (nn.AdaptiveMaxPool2d((5, 2)), (X,)),
    "lp_pool2d": (nn.LPPool2d(2, 2), (X,)),
    # normalization
    "batch_norm1d": (nn.BatchNorm1d(4), (SIGNAL,)),
    "batch_norm2d": (nn.BatchNorm2d(4, affine=False), (X,)),
    "batch_norm without statistics": (nn.BatchNorm2d(4, track_running_stats=False), (X,)),
    "batch_norm3d": (nn.BatchNorm3d(2), (VOLUME,)),
    "layer_norm": (nn.LayerNorm(6), (X,)),
    "layer_norm axes": (nn.LayerNorm((6, 6), elementwise_affine=True), (X,)),
    "group_norm": (nn.GroupNorm(2, 4), (X,)),
    "group_norm rows": (nn.GroupNorm(2, 4), (torch.randn(3, 4),)),
    "instance_norm": (nn.InstanceNorm2d(4, affine=True), (X,)),
    "instance_norm statistics": (nn.InstanceNorm2d(4, track_running_stats=True), (X,)),
    "rms_norm": (nn.RMSNorm(6), (X,)),
    "local_response_norm": (nn.LocalResponseNorm(3), (X,)),
    "weight_norm": (nn.utils.parametrizations.weight_norm(nn.Linear(5, 3)), (ROWS,)),
    "normalize": (lambda x: F.normalize(x, dim=1), (ROWS,)),
    # attention
    "attention": (lambda q, k, v: F.scaled_dot_product_attention(q, k, v), (X, X + 1, X * 2)),
    "attention causal": (lambda q: F.scaled_dot_product_attention(q, q, q, is_causal=True), (X,)),
    "attention mask": (
        lambda q, m: F.scaled_dot_product_attention(q, q, q, attn_mask=m, scale=0.3),
        (X, torch.tensor([[True] * 6, [False] * 6, *[[True, False] * 3] * 4])),
    ),
    "attention bias": (
        lambda q, m: F.scaled_dot_product_attention(q, q, q, attn_mask=m),
        (X, torch.randn(6, 6)),
    ),
    "attention grouped": (
        lambda q, k: F.scaled_dot_product_attention(q, k, k, enable_gqa=True),
        (X, X[:, :2]),
    ),
    "multihead attention": (nn.MultiheadAttention(6, 2, batch_first=True), (X[0], X[0], X[0])),
    "encoder layer": (nn.TransformerEncoderLayer(6, 2, 8, batch_first=True), (X[0],)),
    "encoder layer gelu": (
        nn.TransformerEncoderLayer(6, 3, 8, batch_first=True, norm_first=True, activation="gelu"),
        (X[0],),
    ),
    "decoder layer": (nn.TransformerDecoderLayer(6, 2, 8), (X[0], X[1])),
    # embedding and dropout
    "embedding": (nn.Embedding(5, 3, padding_idx=0), (PLACES,)),
    "embedding_bag": (nn.EmbeddingBag(5, 3, mode="sum"), (PLACES,)),
    "embedding_bag offsets": (nn.EmbeddingBag(5, 3, mode="mean"), (CLASSES, torch.tensor([0, 1]))),
    "one_hot": (lambda x: F.one_hot(x, 5), (PLACES,)),
    "dropout": (nn.Dropout(0.5), (ROWS,)),
    # losses
    "mse": (nn.MSELoss(), (ROWS, POSITIVE)),
    "l1 sum": (nn.L1Loss(reduction="sum"), (ROWS, POSITIVE)),
    "smooth_l1": (nn.SmoothL1Loss(beta=0.3), (ROWS, POSITIVE)),
    "huber": (nn.HuberLoss(delta=0.4, reduction="none"), (ROWS, POSITIVE)),
    "bce": (nn.BCELoss(), (POSITIVE, POSITIVE)),
    "bce logits": (nn.BCEWithLogitsLoss(pos_weight=torch.rand(5)), (ROWS, POSITIVE)),
    "kl": (nn.KLDivLoss(reduction="batchmean"), (POSITIVE.log(), POSITIVE.flip(0))),
    "kl log": (nn.KLDivLoss(log_target=True, reduction="sum"), (POSITIVE.log(), POSITIVE.log().flip(0))),
    "nll": (nn.NLLLoss(weight=torch.rand(5)), (ROWS, CLASSES)),
    "nll ignored": (nn.NLLLoss(ignore_index=0, reduction="sum"), (ROWS, CLASSES)),
    "cross_entropy": (nn.CrossEntropyLoss(), (ROWS, CLASSES)),
    "cross_entropy smooth": (
        nn.CrossEntropyLoss(label_smoothing=0.1, weight=torch.rand(5)),
        (ROWS, CLASSES),
    ),
    "cross_entropy probabilities": (nn.CrossEntropyLoss(), (ROWS, POSITIVE)),
    "cross_entropy image": (nn.CrossEntropyLoss(), (X, torch.randint(4, (2, 6, 6)))),
    "soft_margin": (nn.SoftMarginLoss(), (ROWS, ROWS.sign())),
    "margin_ranking": (nn.MarginRankingLoss(0.2), (ROWS[0], POSITIVE[0], ROWS[1].sign())),
    "hinge_embedding": (nn.HingeEmbeddingLoss(), (ROWS, ROWS.sign())),
    "poisson": (nn.PoissonNLLLoss(full=True), (ROWS, POSITIVE * 4)),
    "triplet": (nn.TripletMarginLoss(swap=True), (ROWS, POSITIVE, ROWS.flip(0))),
    "cosine_embedding": (nn.CosineEmbeddingLoss(), (ROWS, POSITIVE, torch.tensor([1, -1, 1]))),
    "pairwise_distance": (nn.PairwiseDistance(p=3.0), (ROWS, POSITIVE)),
    "cdist": (torch.cdist, (ROWS, POSITIVE[:2])),
    # interpolation and sampling
    "nearest": (nn.Upsample(scale_factor=2), (X,)),
    "nearest size": (nn.Upsample(size=(9, 4)), (X,)),
    "nearest fraction": (nn.Upsample(scale_factor=1.7), (X,)),
    "nearest1d": (nn.Upsample(scale_factor=3), (SIGNAL,)),
    "nearest3d": (nn.Upsample(scale_factor=2), (VOLUME,)),
    "nearest exact": (nn.Upsample(size=(4, 9), mode="nearest-exact"), (X,)),
    "linear": (nn.Upsample(scale_factor=2, mode="linear"), (SIGNAL,)),
    "bilinear": (nn.Upsample(scale_factor=2, mode="bilinear"), (X,)),
    "bilinear corners": (nn.Upsample(size=(11, 4), mode="bilinear", align_corners=True), (X,)),
    "bilinear fraction": (nn.Upsample(scale_factor=1.7, mode="bilinear"), (X,)),
    "bilinear down": (nn.Upsample(scale_factor=0.6, mode="bilinear"), (X,)),
    "trilinear": (nn.Upsample(scale_factor=2, mode="trilinear"), (VOLUME,)),
    "bicubic": (nn.Upsample(scale_factor=2, mode="bicubic"), (X,)),
    "bicubic fraction": (nn.Upsample(scale_factor=1.4, mode="bicubic"), (X,)),
    "grid_sample": (
        lambda x, g: F.grid_sample(x, g, align_corners=False),
        (X, torch.rand(2, 3, 5, 2) * 2 - 1),
    ),
    "grid_sample nearest": (
        lambda x, g: F.grid_sample(x, g, mode="nearest", padding_mode="border", align_corners=True),
        (X, torch.rand(2, 3, 5, 2) * 2.4 - 1.2),
    ),
    "grid_sample reflection": (
        lambda x, g: F.grid_sample(x, g, padding_mode="reflection", align_corners=False),
        (X, torch.rand(2, 3, 5, 2) * 2.4 - 1.2),
    ),
    "grid_sample volume": (
        lambda x, g: F.grid_sample(x, g, align_corners=False),
        (VOLUME, torch.rand(1, 2, 3, 4, 3) * 2 - 1),
    ),
    "affine_grid": (lambda t: F.affine_grid(t, [2, 3, 4, 5], align_corners=False), (torch.randn(2, 2, 3),)),
    "affine_grid corners": (
        lambda t: F.affine_grid(t, [2, 3, 4, 5], align_corners=True),
        (torch.randn(2, 2, 3),),
    ),
    "pixel_shuffle": (nn.PixelShuffle(2), (X,)),
    "pixel_unshuffle": (nn.PixelUnshuffle(3), (X,)),
    "channel_shuffle": (nn.ChannelShuffle(2), (X,)),
    # padding
    "pad": (lambda x: F.pad(x, (1, 2, 0, 1), value=3.0), (X,)),
    "pad crop": (lambda x: F.pad(x, (-1, 2, 1, -2)), (X,)),
    "pad reflect": (nn.ReflectionPad2d((1, 2, 0, 3)), (X,)),
    "pad replicate": (nn.ReplicationPad1d((1, 2)), (SIGNAL,)),
    "pad replicate 3d": (nn.ReplicationPad3d(1), (VOLUME,)),
    "pad circular": (nn.CircularPad2d((1, 2, 3, 0)), (X,)),
    "pad integers": (lambda x: F.pad(x, (1, 1), value=7), (PLACES,)),
    # indexing
    "index": (lambda x, i: x[i], (ROWS, INDEX)),
    "index matrix": (lambda x, i: x[i], (ROWS, PLACES)),
    "index axis": (lambda x, i: x[:, i], (ROWS, INDEX)),
    "index two": (lambda x, i, j: x[i, j], (ROWS, INDEX, INDEX + 1)),
    "index broadcast": (lambda x, i, j: x[i[:, None], j], (ROWS, INDEX, INDEX + 1)),
    "index middle": (lambda x, i, j: x[:, i, j], (X, INDEX, INDEX + 1)),
    "index apart": (lambda x, i, j: x[:, i, :, j], (X, INDEX, INDEX + 1)),
    "index negative": (lambda x, i: x[i - 3], (ROWS, INDEX)),
    "index mask": (lambda x, m: x[m], (ROWS, MASK)),
    "index mask rows": (lambda x, m: x[m], (ROWS, torch.tensor([True, False, True]))),
    "index mask columns": (lambda x, m: x[:, m], (ROWS, MASK[0])),
    "index_select": (lambda x, i: torch.index_select(x, 1, i), (ROWS, INDEX)),
    "take": (torch.take, (ROWS, PLACES)),
    "gather": (lambda x, i: torch.gather(x, 0, i), (ROWS, PLACES)),
    "gather column": (lambda x, i: torch.gather(x, 1, i), (ROWS, INDEX[:, None])),
    "take_along_dim": (lambda x, i: torch.take_along_dim(x, i, 1), (ROWS, INDEX[None])),
    "masked_fill": (lambda x, m: x.masked_fill(m, -5.0), (ROWS, MASK)),
    "masked_select": (torch.masked_select, (ROWS, MASK)),
    "masked_scatter": (lambda x, m, s: x.masked_scatter(m, s), (ROWS, MASK, POSITIVE)),
    "where": (lambda m, x: torch.where(m, x, 0.5), (MASK, ROWS)),
    "where promotes": (lambda m, x: torch.where(m, x, 2), (MASK, PLACES[:1].expand(3, 5))),
    "where indices": (lambda m: torch.where(m), (MASK,)),
    "nonzero": (torch.nonzero, (PLACES,)),
    # writing
    "write row": (lambda x, v: torch.select_scatter(x, v, 0, 1), (ROWS, POSITIVE[0])),
    "select_scatter negative": (lambda x, v: torch.select_scatter(x, v, 1, -2), (ROWS, POSITIVE[:, 0])),
    "slice_scatter": (lambda x, v: torch.slice_scatter(x, v, 1, 1, 3), (ROWS, POSITIVE[:, :2])),
    "slice_scatter step": (lambda x, v: torch.slice_scatter(x, v, 1, 0, 5, 2), (ROWS, POSITIVE[:, :3])),
    "diagonal_scatter": (lambda x, v: torch.diagonal_scatter(x, v, 1), (ROWS, POSITIVE[:, 0])),
    "index_put": (lambda x, i, v: x.index_put((i,), v), (ROWS, INDEX, POSITIVE)),
    "index_put scalar": (lambda x, i: x.index_put((i, i), torch.tensor(9.0)), (ROWS, INDEX)),
    "index_put mask": (lambda x, m: x.index_put((m,), torch.tensor(9.0)), (ROWS, MASK)),
    "index_put mask values": (lambda x, m, v: x.index_put((m,), v), (ROWS, MASK, torch.randn(9))),
    "index_put accumulate": (
        lambda x, i, v: x.index_put((i,), v, accumulate=True),
        (ROWS, torch.tensor([1, 1, -2]), POSITIVE),
    ),
    "scatter": (lambda x, i, v: x.scatter(0, i, v), (ROWS, PLACES[:1], POSITIVE)),
    "scatter number": (lambda x, i: x.scatter(1, i, 2.5), (ROWS, INDEX[:, None])),
    "scatter_add": (lambda x, i, v: x.scatter_add(0, i, v), (ROWS, PLACES, POSITIVE)),
    "scatter_reduce": (lambda x, i, v: x.scatter_reduce(0, i, v, "amax"), (ROWS, PLACES, POSITIVE)),
    "scatter_reduce only": (
        lambda x, i, v: x.scatter_reduce(0, i, v, "prod", include_self=False),
        (ROWS, PLACES, POSITIVE),
    ),
    "index_add": (lambda x, i, v: x.index_add(0, i, v, alpha=2), (ROWS, INDEX, POSITIVE)),
    "index_copy": (lambda x, i, v: x.index_copy(1, i, v), (ROWS, INDEX, POSITIVE[:, :3])),
    "index_fill": (lambda x, i: x.index_fill(1, i, -1.0), (ROWS, INDEX)),
    # sorting
    "topk": (lambda x: torch.topk(x, 3), (ROWS,)),
    "topk least": (lambda x: torch.topk(x, 2, dim=0, largest=False), (ROWS,)),
    "sort": (lambda x: torch.sort(x, dim=0, descending=True), (ROWS,)),
    "sort stable": (lambda x: torch.sort(x, stable=True), (PLACES,)),
    "sort stable descending": (lambda x: torch.sort(x, stable=True, descending=True), (PLACES,)),
    "argsort": (lambda x: torch.argsort(x, dim=0), (ROWS,)),
    "msort": (torch.msort, (ROWS,)),
    "kthvalue": (lambda x: torch.kthvalue(x, 2, keepdim=True), (ROWS,)),
    "searchsorted": (torch.searchsorted, (ROWS.sort(-1)[0], POSITIVE)),
    "bucketize": (lambda x: torch.bucketize(x, torch.tensor([0.2, 0.5]), right=True), (POSITIVE,)),
    # short programs
    "diff": (lambda x: torch.diff(x, n=2, dim=0, prepend=x[:1]), (ROWS,)),
    "isin": (lambda x: torch.isin(x, torch.tensor([0, 2]), invert=True), (PLACES,)),
    "heaviside": (torch.heaviside, (ROWS.round(), POSITIVE)),
    "infinite": (lambda x: (torch.isposinf(1 / x), torch.isneginf(-1 / x)), (ROWS.round().abs(),)),
    "float_power": (lambda x: torch.float_power(x, 2.5), (POSITIVE,)),
    "ldexp": (torch.ldexp, (ROWS, PLACES[:1])),
    "tril_indices": (lambda x: x[tuple(torch.tril_indices(3, 5, 1))], (ROWS,)),
    "bilinear layer": (nn.Bilinear(5, 5, 3), (ROWS, POSITIVE)),
    "fold": (nn.Fold((6, 5), (2, 3), padding=1, stride=(2, 1)), (torch.randn(2, 12, 20),)),
    "as_strided": (lambda x: (x.t() + 0).as_strided((2, 2), (2, 3), 1), (ROWS,)),
    "item": (lambda x: x * x.sum().item(), (ROWS,)),
    # recurrent
    "lstm": (nn.LSTM(6, 5, batch_first=True), (X[0],)),
    "lstm bidirectional": (nn.LSTM(6, 5, num_layers=2, bidirectional=True), (X[0],)),
    "lstm projection": (nn.LSTM(6, 5, proj_size=3, bias=False), (X[0],)),
    "lstm without batch": (nn.LSTM(6, 5), (X[0, 0],)),
    "gru": (nn.GRU(6, 5, num_layers=2), (X[0],)),
    "gru bidirectional": (nn.GRU(6, 5, bidirectional=True, batch_first=True), (X[0],)),
    "rnn": (nn.RNN(6, 5), (X[0],)),
    "rnn relu": (nn.RNN(6, 5, nonlinearity="relu"), (X[0],)),
    "lstm_cell": (nn.LSTMCell(5, 4), (ROWS,)),
    "gru_cell": (nn.GRUCell(5, 4), (ROWS,)),
    "rnn_cell": (nn.RNNCell(5, 4), (ROWS,)),
}


@pytest.mark.parametrize("name", CASES)
def test_computes_what_pytorch_computes(name: str) -> None:
    model, args = CASES[name]
    check(model, *args)


def test_runs_a_long_recurrence_as_a_loop() -> None:
    mod = check(nn.LSTM(3, 2, bidirectional=True), torch.randn(70, 2, 3))
    assert "if (" in str(mod)


def test_selects_distinct_elements() -> None:
    check(lambda x: torch.unique(x, return_inverse=True, return_counts=True), PLACES)
    check(lambda x: torch.unique_consecutive(x), torch.tensor([1, 1, 2, 2, 2, 1]))


def changed_in_place(x: Tensor) -> Tensor:
    """Change a copy in several ways."""
    y = x.clone()
    y[:, 0] = 1.0
    y[1:, ::2] += 2
    y[y > 1.5] = -1
    y.relu_()
    return y


def test_translates_changes_in_place() -> None:
    check(changed_in_place, ROWS)


def shifted(x: Tensor) -> Tensor:
    """Write into views: all elements one place to the right, and a constant before them."""
    y = x.new_zeros(x.shape)
    y[:, 1:] = x[:, :-1].clone()
    y[:, 0] = 2
    return y


def test_translates_changes_of_views() -> None:
    check(shifted, ROWS)
    check(shifted, ROWS, dynamic=({0: DYNAMIC, 1: DYNAMIC},), others=[(torch.randn(4, 2),)])


@pytest.mark.parametrize("ceil", [False, True])
@pytest.mark.parametrize("spacing", [1, 2])
def test_finds_the_places_of_maxima(ceil: bool, spacing: int) -> None:
    image = torch.sin(torch.arange(2 * 3 * 8 * 9.0)).reshape(2, 3, 8, 9)
    pool = nn.MaxPool2d(3, stride=2, padding=1, dilation=spacing, return_indices=True, ceil_mode=ceil)
    check(pool, image)


AGAIN = torch.tensor([[0, 2, 0, 0, 1], [2, 0, 0, 1, 0], [0, 2, 0, 0, 2]])


@pytest.mark.parametrize("include_self", [False, True])
@pytest.mark.parametrize("reduce", ["sum", "prod", "mean", "amax", "amin"])
def test_reduces_what_is_written_to_the_same_place(reduce: str, include_self: bool) -> None:
    def scattered(x: Tensor) -> Any:
        whole = (x * 10).to(torch.int64)
        return [
            torch.scatter_reduce(part, 0, AGAIN, part, reduce, include_self=include_self)
            for part in (x, whole, whole > 0)[: 2 if reduce == "mean" else 3]
        ]

    check(scattered, ROWS)
    if reduce != "sum":
        rows = torch.tensor([0, 2, 0])
        check(lambda x: torch.index_reduce(x, 0, rows, x, reduce, include_self=include_self), ROWS)


def test_writes_into_a_scalar() -> None:
    zero = torch.tensor([0])
    check(lambda x: torch.index_add(x, 0, zero[0], x), torch.tensor(1.5))
    check(lambda x: torch.index_fill(x, 0, zero, 2.0), torch.tensor(1.5))


def test_computes_at_the_limits() -> None:
    extremes = torch.tensor([-torch.inf, torch.inf, -1.0, 0.5, 2.0])
    check(lambda x: torch.logaddexp(x, x), extremes)
    check(lambda x: torch.logaddexp(x, -x), extremes)
    check(lambda x: torch.logit(x, 0.6), extremes)


def test_refuses_results_that_no_converter_gives() -> None:
    program = exported(nn.AdaptiveMaxPool1d(2, return_indices=True), (SIGNAL,))
    with pytest.raises(RelayError, match=r"uses result 1 of aten\.adaptive_max_pool1d"):
        from_exported_program(program)
