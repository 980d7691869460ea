"""A compiled graph as a function of PyTorch tensors, which are passed to the kernels without copies."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from ...ir.errors import RelayError
from ..base.errors import UnsupportedOperatorsError
from .compiled import Compiled, RelayFallbackWarning, remember
from .options import Options
from .translate import Translation, translated

_ONCE: set[str] = set()  # reasons that a warning has given


class Runner:
    """A graph of ATen operators. It is compiled at the first call, when the parameters' values are known.

    Dynamo calls it with a list of arguments, which it may clear (`_boxed_call`).
    """

    _boxed_call = True

    def __init__(self, graph: Any, names: Sequence[str], options: Options, training: bool) -> None:
        self._graph = graph
        self._names = list(names)
        self._options = options
        self._training = training
        self._translation: Translation | None = None
        self._run: Callable[..., Any] | None = None
        self._frozen: dict[int, tuple[Any, int]] = {}
        self._forms = _result_forms(graph)
        self._failed = False

    def __call__(self, args: list[Any]) -> list[Any]:
        operands = list(args)
        args.clear()
        if self._failed:
            return self._eager(operands)
        if self._run is None or not self._holds(operands):
            try:
                self._compile(operands)
            except Exception as error:  # whatever goes wrong, the model goes on in PyTorch
                if self._options.strict:
                    raise
                return self._fall_back(operands, _reason(error))
            if self._options.check:
                return self._checked(operands)
        return self._computed(operands)

    # -- compiling

    def _compile(self, args: Sequence[Any]) -> None:
        """Import and build the graph. Parameters are frozen unless they have changed since the last time."""
        for value in args:
            _check(value)
        changed = self._run is not None
        frozen: dict[int, Any] = {}
        if self._options.freeze and not self._training and not changed:
            frozen = {index: value for index, value in enumerate(args) if _is_parameter(value)}
        self._frozen = {index: (value, value._version) for index, value in frozen.items()}
        translation = translated(self._graph, self._names, frozen, self._options.convert_map)
        from ...lower.build import build

        executable = build(
            translation.module,
            self._options.target,
            translation.params,
            self._options.opt_level,
            quiet=self._options.quiet,
        )
        self._translation, self._run = translation, executable
        remember(Compiled(translation.module, translation.params, executable, self._graph))

    def _holds(self, args: Sequence[Any]) -> bool:
        """Whether the frozen parameters still have the values that were compiled in."""
        return all(
            args[index] is value and value._version == version
            for index, (value, version) in self._frozen.items()
        )

    # -- running

    def _computed(self, args: Sequence[Any]) -> list[Any]:
        """Run the compiled program."""
        assert self._translation is not None
        assert self._run is not None
        results = self._run(*[_array(args[index]) for index in self._translation.inputs])
        return [
            self._output(kind, what, results, i) for i, (kind, what) in enumerate(self._translation.outputs)
        ]

    def _output(self, kind: str, what: Any, results: Sequence[Any], index: int) -> Any:
        import torch

        if kind == "tensor":
            return _tensor(results[what], *self._forms[index])
        if kind == "number":
            return results[what].item()
        if kind == "empty":
            shape, dtype = what
            return torch.empty(shape, dtype=dtype)
        return what

    def _checked(self, args: Sequence[Any]) -> list[Any]:
        """Run the first call in PyTorch too; fall back to it where the results differ."""
        try:
            results = self._computed(args)
        except Exception as error:  # as above
            if self._options.strict:
                raise
            return self._fall_back(args, _reason(error))
        expected = self._eager(args)
        problem = _difference(results, expected, self._options.tolerance)
        if not problem:
            return results
        if self._options.strict:
            raise RelayError(problem)
        return self._fall_back(args, problem)

    def _eager(self, args: Sequence[Any]) -> list[Any]:
        return list(self._graph(*args))

    def _fall_back(self, args: Sequence[Any], reason: str) -> list[Any]:
        """Run in PyTorch from now on, and say so once."""
        self._failed, self._run, self._translation, self._frozen = True, None, None, {}
        if reason not in _ONCE:
            _ONCE.add(reason)
            warnings.warn(
                f'torch.compile(backend="relay") runs a graph in PyTorch: {reason}',
                RelayFallbackWarning,
                stacklevel=3,
            )
        return self._eager(args)


def _reason(error: Exception) -> str:
    """Return an error's message with its remedies, in one paragraph."""
    if isinstance(error, UnsupportedOperatorsError):
        first = next(iter(error.operators))
        return (
            f'{error.message}; give a converter for each: options={{"convert_map": {{{first!r}: convert}}}}, '
            "where convert(node, inputs) returns a Relay expression, or a tuple of them"
        )
    if isinstance(error, RelayError):
        notes = [note.message for note in error.notes]
        return "; ".join([error.message, *notes, *error.help])
    return f"{type(error).__name__}: {error}"


