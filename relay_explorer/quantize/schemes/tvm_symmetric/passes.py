"""The phases of TVM's scheme as passes of their own, which a pipeline runs one after the other.

    Sequential([partition(), annotate(), module_pass(calibrate(dataset), opt_level=1), realize()])

Between them a module has no table of sites: each simulated quantization says its role, and once it is
calibrated, its scale and bounds are constants.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ....ir.expr import Call, Constant, Function
from ....ir.lazy_dataclass import dataclass
from ....ir.module import IRModule
from ....ir.walk import post_order, rewrite_nodes
from ....ops.numeric import Array, np
from ....transform import Pass, PassContext
from ....typing import infer_types
from ...annotation import SIMULATE, annotate_module
from ...calibration import calibrate_module
from ...observation import Dataset, collected
from ...quantizer import Parameters, Role
from ...realization import realize_module
from ...scheme import Site, Use
from . import TvmSymmetric
from .partition import partitioned


def numbered(mod: IRModule, scheme: TvmSymmetric) -> tuple[IRModule, list[Site]]:
    """Give numbers to the simulated quantizations of a module, and return their sites."""
    new = mod.copy()
    count = 0

    def number(node: object, rebuilt: object) -> Call | None:
        nonlocal count
        if not isinstance(rebuilt, Call) or getattr(rebuilt.op, "name", "") != SIMULATE:
            return None
        assert rebuilt.attrs is not None
        count += 1
        attrs = rebuilt.attrs.replace(site=count - 1)
        return Call.of(rebuilt.op, rebuilt.args, attrs, (), rebuilt.span, (rebuilt,))

    for var, function in mod.functions.items():
        if isinstance(function, Function):
            new[var] = rewrite_nodes(function, number)
    new = infer_types(new)
    sites = []
    for var, function in new.functions.items():
        for node in post_order(function):
            if isinstance(node, Call) and getattr(node.op, "name", "") == SIMULATE:
                sites.append(_site(node, var.name_hint, scheme))
    return new, sorted(sites, key=lambda site: site.index)


def without_numbers(mod: IRModule) -> IRModule:
    """Remove the numbers of the simulated quantizations of a module, which name the sites of a `trace`."""

    def remove(node: object, rebuilt: object) -> Call | None:
        if not isinstance(rebuilt, Call) or getattr(rebuilt.op, "name", "") != SIMULATE:
            return None
        assert rebuilt.attrs is not None
        return Call.of(rebuilt.op, rebuilt.args, rebuilt.attrs.replace(site=-1), (), rebuilt.span, (rebuilt,))

    new = mod.copy()
    for var, function in mod.functions.items():
        if isinstance(function, Function):
            new[var] = rewrite_nodes(function, remove)
    return infer_types(new)


def _site(call: Call, function: str, scheme: TvmSymmetric) -> Site:
    assert call.attrs is not None
    quantizer = scheme.quantizer(Role(call.attrs["kind"]))
    scale = call.args[1]
    parameters = None
    if isinstance(scale, Constant) and scale.data.numpy().any():
        step = scale.data.numpy()
        low, high = (step * bound for bound in (quantizer.lowest, quantizer.highest))
        parameters = Parameters(step, np.zeros(step.shape, "int32"), low, high)
    return Site(
        call.attrs["site"],
        function,
        call.args[0],
        (Use(call, 0),),
        quantizer,
        parameters=parameters,
        simulated=call,
    )


@dataclass(frozen=True)
class QuantizePartition(Pass):
    """Mark where TVM's scheme ends kernels and stores values in 8 bits."""

    name = "QuantizePartition"
    opt_level = 1

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        return partitioned(mod, TvmSymmetric().config)


@dataclass(frozen=True)
class QuantizeAnnotate(Pass):
    """Insert the simulated quantizations of TVM's scheme, which are not calibrated yet."""

    name = "QuantizeAnnotate"
    opt_level = 1

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        return annotate_module(infer_types(mod), TvmSymmetric())[0]


@dataclass(frozen=True)
class QuantizeRealize(Pass):
    """Replace calibrated simulated quantizations of TVM's scheme by integer arithmetic."""

    name = "QuantizeRealize"
    opt_level = 1

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        scheme = TvmSymmetric()
        new, sites = numbered(infer_types(mod), scheme)
        return infer_types(realize_module(new, scheme, sites)[0])


def partition() -> Pass:
    """Return the pass that marks where kernels end."""
    return QuantizePartition()


def annotate() -> Pass:
    """Return the pass that inserts simulated quantizations."""
    return QuantizeAnnotate()


def realize() -> Pass:
    """Return the pass that replaces simulated quantizations by integer arithmetic."""
    return QuantizeRealize()


def calibrate(dataset: Dataset | None = None) -> Callable[[IRModule, PassContext], IRModule]:
    """Return the function of a module pass that calibrates simulated quantizations on a dataset."""

    def run(mod: IRModule, ctx: PassContext) -> IRModule:
        scheme = TvmSymmetric()
        new, sites = numbered(infer_types(mod), scheme)
        return calibrate_module(new, scheme, sites, dataset)[0]

    return run


def collect_stats(mod: IRModule, dataset: Dataset, chunk_by: int = -1) -> Iterator[list[Array]]:
    """Run an annotated module on a dataset, and yield what each site saw, as a vector; `chunk_by` sites at a
    time, all of them for -1. Weights are left out.
    """
    new, sites = numbered(infer_types(mod), TvmSymmetric())
    values: Sequence[Array] = collected(
        new, [site for site in sites if site.quantizer.role is not Role.WEIGHT], dataset
    )
    size = len(values) if chunk_by == -1 else chunk_by
    for start in range(0, len(values), max(size, 1)):
        yield list(values[start : start + size])
