"""Open the model in a file that a reader drops on the page: as text to edit, and as the imported program."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from ..frontends.base.errors import ExternalDataError, ModelFileError, UnsupportedOperatorsError
from ..ir.module import IRModule
from ..ir.ndarray import NDArray
from ..views.editing import text_of, with_weights_as_parameters

MAX_WEIGHTS = 1_000_000  # elements of all weights that are kept, to be the arguments of runs
MAX_NAME = 60  # characters of a file's name that are shown
ON_YOUR_MACHINE = "open the model on your machine, with the command relay-explorer serve"
ONLY_ONNX = "the page reads models of ONNX; the command relay-explorer serve opens those of other frameworks"


class Model(NamedTuple):
    """A model: its program, in which large weights are parameters, as a module and as text. `weights` has
    their values by name; without it the page fills in others. `text` is only a comment if the program is too
    long to be edited.
    """

    module: IRModule
    text: str
    weights: dict[str, NDArray]


def opened(name: str, data: bytes, longest: int) -> Model:
    """Import an ONNX model from the bytes of a file. A text of more than `longest` characters is left out.

    Raise the errors of the importer, with remedies that a reader of a page has.
    """
    from ..frontends.onnx import from_onnx
    from ..frontends.onnx.model_file import named

    try:
        imported, _ = from_onnx(named(data, name))
    except ExternalDataError as error:
        error.help = ("export the model with its weights in the same file", f"or {ON_YOUR_MACHINE}")
        raise
    except UnsupportedOperatorsError as error:
        error.help = (ON_YOUR_MACHINE,)
        raise
    except ModelFileError as error:
        error.help = error.help or (ONLY_ONNX,)
        raise
    module, values = with_weights_as_parameters(imported)
    few = sum(prod(value.shape) for value in values.values()) <= MAX_WEIGHTS
    # Copied: otherwise each would keep the whole file in memory.
    weights = {key: _copied(value) for key, value in values.items()} if few else {}
    shown = _plain(name)
    text = f"// {shown}: {_remark(bool(values), few)}\n{text_of(module)}"
    if len(text) > longest:
        text = (
            f"// The program of {shown} has {len(text):,} characters, which are too many to edit here.\n"
            "// The explorers show it nevertheless.\n"
        )
    return Model(module, text, weights)


def _remark(lifted: bool, few: bool) -> str:
    if not lifted:
        return "the model as a program of Relay."
    known = "runs use the model's values" if few else "their values are not kept"
    return f"the weights are parameters; {known}."


def _copied(value: NDArray) -> NDArray:
    return NDArray(value.shape, value.dtype, bytes(value.data))


def _plain(name: str) -> str:
    """Return a file's name as it can stand in a comment."""
    text = "".join([c if c.isprintable() else "_" for c in name])
    return text if len(text) <= MAX_NAME else f"{text[:MAX_NAME]}…"
