"""The weights and the inputs of a program that is quantized, random where none are given."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ...analysis.cost import call_cost
from ...ir.errors import RelayError
from ...ir.expr import Call, Constant, Function, Var
from ...ir.module import IRModule
from ...ir.types import TensorType
from ...ir.walk import post_order
from ...quantize.observation import Dataset, Inputs, batches_of
from ...typing import infer_types
from ..words import counted

if TYPE_CHECKING:
    from numpy.random import Generator

MAX_CALIBRATION, MAX_COMPARISON = 64, 12  # inputs
RANDOM_INPUTS, FEW_INPUTS = 8, 2  # the second for programs with at least MANY_FLOPS operations
MANY_FLOPS = 100_000_000
_POSITIVE = ("var", "gamma", "scale")  # in names of weights that must not be near zero


class Data(NamedTuple):
    """The weights and inputs of a program, a few words about where they came from, and whether calibration
    has seen the inputs.
    """

    params: Mapping[str, object]
    dataset: list[Inputs]
    words: str
    seen: bool = True

    @property
    def compared(self) -> Sequence[Inputs]:
        """The inputs on which the quantized program is compared with the float program."""
        return self.dataset[:MAX_COMPARISON]


def data_of(module: IRModule, params: Mapping[str, object], dataset: Dataset | None) -> Data:
    """Return the data for a quantization. Without a dataset the inputs are random, and so are the weights of
    a program that has none. Raise a RelayError for a program whose inputs cannot be generated.
    """
    if dataset is not None:
        runs = batches_of(dataset, MAX_CALIBRATION)
        return Data(params, runs, counted(len(runs), "input"))
    typed = _main(module)
    missing = [param for param in typed.params if param.name_hint not in params]
    bound = bool(params) or _has_weights(typed)
    inputs = missing if bound else missing[:1]
    weights = random_weights(module, [] if bound else [param.name_hint for param in missing[1:]])
    import numpy as np

    random = np.random.default_rng(0)
    flops = sum(call_cost(node).flops for node in post_order(typed) if isinstance(node, Call))
    count = RANDOM_INPUTS if flops < MANY_FLOPS else FEW_INPUTS
    runs = [{param.name_hint: _input(param, random) for param in inputs} for _ in range(count)]
    words = f"{count} random inputs" + (" and random weights" if weights else "")
    return Data({**params, **weights}, list(runs), words)


def random_weights(module: IRModule, names: Collection[str]) -> dict[str, object]:
    """Return random weights for parameters of `@main`, the same in each run."""
    import numpy as np

    random = np.random.default_rng(1)
    return {p.name_hint: _weight(p, random) for p in _main(module).params if p.name_hint in names}


def _main(module: IRModule) -> Function:
    """Return `@main`, typed."""
    main = infer_types(module)["main"]
    assert isinstance(main, Function)
    return main


def _has_weights(function: Function) -> bool:
    return any(isinstance(node, Constant) and node.data.numpy().ndim > 1 for node in post_order(function))


def _weight(param: Var, random: Generator) -> object:
    """Return random values with which products keep the magnitude of their inputs."""
    from ...models.training import initial

    type_ = param.checked_type
    if not isinstance(type_, TensorType) or not type_.is_static:
        raise RelayError(
            f"cannot generate random weights for `%{param.name_hint}`, of type {type_}",
            param.span,
            help=["pass what an importer returned: explore((mod, params), view='quantize', dataset=…)"],
        )
    if len(type_.concrete_shape) == 1:
        if any(word in param.name_hint for word in _POSITIVE):
            return random.uniform(0.5, 1.5, type_.concrete_shape).astype("float32")
        return random.normal(0, 0.1, type_.concrete_shape).astype("float32")
    return initial(type_, random, 2**0.5)


def _input(param: Var, random: Generator) -> object:
    """Return random values for an input: normally distributed, or for integers 0 and 1."""
    type_ = param.checked_type
    if not isinstance(type_, TensorType) or not type_.is_static:
        raise RelayError(
            f"cannot generate random inputs for `%{param.name_hint}`: its type {type_} has no static shape",
            param.span,
            help=["give some typical inputs: explore(mod, view='quantize', dataset=[{…}, …])"],
        )
    if type_.dtype.startswith("float"):
        return random.standard_normal(type_.concrete_shape).astype(type_.dtype)
    return random.integers(0, 2, type_.concrete_shape).astype(type_.dtype)
