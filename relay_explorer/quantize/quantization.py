"""Quantize a program in three phases, annotate, calibrate and realize, and record what each phase did."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ..ir.declaration import Trait
from ..ir.errors import RelayError
from ..ir.expr import Call, Constant, Expr, Function
from ..ir.lazy_dataclass import dataclass
from ..ir.module import IRModule
from ..ir.narrow import as_function
from ..ir.op import Op
from ..ir.walk import post_order, rewrite_nodes
from ..transform import FoldConstant, Pass, PassContext
from ..transform.infrastructure import context_within
from ..typing import infer_types
from .annotation import Annotating, Kept, annotate_module
from .calibration import calibrate_module
from .observation import Dataset
from .prepare import check_main, prerequisite_optimize, with_constant_arguments
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
    check_main(mod)
    if scheme.opt_level is None:
        prepared = prerequisite_optimize(mod, params)
    else:  # a bias stays one: it is added to accumulators, and other additions are not
        with context_within(scheme.opt_level, ["CanonicalizeOps"]):
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
        return infer_types(scheme.prepare(mod))

    def annotating(mod: IRModule) -> IRModule:
        new, run = annotate_module(mod, scheme)
        runs.append(run)
        return new

    def calibrating(mod: IRModule) -> IRModule:
        new, calibrated = calibrate_module(mod, scheme, runs[0].sites, dataset, observe=observe)
        sites.extend(calibrated)
        return new

    def realizing(mod: IRModule) -> IRModule:
        new, updated, run = realize_module(mod, scheme, sites)
        sites[:] = updated
        requantizations.extend(run.requantizations)
        sources, listed = origins(mod, modules[1]), {place.call for place in runs[0].kept}
        for place in run.float_calls:
            call = sources.get(place.call)
            if call is not None and call not in listed:
                unrealized.append(Kept(call, place.function, place.why))
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
    result = _folded(modules[-1])
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


def _folded(mod: IRModule) -> IRModule:
    """Fold constants, also those that a scheme has marked as values of kernels of their own."""
    unmarked = 0

    def drop(node: Expr, rebuilt: Expr) -> Expr | None:
        nonlocal unmarked
        if not isinstance(rebuilt, Call):
            return None
        marks = isinstance(rebuilt.op, Op) and rebuilt.op.has(Trait.NON_COMPUTATIONAL)
        if not marks or not isinstance(rebuilt.args[0], Constant):
            return None
        unmarked += 1
        return rebuilt.args[0]

    mod = FoldConstant()(mod)
    new = mod.copy()
    for var, function in mod.functions.items():
        if isinstance(function, Function):
            new[var] = as_function(rewrite_nodes(function, drop))
    return infer_types(FoldConstant()(infer_types(new)) if unmarked else mod)


def _without_range(sites: Sequence[Site]) -> list[Kept]:
    """Return the calls that stay in float because calibration never reached them."""
    return [
        Kept(site.call, site.function, "calibration never computed it, so it has no range")
        for site in sites
        if site.parameters is None
    ]


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
    if isinstance(scheme, TvmSymmetric) and scheme.config.partition_conversions != "disabled":
        from .conversions import partition_conversions

        config = scheme.config
        dtypes = {config.dtype_input, config.dtype_weight, config.dtype_activation}
        return partition_conversions(result, dtypes, config.partition_conversions == "fully_integral")
    return result
