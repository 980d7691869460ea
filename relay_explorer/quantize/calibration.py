"""The second phase: run the annotated program on data, and compute the scale and zero point of each site."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..ir.annotate import set_origin
from ..ir.errors import RelayError
from ..ir.expr import Call, Constant, Expr, Function, const
from ..ir.module import IRModule
from ..ir.types import TensorType
from ..ir.walk import post_order, rewrite_nodes
from ..ops.numeric import Array, np
from ..typing import infer_types
from .annotation import SIMULATE
from .answers import asking
from .observation import Dataset, batches_of, observe_runs
from .quantizer import Parameters, Quantizer, spread
from .scheme import Observed, Peers, Scheme, Site
from .statistics import Statistics, check_finite, of_values


def calibrate_module(
    mod: IRModule,
    scheme: Scheme,
    sites: Sequence[Site],
    dataset: Dataset | None = None,
    *,
    observe: bool = False,
) -> tuple[IRModule, list[Site]]:
    """Set the parameters of the simulated quantizations in an annotated, typed module.

    `dataset` has the inputs of `@main` for each run: a mapping from parameters' names to arrays, or a
    sequence of arguments. It is needed where a calibrator looks at the values of activations; `observe` runs
    the program on it even if none does. A site that no run reaches gets no parameters, and stays in float.
    Returns the typed module, and the sites with statistics and parameters. Raise a RelayError for a dataset
    that is missing, empty, or does not fit, and for values that are not finite.
    """
    return calibrated(mod, scheme, sites, observed(mod, scheme, sites, dataset, observe))


def calibrated(
    mod: IRModule, scheme: Scheme, sites: Sequence[Site], statistics: Mapping[int, Statistics]
) -> tuple[IRModule, list[Site]]:
    """Set the parameters of the simulated quantizations in an annotated, typed module, from the `statistics`
    of the sites, by index. Returns the typed module, and the sites with statistics and parameters.
    """
    from dataclasses import replace

    chosen: dict[int, Parameters] = {}
    places: dict[Call, dict[int | None, int]] = {}  # by call, the site of each operand
    for site in sites:
        for use in site.uses:
            places.setdefault(use.call, {})[use.operand] = site.index
    done = []
    for site in sites:
        seen, parameters = statistics.get(site.index), None
        if seen is not None and (seen.count or not scheme.needs_data(site.quantizer)):
            peers = [_peers(use.call, places[use.call], statistics, chosen) for use in site.uses]
            with asking(scheme, "calibrate", str(site), site.call.span):
                parameters = _checked(site, seen, scheme.calibrate(site, Observed(seen, peers)))
            chosen[site.index] = parameters
        done.append(replace(site, statistics=seen, parameters=parameters))
    new, simulated = _bound(mod, done)
    return new, [replace(site, simulated=simulated[site.index]) for site in done]


def _peers(
    call: Call,
    sites: Mapping[int | None, int],
    statistics: Mapping[int, Statistics],
    chosen: Mapping[int, Parameters],
) -> Peers:
    """Return what is known about the sites of a call, which `sites` gives by operand."""
    return Peers(
        call,
        {operand: statistics[index] for operand, index in sites.items() if index in statistics},
        {operand: chosen[index] for operand, index in sites.items() if index in chosen},
    )


def observed(
    mod: IRModule, scheme: Scheme, sites: Sequence[Site], dataset: Dataset | None, observe: bool
) -> dict[int, Statistics]:
    """Return the statistics of the sites, by index."""
    from dataclasses import replace

    statistics: dict[int, Statistics] = {}
    activations: list[Site] = []
    for site in sites:
        if isinstance(site.expr, Constant):
            values = site.expr.data.numpy()
            check_finite(
                values,
                f"{site}, a constant",
                "this weight contains NaN or infinity; check the weight file",
            )
            statistics[site.index] = replace(of_values([values], site.quantizer), values=values)
        else:
            activations.append(site)
    batches = batches_of(dataset)
    missing = next((site for site in activations if scheme.needs_data(site.quantizer)), None)
    if missing is not None and not batches:
        what = "has no inputs" if dataset is not None else "is missing"
        raise RelayError(
            f"{missing} can only be calibrated with data, but the dataset {what}",
            missing.expr.span,
            help=[
                "give some typical inputs: quantize(mod, params, dataset=[{'data': array}, …])",
                "or use a calibrator that needs none, such as GlobalScale",
            ],
        )
    if batches and (missing is not None or observe):
        return statistics | observe_runs(mod, activations, batches)
    return statistics | {site.index: of_values([], site.quantizer) for site in activations}


def _checked(site: Site, seen: Statistics, parameters: object) -> Parameters:
    """Return a scheme's answer with arrays of the right types; raise a RelayError where it is no use."""
    from dataclasses import replace

    if not isinstance(parameters, Parameters):
        raise RelayError(
            f"{site}: calibration returned {parameters!r:.60} instead of Parameters",
            help=["`parameters(quantizer, low, high)` computes them from a range"],
        )
    fields = [np.asarray(getattr(parameters, name)) for name in ("scale", "zero_point", "low", "high")]
    if any(field.dtype.kind not in "iuf" for field in fields):
        raise RelayError(
            f"{site}: calibration returned {parameters!r:.80}, whose fields are not arrays of numbers",
            help=["`parameters(quantizer, low, high)` computes them from a range"],
        )
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        scale, zero_point = fields[0].astype("float32"), fields[1].astype("int32")
    if not np.isfinite(scale).all() or (scale <= 0).any():
        bad = float(fields[0].reshape(-1)[~(np.isfinite(scale) & (scale > 0)).reshape(-1)][0])
        raise RelayError(
            f"{site}: calibration returned the scale {bad:g}; scales are positive and finite in float32"
        )
    lowest, highest = site.quantizer.lowest, site.quantizer.highest
    valid = (fields[1] == zero_point) & (lowest <= zero_point) & (zero_point <= highest)
    if not valid.all():
        bad = fields[1].reshape(-1)[~valid.reshape(-1)][0]
        raise RelayError(
            f"{site}: calibration returned the zero point {bad}, but it is one of the integers from "
            f"{lowest:,} to {highest:,}, because the number 0 must be exact",
            help=["`parameters(quantizer, low, high)` computes scale and zero point from a range"],
        )
    shape = np.shape(seen.low)
    if scale.shape != zero_point.shape or (scale.shape and shape != scale.shape):
        raise RelayError(
            f"{site}: the scale has the shape {scale.shape}, and the zero point {zero_point.shape}, but "
            f"the ranges of the quantizer ({site.quantizer}) have the shape {shape}"
        )
    low, high = (np.asarray(field, "float32") for field in fields[2:])
    return replace(parameters, scale=scale, zero_point=zero_point, low=low, high=high)


