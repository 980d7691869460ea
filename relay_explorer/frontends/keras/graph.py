"""Read the graph of a Keras model: the same for Keras 3 and tf-keras, whose objects differ in names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ...ir.errors import RelayError

PACKAGES = ("keras", "tf_keras", "keras_core")


@dataclass(frozen=True, eq=False)
class Step:
    """One call of a layer or an operation: `args` and `kwargs` hold symbolic tensors among other values."""

    operation: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    outputs: list[Any]

    @property
    def kind(self) -> str:
        """The class's name; with its module if it is not one of Keras's own."""
        return kind_of(self.operation)


def kind_of(operation: Any) -> str:
    """Return the name under which the converter of a layer or operation is registered."""
    class_ = type(operation)
    package = class_.__module__.partition(".")[0]
    name: str = class_.__name__
    if package == "tf_keras" and name in ("TFOpLambda", "SlicingOpLambda"):
        return f"tf.{operation.symbol}"  # a function of TensorFlow
    if package not in PACKAGES:
        return f"{class_.__module__}.{name}"
    return name if _is_layer(operation) else f"ops.{name}"


def _is_layer(operation: Any) -> bool:
    return any(base.__name__ == "Layer" for base in type(operation).__mro__)


def is_tensor(value: object) -> bool:
    """Whether a value is a symbolic tensor of a graph."""
    return type(value).__name__ in ("KerasTensor", "SparseKerasTensor", "RaggedKerasTensor") and hasattr(
        value, "_keras_history"
    )


def tensors(value: Any) -> Iterator[Any]:
    """Yield the symbolic tensors in nested lists, tuples and dicts, in order."""
    if is_tensor(value):
        yield value
    elif isinstance(value, dict):
        for key in sorted(value):
            yield from tensors(value[key])
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from tensors(part)


def replaced(value: Any, replace: Callable[[Any], Any]) -> Any:
    """Return nested lists, tuples and dicts with each symbolic tensor replaced."""
    if is_tensor(value):
        return replace(value)
    if isinstance(value, dict):
        return {key: replaced(part, replace) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        parts = [replaced(part, replace) for part in value]
        return parts if isinstance(value, list) else tuple(parts)
    return value


def is_graph(operation: Any) -> bool:
    """Whether an operation is a functional or sequential model, which is a graph of layers itself."""
    names = [base.__name__ for base in type(operation).__mro__]
    if "Sequential" not in names and "Functional" not in names and "Function" not in names:
        return False
    bases = [base for base in type(operation).__mro__ if base.__name__ in ("Sequential", "Functional")]
    if not bases or bases[0].__module__.partition(".")[0] not in PACKAGES:
        return False
    return getattr(type(operation), "call", None) is getattr(bases[0], "call", None)


def check_graph(model: Any) -> None:
    """Raise a RelayError unless the model is a graph whose shapes are known."""
    names = [base.__name__ for base in type(model).__mro__]
    if "Layer" not in names and "Model" not in names:
        raise RelayError(
            f"a Keras model is required, not {type(model).__name__}",
            help=["give a keras.Model, or the path of a .keras or .h5 file"],
        )
    if not is_graph(model):
        raise RelayError(
            f"{type(model).__name__} is a model whose `call` is Python code: Keras has no graph of it",
            help=[
                "build it as a functional model: keras.Model(inputs, outputs)",
                'or export it, model.export(path, format="onnx") or format="tf_saved_model", and import '
                "the file with from_onnx or from_tensorflow; with the torch backend also by torch.export",
            ],
        )
    if not getattr(model, "built", True) or not _ends(model, "outputs"):
        raise RelayError(
            f"the model `{model.name}` has no input shape yet, and so no graph",
            help=["begin it with keras.layers.Input(shape), or call model.build(shape)"],
        )


def inputs_of(model: Any) -> list[Any]:
    """Return the symbolic inputs of a model that is a graph."""
    return _ends(model, "inputs")


def outputs_of(model: Any) -> list[Any]:
    """Return the symbolic outputs of a model that is a graph."""
    return _ends(model, "outputs")


def _ends(model: Any, name: str) -> list[Any]:
    try:
        return list(tensors(list(getattr(model, name) or [])))
    except (AttributeError, ValueError):
        return []


def history(tensor: Any) -> tuple[Any, int, int]:
    """Return the operation that computes a tensor, which of its calls, and which of its results."""
    operation, node, index = tuple(tensor._keras_history)[:3]
    return operation, int(node), int(index)


def name_of(tensor: Any) -> str:
    """Return the name of an input: that of its layer."""
    return str(history(tensor)[0].name)


def step_of(operation: Any, number: int) -> Step:
    """Return one call of an operation."""
    node = operation._inbound_nodes[number]
    arguments = getattr(node, "arguments", None)
    if arguments is not None:  # Keras 3
        return Step(operation, tuple(arguments.args), dict(arguments.kwargs), list(node.output_tensors))
    return Step(operation, tuple(node.call_args), dict(node.call_kwargs), list(tensors(node.outputs)))


def steps(model: Any) -> list[tuple[Step, int]]:
    """Return the calls that compute a model's outputs, with their numbers, each after those it depends on."""
    input_ids = {id(tensor) for tensor in inputs_of(model)}
    keys = {_key(tensor) for tensor in inputs_of(model)}
    result: list[tuple[Step, int]] = []
    done: set[tuple[int, int]] = set()
    pending: list[tuple[Any, int, bool]] = []
    for tensor in reversed(outputs_of(model)):
        pending.append((*history(tensor)[:2], False))
    while pending:
        operation, number, expanded = pending.pop()
        key = (id(operation), number)
        if key in done:
            continue
        step = step_of(operation, number)
        if all(id(tensor) in input_ids or _key(tensor) in keys for tensor in step.outputs):
            done.add(key)
            continue
        if expanded:
            done.add(key)
            result.append((step, number))
            continue
        pending.append((operation, number, True))
        for tensor in reversed(list(tensors([step.args, step.kwargs]))):
            if id(tensor) not in input_ids:
                pending.append((*history(tensor)[:2], False))
    return result


def _key(tensor: Any) -> tuple[int, int, int]:
    operation, number, index = history(tensor)
    return id(operation), number, index


def key(tensor: Any) -> tuple[int, int, int]:
    """Return a key of a symbolic tensor: the operation, the call, and the result that it is."""
    return _key(tensor)