def _check(value: Any) -> None:
    import torch

    if isinstance(value, torch.Tensor) and value.device.type != "cpu":
        raise RelayError(
            f"a tensor is on the device {value.device}, but the backend takes only tensors on the CPU",
            help=["move the model and its inputs to the CPU: model.cpu(), x.cpu()"],
        )


def _is_parameter(value: Any) -> bool:
    """Whether an argument is a parameter or a buffer of the model."""
    import torch

    if not isinstance(value, torch.Tensor):
        return False
    return isinstance(value, torch.nn.Parameter) or hasattr(value, "_dynamo_static_input_type")


def _array(value: Any) -> Any:
    """Return a tensor as a NumPy array that shares its memory if it is dense; a number as it is."""
    import torch

    if not isinstance(value, torch.Tensor):
        return value
    plain = value.detach().resolve_neg().contiguous()
    if plain.dtype == torch.bfloat16:
        import ml_dtypes

        return plain.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return plain.numpy()


def _tensor(array: Any, dtype: Any, order: tuple[int, ...]) -> Any:
    """Return an array as a tensor of an element type that shares its memory; it is copied only if its axes
    are to lie in another order in memory.
    """
    import torch

    if array.dtype.name == "bfloat16":
        result = torch.from_numpy(array.view("int16")).view(torch.bfloat16)
    else:
        result = torch.from_numpy(array)
    if dtype is not None and result.dtype != dtype:
        result = result.to(dtype)
    if not order:
        return result
    back = [order.index(axis) for axis in range(len(order))]
    return result.permute(order).contiguous().permute(back)


def _result_forms(graph: Any) -> list[tuple[Any, tuple[int, ...]]]:
    """Return, for each result of a graph, its element type, and the order of its axes in memory, from the
    outermost on; () stands for the usual order.

    PyTorch's backward pass relies on the order in which its forward pass would have laid out a result.
    """
    (output,) = [node for node in graph.graph.nodes if node.op == "output"]
    values = output.args[0] if isinstance(output.args[0], (list, tuple)) else [output.args[0]]
    return [_form(getattr(value, "meta", {}).get("val")) for value in values]


def _form(fake: Any) -> tuple[Any, tuple[int, ...]]:
    if not hasattr(fake, "stride"):
        return getattr(fake, "dtype", None), ()
    extents = [_hint(extent) for extent in fake.shape]
    strides = [_hint(stride) for stride in fake.stride()]
    long = [axis for axis, extent in enumerate(extents) if extent > 1]
    if 0 in extents or any(strides[axis] == 0 for axis in long):
        return fake.dtype, ()
    order = sorted(long, key=lambda axis: -strides[axis])
    if order == long:
        return fake.dtype, ()
    places = iter(order)
    return fake.dtype, tuple([next(places) if axis in long else axis for axis in range(len(extents))])


def _hint(value: Any) -> int:
    """Return a size, or for a symbolic one the value that it has in the call which was traced."""
    hint = value if isinstance(value, int) else getattr(value.node, "hint", None)
    return hint if isinstance(hint, int) else 2


def _difference(results: Sequence[Any], expected: Sequence[Any], tolerance: float | None) -> str:
    """Return how results differ from PyTorch's; "" where they agree."""
    import torch

    for index, (result, wanted) in enumerate(zip(results, expected, strict=True)):
        if not isinstance(wanted, torch.Tensor):
            if result != wanted:
                return f"result {index} of the compiled graph is {result}, but PyTorch computes {wanted}"
            continue
        if result.shape != wanted.shape or result.dtype != wanted.dtype:
            return (
                f"result {index} of the compiled graph has shape {tuple(result.shape)} and type "
                f"{result.dtype}, but PyTorch computes {tuple(wanted.shape)} and {wanted.dtype}"
            )
        limit = tolerance if tolerance is not None else 5e-2 if wanted.dtype.itemsize == 2 else 1e-3
        if wanted.dtype.is_floating_point:
            close = torch.allclose(result.double(), wanted.double(), rtol=limit, atol=limit, equal_nan=True)
        else:
            close = torch.equal(result, wanted)
        if not close and wanted.numel():
            worst = (result.double() - wanted.double()).abs().max().item()
            return f"result {index} of the compiled graph differs from PyTorch's by up to {worst:.3g}"
    return ""