def _bound(mod: IRModule, sites: Sequence[Site]) -> tuple[IRModule, dict[int, Expr | None]]:
    """Set the parameters of the calls in a module; return it, typed, and the calls by site."""
    by_index = {site.index: site for site in sites}
    simulated: dict[int, Expr | None] = {site.index: site.simulated for site in sites}

    def bind(node: Expr, rebuilt: Expr) -> Expr | None:
        if not (isinstance(rebuilt, Call) and getattr(rebuilt.op, "name", "") == SIMULATE):
            return None
        assert rebuilt.attrs is not None
        site = by_index.get(rebuilt.attrs["site"])
        if site is None or site.parameters is None:
            return None
        type_ = node.checked_type
        assert isinstance(type_, TensorType)
        values = bounds(site.quantizer, site.parameters, tuple(map(int, _extents(type_))))
        args = (rebuilt.args[0], *[const(np.asarray(value, "float32")) for value in values])
        return set_origin(Call(rebuilt.op, args, rebuilt.attrs, span=rebuilt.span), (node,))

    new = mod.copy()
    for var, function in mod.functions.items():
        if isinstance(function, Function):
            new[var] = rewrite_nodes(function, bind)
    typed = infer_types(new)
    for function in typed.functions.values():
        for node in post_order(function):
            if isinstance(node, Call) and getattr(node.op, "name", "") == SIMULATE:
                assert node.attrs is not None
                simulated[node.attrs["site"]] = node
    return typed, simulated


def _extents(type_: TensorType) -> list[int]:
    """Return the shape, with 1 for a dynamic size, along which there are no parameters."""
    return [dim if isinstance(dim, int) else 1 for dim in type_.shape]


def bounds(
    quantizer: Quantizer, parameters: Parameters, shape: tuple[int, ...]
) -> tuple[Array, Array, Array]:
    """Return the scale and the bounds of a simulated quantization, which broadcast to `shape`."""
    zeros = parameters.zero_point.astype("int64")
    scale, zero = (spread(values, quantizer, shape) for values in (parameters.scale, zeros))
    return scale, quantizer.lowest - zero, quantizer.highest - zero
