"""Run an annotated program on data, and collect the values at its sites."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any as Anything

from ..analysis import total_cost
from ..ir.errors import RelayError
from ..ir.expr import Call, Constant, Expr, Function, Tuple, TupleGetItem, Var
from ..ir.hooks import hook
from ..ir.module import IRModule
from ..ir.op import Op
from ..ir.types import TensorType
from ..ir.walk import post_order, rewrite_nodes
from ..ops.numeric import Array, element_type, np
from ..ops.simulated_quantize import Observer, observing
from .annotation import SIMULATE
from .scheme import Site
from .statistics import BINS, Statistics, check_finite, histogram, of_values, ranges

MAX_KEPT_BYTES = 2**28  # of values that are kept for their histograms; with more, the program runs twice
MAX_MAGNITUDES = 2**20  # of the greatest values that are kept for each site in the second run
MIN_COMPILED_FLOPS = 1e11  # of all runs together: with fewer, compiling takes longer than interpreting

Inputs = Mapping[str, Anything] | Sequence[Anything]
Dataset = Iterable[Inputs]
Runs = Callable[[Observer], None]  # runs the program on all data, and hands out what the sites see


def batches_of(dataset: Dataset | None, most: int | None = None) -> list[Inputs]:
    """Return the inputs of each run, at most so many; raise a RelayError where a dataset is not a list, or
    another iterable, of them.
    """
    if dataset is None:
        return []
    if isinstance(dataset, (Mapping, str, bytes)) or hasattr(dataset, "shape"):
        remedy = "for one run, write dataset=[inputs]"
    elif isinstance(dataset, Iterable):
        return list(islice(dataset, most))
    else:
        remedy = "for example, dataset=[{'data': array}, …]"
    raise RelayError(
        f"a dataset is a list with the inputs of each run, not a value of type {type(dataset).__name__}",
        help=[remedy],
    )


def observe_runs(mod: IRModule, sites: Sequence[Site], batches: Sequence[Inputs]) -> dict[int, Statistics]:
    """Run the program on each batch, and return the statistics of some sites."""
    runs = compiled(mod, sites, batches) or interpreted(mod, batches)
    first = _First(sites)
    runs(first)
    if first.bytes <= MAX_KEPT_BYTES:
        return {site.index: of_values(first.kept[site.index], site.quantizer) for site in sites}
    second = _Second(first)
    runs(second)
    return {site.index: second.statistics(site) for site in sites}


def collected(mod: IRModule, sites: Sequence[Site], dataset: Dataset) -> list[Array]:
    """Run the program on a dataset, and return all values that each of some sites saw, as a vector."""
    seen: dict[int, list[Array]] = {site.index: [] for site in sites}

    def keep(index: int, values: Array) -> None:
        if index in seen:
            seen[index].append(values.reshape(-1).copy())

    interpreted(mod, batches_of(dataset))(keep)
    return [np.concatenate(seen[site.index] or [np.zeros(0, "float32")]) for site in sites]


class _First:
    """Receives the values of the first run: ranges and counts, and the values themselves while they fit."""

    def __init__(self, sites: Sequence[Site]) -> None:
        self.sites = {site.index: site for site in sites}
        self.kept: dict[int, list[Array]] = {index: [] for index in self.sites}
        self.ranges: dict[int, tuple[Array, Array]] = {}
        self.count: dict[int, int] = dict.fromkeys(self.sites, 0)
        self.tensors: dict[int, int] = dict.fromkeys(self.sites, 0)
        self.bytes = 0

    def __call__(self, index: int, values: Array) -> None:
        site = self.sites.get(index)
        if site is None or not values.size:
            return
        check_finite(values, f"{site}, during calibration")
        self.count[index] += values.size
        self.tensors[index] += 1
        low, high = ranges(values, site.quantizer)
        if index in self.ranges:
            before = self.ranges[index]
            low, high = np.minimum(low, before[0]), np.maximum(high, before[1])
        self.ranges[index] = low, high
        self.bytes += values.nbytes
        if self.bytes <= MAX_KEPT_BYTES:
            self.kept[index].append(values.copy())
        else:
            self.kept.clear()


class _Second:
    """Receives the values again, whose ranges are known, and counts them in histograms."""

    def __init__(self, first: _First) -> None:
        self.first = first
        self.counts = {index: np.zeros(BINS, "int64") for index in first.sites}
        self.magnitudes = {index: np.zeros(0, "float32") for index in first.sites}

    def largest(self, index: int) -> float:
        low, high = self.first.ranges[index]
        return max(-float(low.min()), float(high.max()))

    def __call__(self, index: int, values: Array) -> None:
        if index not in self.counts or not values.size:
            return
        self.counts[index] += histogram([values], self.largest(index))[0]
        both = np.concatenate([self.magnitudes[index], np.abs(values).reshape(-1)])
        if both.size > MAX_MAGNITUDES:
            both = np.partition(both, both.size - MAX_MAGNITUDES)[-MAX_MAGNITUDES:]
        self.magnitudes[index] = both

    def statistics(self, site: Site) -> Statistics:
        index, first = site.index, self.first
        if not first.count[index]:
            return of_values([], site.quantizer)
        low, high = first.ranges[index]
        edges = histogram([], self.largest(index))[1]
        magnitudes = np.sort(self.magnitudes[index])
        return Statistics(
            first.tensors[index], first.count[index], low, high, self.counts[index], edges, magnitudes
        )


def interpreted(mod: IRModule, batches: Sequence[Inputs]) -> Runs:
    """Return a function that runs `@main` on each batch in the interpreter, and observes its sites."""
    main = mod["main"]
    assert isinstance(main, Function)
    function = hook("executor")("debug", mod).evaluate()

    def run(observer: Observer) -> None:
        with observing(observer):
            for number, batch in enumerate(batches):
                _one(number, function, main, batch)

    return run


def compiled(mod: IRModule, sites: Sequence[Site], batches: Sequence[Inputs]) -> Runs | None:
    """Return a function that runs a compiled program whose results are the values at the sites.

    None where interpreting is faster, because the program is small or the data few, and where the program is
    more than a dataflow graph of one function, or TVM is not installed.
    """
    main = mod["main"]
    assert isinstance(main, Function)
    if total_cost(main).flops * len(batches) < MIN_COMPILED_FLOPS or not _is_dataflow(mod, main):
        return None
    inputs: dict[int, Expr] = {}
    wanted = {site.index for site in sites}

    def unwrap(node: Expr, rebuilt: Expr) -> Expr | None:
        if not (isinstance(rebuilt, Call) and getattr(rebuilt.op, "name", "") == SIMULATE):
            return None
        assert rebuilt.attrs is not None
        if rebuilt.attrs["site"] in wanted:
            inputs[rebuilt.attrs["site"]] = rebuilt.args[0]
        return rebuilt.args[0]

    rewrite_nodes(main.body, unwrap)
    indices = list(inputs)
    profile = IRModule.from_expr(Function(main.params, Tuple([inputs[index] for index in indices])))
    function = hook("create_executor")("graph", profile).evaluate()

    def run(observer: Observer) -> None:
        for number, batch in enumerate(batches):
            values = _one(number, function, main, batch)
            for index, value in zip(indices, values):
                observer(index, value.numpy())

    return run


def _is_dataflow(mod: IRModule, main: Function) -> bool:
    """Whether `@main` only applies operators to tensors of known shapes, so that it can be compiled whole."""
    plain = (Constant, Var, Tuple, TupleGetItem, Op)
    nodes = post_order(main.body)
    if len(mod.functions) > 1 or importlib.util.find_spec("tvm") is None:
        return False
    if not all(
        isinstance(node, plain) or (isinstance(node, Call) and isinstance(node.op, Op)) for node in nodes
    ):
        return False
    types = [node.checked_type for node in nodes if isinstance(node, (Call, Var))]
    return all(not isinstance(type_, TensorType) or type_.is_static for type_ in types)


def _one(number: int, function: Callable[..., Anything], main: Function, batch: Inputs) -> Anything:
    """Run one input; say which it was where it fails."""
    try:
        return function(*arguments(main, batch))
    except RelayError as error:
        raise RelayError(
            f"calibration failed on input {number} of the dataset: {error.message}",
            error.span,
            error.notes,
            error.help,
        ) from error


def arguments(main: Function, batch: Inputs) -> list[Anything]:
    """Return the arguments of `@main` for a batch, floats converted to the parameters' element types.

    A mapping may have more names than there are parameters, as weight files do.
    """
    if isinstance(batch, Mapping):
        named = {str(getattr(name, "name_hint", name)): value for name, value in batch.items()}
        missing = [param.name_hint for param in main.params if param.name_hint not in named]
        if missing:
            raise RelayError(
                f"the dataset has no values for the parameter `%{missing[0]}`",
                main.span,
                help=[f"it has values for {', '.join(map(repr, named)) or 'nothing'}"],
            )
        values = [named[param.name_hint] for param in main.params]
    elif isinstance(batch, (list, tuple)):
        values = list(batch)
    else:
        raise RelayError(
            "each input of the dataset must be a mapping from parameter names to arrays, or a list of "
            f"arguments, not {type(batch).__name__}",
            help=["for a program of one parameter, write dataset=[[array], …]"],
        )
    return [_converted(value, param.checked_type) for value, param in zip(values, main.params)] + values[
        len(main.params) :
    ]


def _converted(value: Anything, type_: object) -> Anything:
    """Convert an array to the element type of its parameter, where that loses at most precision."""
    value = detached(value)
    if isinstance(type_, TensorType) and isinstance(value, (np.ndarray, np.generic, float, int)):
        array, dtype = np.asarray(value), element_type(type_.dtype)
        integers = array.dtype.kind in "iu" and dtype.kind in "iu"
        if integers or np.can_cast(array.dtype, dtype, "same_kind"):
            return array.astype(dtype)
    return value


def detached(value: Anything) -> Anything:
    """Return the array that a tensor of PyTorch holds; any other value as it is."""
    return value.detach().cpu().numpy() if hasattr(value, "detach") else value
