"""Quantize a program in three phases, annotate, calibrate and realize, and record what each phase did."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ..ir.errors import RelayError
from ..ir.expr import Expr
from ..ir.lazy_dataclass import dataclass
from ..ir.module import IRModule
from ..ir.types import TensorType
from ..ir.walk import post_order
from ..transform import FoldConstant, Pass, PassContext
from ..transform.fold_scale_axis.axes import CONSTANTS_ONLY
from ..transform.infrastructure import context_within
from ..typing import infer_types
from .annotation import Annotating, Kept, annotate_module
from .answers import asking
from .calibration import calibrate_module
from .observation import Dataset
from .prepare import checked_params, prerequisite_optimize, with_constant_arguments
from .provenance import origins
from .realization import Requantization, realize_module
from .scheme import Scheme, Site
from .schemes.tvm_symmetric import TvmSymmetric


@dataclass(frozen=True, eq=False)
class Quantization:
    """The program after each phase of quantization, as typed modules, and the decisions at each site.

    `original` is the program as it was given, `float_program` the one that was quantized: with its parameters
    bound and constants folded. `annotated` computes the same, with sites marked; `calibrated` simulates the
    quantization in floating point; `realized` computes with integers. `sites` are in the order of annotation,
    `kept` are the calls of operators that stayed in float, each with the reason, and `requantizations` the
    places where integers reached a site, whether or not their scale had to change.
    """

    scheme: Scheme
    original: IRModule
    float_program: IRModule
    annotated: IRModule
    calibrated: IRModule
    realized: IRModule
    sites: tuple[Site, ...]
    kept: tuple[Kept, ...]
    requantizations: tuple[Requantization, ...]

    def integers(self) -> dict[int, Expr]:
        """Return the expressions of the realized program that hold the integers of the sites, by index. A
        site that was not realized, or whose value was folded away, has none.
        """
        wanted = {id(site.realized): site.index for site in self.sites if site.realized is not None}
        holders: dict[int, Expr] = {}
        for function in self.realized.functions.values():
            for node in post_order(function):
                pending, visited = [node], set()
                while pending:
                    source = pending.pop()
                    if id(source) in visited:
                        continue
                    visited.add(id(source))
                    if id(source) in wanted:
                        holders.setdefault(wanted[id(source)], node)
                    elif source is node or type(source) is type(node):
                        pending += source.origin
        return holders


class _Phase(Pass):
    """A phase as a pass, so that instruments see it."""

    opt_level = 0

    def __init__(self, name: str, run: Callable[[IRModule], IRModule]) -> None:
        self.name = name
        self.run = run

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        return self.run(mod)

    def _runs_other_code(self) -> bool:
        return True


def trace(
    mod: IRModule,
    scheme: Scheme | None = None,
    params: Mapping[str, object] | None = None,
    dataset: Dataset | None = None,
    *,
    observe: bool = True,
    realized: bool = True,
) -> Quantization:
    """Quantize a program, and return the program after each phase, with what was decided and why.

    `scheme` defaults to TVM's, with the settings of the innermost `qconfig`. `params` are constants for
    parameters of `@main`, by name. `dataset` has the inputs of `@main` for each calibration run: mappings
    from names to arrays, or sequences of arguments; with `observe=False`, the program runs on it only if a
    calibrator needs data. With `realized=False` the last phase is left out, and `realized` is then the
    simulated program.
    """
    scheme = scheme or TvmSymmetric()
    if not isinstance(scheme, Scheme):
        raise RelayError(
            f"a scheme is an instance of a class derived from Scheme, not {scheme!r:.60}",
            help=["for example, relay.quantize.schemes.PerChannelAsymmetric()"],
        )
    params = checked_params(mod, params)
    if scheme.opt_level is None:
        prepared = prerequisite_optimize(mod, params)
    else:  # a bias stays one: it is added to accumulators, and other additions are not
        # A computed scale stays, too: a weight that it is folded into would be computed at every run.
        config = {CONSTANTS_ONLY: True, **PassContext.current().config}
        with context_within(scheme.opt_level, ["CanonicalizeOps"], config):
            prepared = prerequisite_optimize(mod, params)
    with context_within(3):
        if len(prepared.functions) > 1:
            prepared = FoldConstant()(with_constant_arguments(prepared))
        prepared = infer_types(prepared)
        return _phases(mod, prepared, scheme, dataset, observe, realized)


def _phases(
    original: IRModule,
    prepared: IRModule,
    scheme: Scheme,
    dataset: Dataset | None,
    observe: bool,
    realized: bool,
) -> Quantization:
    """Run the three phases on a prepared module."""
    runs: list[Annotating] = []
    sites: list[Site] = []
    requantizations: list[Requantization] = []
    unrealized: list[Kept] = []

    def partitioning(mod: IRModule) -> IRModule:
        with asking(scheme, "prepare", "the float program"):
            prepared = scheme.prepare(mod)
            if not isinstance(prepared, IRModule):
                raise RelayError(
                    f"`prepare` of the scheme {scheme.name} returned {prepared!r:.60}",
                    help=["return a module, for example the one that it receives"],
                )
            checked_params(prepared, None)
            return infer_types(prepared)

    def annotating(mod: IRModule) -> IRModule:
        new, run = annotate_module(mod, scheme)
        runs.append(run)
        return new

    def calibrating(mod: IRModule) -> IRModule:
        new, calibrated = calibrate_module(mod, scheme, runs[0].sites, dataset, observe=observe)
        sites.extend(calibrated)
        return new

    def realizing(mod: IRModule) -> IRModule:
        sources, listed = origins(mod, modules[1]), {place.call for place in runs[0].kept}
        left = {call for call, source in sources.items() if source in runs[0].left}
        new, updated, run = realize_module(mod, scheme, sites, left)
        sites[:] = updated
        requantizations.extend(run.requantizations)
        for place in run.float_calls:
            call = sources.get(place.call)
            if call is not None and call not in listed:
                unrealized.append(Kept(call, place.function, place.why))
        with asking(scheme, "realize", "the calls that it changed"):
            return infer_types(new)

    steps: Sequence[tuple[str, Callable[[IRModule], IRModule]]] = [
        ("QuantizePartition", partitioning),
        ("QuantizeAnnotate", annotating),
        ("QuantizeCalibrate", calibrating),
        ("QuantizeRealize", realizing),
    ]
    modules = [prepared]
    for name, run in steps[: 4 if realized else 3]:
        modules.append(_Phase(name, run)(modules[-1]))
    result = infer_types(FoldConstant()(modules[-1]))
    in_float = (*runs[0].kept, *_without_range(sites), *unrealized)
    return Quantization(
        scheme,
        original,
        modules[1],
        modules[2],
        modules[3],
        result,
        tuple(sites),
        in_float,
        tuple(requantizations),
    )


def _without_range(sites: Sequence[Site]) -> list[Kept]:
    """Return the calls that stay in float because calibration never reached them."""
    return [Kept(site.call, site.function, _why_no_range(site)) for site in sites if site.parameters is None]


def _why_no_range(site: Site) -> str:
    """Say why a site has no parameters."""
    type_ = site.expr.checked_type
    if isinstance(type_, TensorType) and 0 in type_.shape:
        return "it has no elements, so it has no range"
    return "calibration never computed it, so it has no range"


def quantize(
    mod: IRModule,
    params: Mapping[str, object] | None = None,
    dataset: Dataset | None = None,
    scheme: Scheme | None = None,
) -> IRModule:
    """Quantize a program: the interface of `tvm.relay.quantize.quantize`, for any scheme.

    `params`, `dataset` and `scheme` are those of `trace`, which also returns what each phase did.
    """
    scheme = scheme or TvmSymmetric()
    simulated = isinstance(scheme, TvmSymmetric) and scheme.config.do_simulation
    result = trace(mod, scheme, params, dataset, observe=False, realized=not simulated).realized
    if simulated:
        from .schemes.tvm_symmetric.passes import without_numbers

        result = without_numbers(result)
    if isinstance(scheme, TvmSymmetric) and scheme.config.partition_conversions != "disabled":
        from .conversions import partition_conversions

        config = scheme.config
        dtypes = {config.dtype_input, config.dtype_weight, config.dtype_activation}
        return partition_conversions(result, dtypes, config.partition_conversions == "fully_integral")
    return result
