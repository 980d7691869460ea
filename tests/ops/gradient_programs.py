"""Random calls of operators that have gradients: for each, how it is built, and its arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any as Anything

import numpy as np

from relay_explorer import relay
from tests.ops.meanings import Array

Made = tuple[Callable[..., Anything], list[Anything]]


def shape(r: np.random.Generator, least: int = 1, most: int = 4) -> tuple[int, ...]:
    return tuple([int(n) for n in r.integers(1, 5, int(r.integers(least, most + 1)))])


def some(r: np.random.Generator, *extents: int) -> Array:
    """Numbers of both signs, none near 0, where many operators have a corner."""
    return np.asarray(r.uniform(0.1, 2, extents) * r.choice([-1, 1], extents))


def below(r: np.random.Generator, most: int, *extents: int) -> Array:
    return r.integers(0, most, extents).astype("int32")


def axis_of(r: np.random.Generator, extents: tuple[int, ...]) -> int:
    return int(r.integers(-len(extents), len(extents)))


def axes_of(r: np.random.Generator, extents: tuple[int, ...]) -> dict[str, Anything]:
    count = int(r.integers(1, len(extents) + 1))
    axes = [int(a) for a in r.permutation(len(extents))[:count]]
    exclude = bool(r.random() < 0.3) and count < len(extents)
    return {
        "axis": None if r.random() < 0.2 and not exclude else axes,
        "keepdims": bool(r.random() < 0.5),
        "exclude": exclude,
    }


def broadcast(r: np.random.Generator) -> list[Array]:
    """Two tensors that broadcast, either way."""
    whole = shape(r, 1, 4)
    parts = []
    for _ in range(2):
        cut = [n if r.random() < 0.6 else 1 for n in whole][int(r.integers(0, len(whole))) :]
        parts.append(some(r, *cut))
    return parts


def two(build: Callable[..., Anything]) -> Callable[[np.random.Generator], Made]:
    return lambda r: (build, broadcast(r))


def one(build: Callable[..., Anything], low: float = 0.0) -> Callable[[np.random.Generator], Made]:
    return lambda r: (build, [np.abs(some(r, *shape(r))) + low if low else some(r, *shape(r))])


def reduction(build: Callable[..., Anything]) -> Callable[[np.random.Generator], Made]:
    def make(r: np.random.Generator) -> Made:
        extents = shape(r)
        options = axes_of(r, extents)
        return lambda x: build(x, **options), [some(r, *extents)]

    return make


def scan(build: Callable[..., Anything]) -> Callable[[np.random.Generator], Made]:
    def make(r: np.random.Generator) -> Made:
        extents = shape(r)
        axis, exclusive = None if r.random() < 0.3 else axis_of(r, extents), bool(r.random() < 0.5)
        return lambda x: build(x, axis, None, exclusive), [some(r, *extents)]

    return make


def take(r: np.random.Generator) -> Made:
    extents = shape(r)
    axis = None if r.random() < 0.3 else axis_of(r, extents)
    mode = str(r.choice(["clip", "wrap"]))
    return lambda x, i: relay.take(x, i, axis, mode=mode), [some(r, *extents), below(r, 7, *shape(r, 0, 2))]


def gather(r: np.random.Generator) -> Made:
    extents = shape(r)
    axis = axis_of(r, extents)
    picked = [*extents]
    picked[axis] = int(r.integers(1, 6))
    return lambda x, i: relay.gather(x, axis, i), [some(r, *extents), below(r, extents[axis], *picked)]


def gather_nd(r: np.random.Generator) -> Made:
    extents = shape(r, 2)
    index = np.stack([below(r, n, 3, 2) for n in extents[:2]])
    return relay.gather_nd, [some(r, *extents), index]


def scatter_nd(r: np.random.Generator) -> Made:
    data, mode = some(r, 4, 3), str(r.choice(["update", "add"]))
    places = r.permutation(4)[:3] if mode == "update" else below(r, 4, 3)
    build = lambda x, i, u: relay.scatter_nd(x, i, u, mode)  # noqa: E731
    return build, [data, places[None].astype("int32"), some(r, 3, 3)]


def scatter_elements(r: np.random.Generator) -> Made:
    data, reduction = some(r, 4, 3), str(r.choice(["update", "add"]))
    places = np.stack([r.permutation(4)[:2] for _ in range(3)], 1).astype("int32")
    build = lambda x, i, u: relay.scatter_elements(x, i, u, 0, reduction)  # noqa: E731
    return build, [data, places, some(r, 2, 3)]


def strided_slice(r: np.random.Generator) -> Made:
    extents = shape(r, 1, 3)
    strides = [int(s) for s in r.choice([-2, -1, 1, 2], len(extents))]
    begin = [0 if s > 0 else n - 1 for s, n in zip(strides, extents, strict=True)]
    end = [int(r.integers(1, n + 1)) if s > 0 else -n - 1 for s, n in zip(strides, extents, strict=True)]
    return lambda x: relay.strided_slice(x, begin, end, strides), [some(r, *extents)]


def strided_set(r: np.random.Generator) -> Made:
    build = lambda x, v: relay.strided_set(x, v, [1, 0], [4, 3], [2, 1])  # noqa: E731
    return build, [some(r, 5, 3), some(r, 2, 3)]


def concatenate(r: np.random.Generator) -> Made:
    extents = [*shape(r)]
    axis = axis_of(r, tuple(extents))
    parts = []
    for _ in range(int(r.integers(1, 4))):
        extents[axis] = int(r.integers(1, 4))
        parts.append(some(r, *extents))
    return lambda *xs: relay.concatenate(list(xs), axis), parts


def stack(r: np.random.Generator) -> Made:
    extents = shape(r, 0, 3)
    axis = int(r.integers(-len(extents) - 1, len(extents) + 1))
    return lambda *xs: relay.stack(list(xs), axis), [some(r, *extents) for _ in range(3)]


def split(r: np.random.Generator) -> Made:
    extents = [*shape(r)]
    axis = axis_of(r, tuple(extents))
    extents[axis] = 6
    where = 3 if r.random() < 0.5 else [1, 4]
    return lambda x: relay.split(x, where, axis), [some(r, *extents)]


def transpose(r: np.random.Generator) -> Made:
    extents = shape(r)
    axes = None if r.random() < 0.3 else [int(a) for a in r.permutation(len(extents))]
    return lambda x: relay.transpose(x, axes), [some(r, *extents)]


def tile(r: np.random.Generator) -> Made:
    reps = shape(r, 1, 3)
    return lambda x: relay.tile(x, reps), [some(r, *shape(r))]


def repeat(r: np.random.Generator) -> Made:
    extents = shape(r)
    axis, count = axis_of(r, extents), int(r.integers(1, 4))
    return lambda x: relay.repeat(x, count, axis), [some(r, *extents)]


def pad(r: np.random.Generator) -> Made:
    extents = tuple([n + 2 for n in shape(r, 1, 3)])
    widths = [[int(n) for n in r.integers(0, 3, 2)] for _ in extents]
    mode = str(r.choice(["constant", "edge", "reflect"]))
    return lambda x: relay.nn.pad(x, widths, 0.5, mode), [some(r, *extents)]


def sort(r: np.random.Generator) -> Made:
    extents = shape(r)
    axis, rising = axis_of(r, extents), bool(r.random() < 0.5)
    return lambda x: relay.sort(x, axis, rising), [some(r, *extents)]


def topk(r: np.random.Generator) -> Made:
    kind, rising = str(r.choice(["both", "values"])), bool(r.random() < 0.5)
    return lambda x: relay.topk(x, 2, 1, kind, rising), [some(r, 3, 4)]


def one_hot(r: np.random.Generator) -> Made:
    build = lambda i, a, b: relay.one_hot(i, a, b, 4, -1, "float64")  # noqa: E731
    return build, [below(r, 5, *shape(r, 1, 2)), some(r), some(r)]


def where(r: np.random.Generator) -> Made:
    x, y = broadcast(r)
    condition = r.random(np.broadcast_shapes(x.shape, y.shape)) < 0.5
    return relay.where, [condition, x, y]


def product(r: np.random.Generator) -> Made:
    turn_a, turn_b = bool(r.random() < 0.5), bool(r.random() < 0.5)
    m, k, n = (int(d) for d in r.integers(1, 5, 3))
    a, b = (k, m) if turn_a else (m, k), (n, k) if turn_b else (k, n)
    if r.random() < 0.5:
        build = lambda x, y: relay.nn.matmul(x, y, transpose_a=turn_a, transpose_b=turn_b)  # noqa: E731
        leading = shape(r, 0, 2)
        return build, [some(r, *leading, *a), some(r, *b)]
    build = lambda x, y: relay.nn.batch_matmul(x, y, transpose_a=turn_a, transpose_b=turn_b)  # noqa: E731
    count = int(r.integers(2, 4))
    batches = [(count, count), (1, count), (count, 1)][int(r.integers(0, 3))]
    return build, [some(r, batches[0], *a), some(r, batches[1], *b)]


def dense(r: np.random.Generator) -> Made:
    k, n = (int(d) for d in r.integers(1, 5, 2))
    return relay.nn.dense, [some(r, *shape(r, 1, 3), k), some(r, n, k)]


EQUATIONS = ["ij,jk->ik", "ijk,kl->ijl", "ij,ij->j", "ij->ji", "ij,jk,kl->il", "ijk->j", "i,j->ij"]


def einsum(r: np.random.Generator) -> Made:
    sizes = dict(zip("ijkl", (int(n) for n in r.integers(1, 4, 4)), strict=True))
    equation = str(r.choice(EQUATIONS))
    terms = equation.split("->")[0].split(",")
    build = lambda *xs: relay.einsum(list(xs), equation)  # noqa: E731
    return build, [some(r, *[sizes[c] for c in term]) for term in terms]


def bias_add(r: np.random.Generator) -> Made:
    extents = shape(r)
    axis = axis_of(r, extents)
    return lambda x, b: relay.nn.bias_add(x, b, axis), [some(r, *extents), some(r, extents[axis])]


def window(r: np.random.Generator, axes: int) -> dict[str, Anything]:
    def pick(most: int, count: int = axes) -> list[int]:
        return [int(n) for n in r.integers(1, most + 1, count)]

    return {"strides": pick(3), "dilation": pick(2), "padding": [n - 1 for n in pick(3, 2 * axes)]}


def conv(axes: int) -> Callable[[np.random.Generator], Made]:
    space = "DHW"[-axes:]

    def make(r: np.random.Generator) -> Made:
        options, groups = window(r, axes), int(r.choice([1, 1, 2]))
        size = [int(n) for n in r.integers(1, 4, axes)]
        outputs, inputs = 2 * groups, int(r.integers(1, 3))
        last = bool(r.random() < 0.4)
        extents = [int(n) for n in r.integers(5, 7, axes)]
        data = [2, *extents, inputs * groups] if last else [2, inputs * groups, *extents]
        weight = [*size, inputs, outputs] if last else [outputs, inputs, *size]
        layouts = {"data_layout": f"N{space}C", "kernel_layout": f"{space}IO"} if last else {}
        build = getattr(relay.nn, f"conv{axes}d")
        more = {"groups": groups, "channels": outputs, "kernel_size": size, **options, **layouts}
        return lambda x, w: build(x, w, **more), [some(r, *data), some(r, *weight)]

    return make


def conv_transpose(axes: int) -> Callable[[np.random.Generator], Made]:
    def make(r: np.random.Generator) -> Made:
        options, groups = window(r, axes), int(r.choice([1, 1, 2]))
        size = [int(n) for n in r.integers(2, 4, axes)]
        options["padding"] = [min(p, 1) for p in options["padding"]]
        options["output_padding"] = [int(r.integers(0, s)) for s in options["strides"]]
        data, weight = [2, 2 * groups, *r.integers(3, 5, axes)], [2 * groups, 2, *size]
        build = getattr(relay.nn, f"conv{axes}d_transpose")
        more = {"groups": groups, "channels": 2 * groups, "kernel_size": size, **options}
        return lambda x, w: build(x, w, **more), [some(r, *data), some(r, *weight)]

    return make


def backward_weight(r: np.random.Generator) -> Made:
    build = lambda g, x: relay.nn.conv2d_backward_weight(  # noqa: E731
        g, x, strides=(2, 1), padding=(1, 0), kernel_size=(3, 2)
    )
    return build, [some(r, 2, 3, 3, 4), some(r, 2, 2, 5, 5)]


def pool(kind: str, axes: int) -> Callable[[np.random.Generator], Made]:
    def make(r: np.random.Generator) -> Made:
        options = window(r, axes)
        options["pool_size"] = [int(n) for n in r.integers(2, 4, axes)]
        options["padding"] = [min(p, 1) for p in options["padding"]]
        options["ceil_mode"] = max(options["dilation"]) == 1 and bool(r.random() < 0.4)
        if kind == "avg":
            options["count_include_pad"] = bool(r.random() < 0.5)
        space = "DHW"[-axes:]
        last = bool(r.random() < 0.4)
        options["layout"] = f"N{space}C" if last else f"NC{space}"
        extents = [int(n) for n in r.integers(6, 8, axes)]
        data = some(r, *([2, *extents, 3] if last else [2, 3, *extents]))
        return lambda x: getattr(relay.nn, f"{kind}_pool{axes}d")(x, **options), [data]

    return make


def adaptive(kind: str, axes: int) -> Callable[[np.random.Generator], Made]:
    def make(r: np.random.Generator) -> Made:
        size = [int(n) for n in r.integers(1, 5, axes)]
        build = getattr(relay.nn, f"adaptive_{kind}_pool{axes}d")
        return lambda x: build(x, size), [some(r, 2, 3, *[int(n) for n in r.integers(4, 8, axes)])]

    return make


def norm(name: str, **more: Anything) -> Callable[[np.random.Generator], Made]:
    def make(r: np.random.Generator) -> Made:
        options = {"center": bool(r.random() < 0.7), "scale": bool(r.random() < 0.7), **more}
        build = getattr(relay.nn, name)
        values = [some(r, 2, 4, 3, 2), some(r, 4), some(r, 4)]
        if name == "batch_norm":
            values += [some(r, 4), r.uniform(0.5, 2, 4)]
        return lambda *xs: build(*xs, axis=1, **options), values

    return make


def loss(build: Callable[..., Anything]) -> Callable[[np.random.Generator], Made]:
    return lambda r: (build, [r.uniform(0.1, 1, (3, 4)), some(r, 3, 4)])


def nll(r: np.random.Generator) -> Made:
    reduction = str(r.choice(["mean", "sum", "none"]))
    build = lambda p, t, w: relay.nn.nll_loss(p, t, w, reduction, 1)  # noqa: E731
    extents = shape(r, 0, 2)
    return build, [some(r, 3, 4, *extents), below(r, 4, 3, *extents), r.uniform(0.5, 1, 4)]


def resize(axes: int) -> Callable[[np.random.Generator], Made]:
    def make(r: np.random.Generator) -> Made:
        size = [int(n) for n in r.integers(2, 7, axes)]
        method = str(r.choice(["nearest_neighbor", "linear", "cubic"][: 3 if axes == 2 else 2]))
        mode = str(r.choice(["half_pixel", "align_corners", "asymmetric"]))
        build = getattr(relay.image, f"resize{axes}d")
        more = {"method": method, "coordinate_transformation_mode": mode, "rounding_method": "round"}
        return lambda x: build(x, size, **more), [some(r, 2, 2, *[int(n) for n in r.integers(2, 6, axes)])]

    return make


RANDOM: dict[str, Callable[[np.random.Generator], Made]] = {
    **{name: two(getattr(relay, name)) for name in (
        "add", "subtract", "multiply", "divide", "maximum", "minimum", "floor_mod", "trunc_mod", "mod",
    )},
    "power": lambda r: (relay.power, [np.abs(x) for x in broadcast(r)]),
    **{name: one(getattr(relay, name)) for name in (
        "abs", "atan", "asinh", "copy", "cos", "cosh", "erf", "exp", "negative", "sigmoid", "sin", "sinh",
        "tanh",
    )},
    **{name: one(getattr(relay, name), low=0.2) for name in ("log", "log2", "log10", "sqrt", "rsqrt")},
    **{f"nn.{name}": one(getattr(relay.nn, name)) for name in (
        "relu", "leaky_relu", "softmax", "log_softmax",
    )},
    **{name: reduction(getattr(relay, name)) for name in ("sum", "mean", "max", "min", "prod", "variance")},
    "cumsum": scan(relay.cumsum), "cumprod": scan(relay.cumprod),
    "clip": lambda r: (lambda x: relay.clip(x, -1.05, 0.55), [some(r, *shape(r))]),
    "take": take, "gather": gather, "gather_nd": gather_nd, "scatter_nd": scatter_nd,
    "scatter_elements": scatter_elements, "strided_slice": strided_slice, "strided_set": strided_set,
    "concatenate": concatenate, "stack": stack, "split": split, "transpose": transpose, "tile": tile,
    "repeat": repeat, "nn.pad": pad, "sort": sort, "topk": topk, "one_hot": one_hot, "where": where,
    "nn.matmul": product, "nn.dense": dense, "einsum": einsum, "nn.bias_add": bias_add,
    "nn.conv1d": conv(1), "nn.conv2d": conv(2), "nn.conv3d": conv(3),
    "nn.conv1d_transpose": conv_transpose(1), "nn.conv2d_transpose": conv_transpose(2),
    "nn.conv3d_transpose": conv_transpose(3), "nn.conv2d_backward_weight": backward_weight,
    **{f"nn.{kind}_pool{n}d": pool(kind, n) for kind in ("max", "avg") for n in (1, 2, 3)},
    **{f"nn.adaptive_{kind}_pool{n}d": adaptive(kind, n) for kind in ("max", "avg") for n in (1, 2, 3)},
    "nn.batch_norm": norm("batch_norm"), "nn.layer_norm": norm("layer_norm"),
    "nn.instance_norm": norm("instance_norm"), "nn.group_norm": norm("group_norm", num_groups=2),
    "nn.cross_entropy": loss(relay.nn.cross_entropy),
    "nn.cross_entropy_with_logits": loss(relay.nn.cross_entropy_with_logits), "nn.nll_loss": nll,
    "full": lambda r: (lambda v: relay.full(v, (2, 3), "float64"), [some(r)]),
    "full_like": lambda r: (relay.full_like, [some(r, 2, 3), some(r)]),
    "arange": lambda r: (
        lambda a, b, c: relay.arange(a, b, c, "float64"), [np.array(0.3), np.array(4.1), np.array(0.7)]
    ),
    "image.resize1d": resize(1), "image.resize2d": resize(2), "image.resize3d": resize(3),
}  # fmt: skip
