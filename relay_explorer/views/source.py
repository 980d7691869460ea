"""The input of `explore`: a program, in any of the forms in which it can be given."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..execute.record import Evaluation
from ..ir.errors import RelayError
from ..ir.expr import Expr, Function
from ..ir.module import IRModule
from ..ir.ndarray import NDArray
from ..ir.show import counted
from ..ir.tuple_wrapper import TupleWrapper
from ..ir.walk import post_order
from ..transform.fuse_ops.groups import Fusion
from ..typing.infer import Inference

LARGEST = 60_000  # expressions; a larger program is rejected at once, before it fills the reader's memory
_TAKES = (
    "a module, a function or another expression, an inference (relay_explorer.typing.record), an evaluation "
    "(relay_explorer.execute.record), a quantization (relay_explorer.quantize.trace), a program's text, the "
    "path of a file with a program or a model, a list of modules to compare, or a model of ONNX, PyTorch or "
    "Keras"
)


class Source:
    """The input of `explore`: `given` itself, and the program in it. `reproducible` is set if two runs must
    give the same page, as in a book: times of this machine are then left out. `params` are the values of
    `@main`'s parameters by name, where an importer read them.
    """

    def __init__(
        self, given: object, title: str = "", *, live: bool = False, reproducible: bool = False
    ) -> None:
        self.given = given
        self.asked_title = title
        self.live = live
        self.reproducible = reproducible
        self._module: IRModule | None = None
        self.params: Mapping[str, NDArray] = {}

    @property
    def any_size(self) -> IRModule:
        """The program, of any size."""
        if self._module is None:
            self._module, self.params = _module(self.given)
        return self._module

    @property
    def module(self) -> IRModule:
        """The program; raises a RelayError if it is larger than a page can show."""
        module = self.any_size
        count = sum(len(post_order(function)) for function in module.functions.values())
        if count > LARGEST:
            raise RelayError(
                f"the program has {count:,} expressions, but an explorer shows at most {LARGEST:,}",
                help=['explore a part of it: explore(module["f"]) shows one function'],
            )
        return module

    def check_arguments(self, args: Sequence[object]) -> None:
        """Raise a RelayError that says how to pass arguments if `@main` needs some and there are none."""
        functions = self.any_size.functions.items()
        main = next((function for name, function in functions if name.name_hint == "main"), None)
        if not args and isinstance(main, Function) and main.params:
            names = ", ".join(f"%{p.name_hint}" for p in main.params[:8])
            raise RelayError(
                f"`@main` expects {counted(len(main.params), 'argument')}, got 0",
                main.span,
                help=[
                    f"they are {names}{' …' if len(main.params) > 8 else ''}: explore(…, args=[…])",
                    "on the command line: --arg VALUE, once for each",
                ],
            )

    @property
    def title(self) -> str:
        """The requested heading, by default the name of the program's file or the names of its functions."""
        return self.asked_title or _title(self.any_size)


def _title(module: IRModule) -> str:
    source = module.source
    if source is not None and source.name not in ("from_string", ""):
        return Path(source.name).stem
    names = [f"@{v.name_hint}" for v in module.functions]
    return ", ".join(names[:3]) + (" …" if len(names) > 3 else "") or "module"


def _module(x: object) -> tuple[IRModule, Mapping[str, NDArray]]:
    """Return the program, and the values of parameters that an importer read beside it."""
    if isinstance(x, IRModule):
        return x, {}
    if isinstance(x, Inference):
        return x.source, {}
    if isinstance(x, (Evaluation, Fusion)):
        return x.module, {}
    if isinstance(x, TupleWrapper):
        x = x.astuple()
    if isinstance(x, Expr):
        return IRModule.from_expr(x), {}
    if isinstance(x, str) and not _is_path(x):
        return _parse(x, "from_string"), {}
    if isinstance(x, (str, os.PathLike)):
        from ..frontends.files import RELAY, open_model, recognized

        path = Path(x)
        if path.is_file() and recognized(path) == RELAY:
            return _parse(path.read_bytes(), path.name), {}
        opened = open_model(path)
        return opened.mod, opened.params
    if isinstance(x, tuple) and len(x) == 2 and isinstance(x[0], IRModule) and isinstance(x[1], Mapping):
        return x[0], _tensors(x[1])  # what an importer returns
    from ..quantize import Quantization
    from .frameworks import imported

    if isinstance(x, Quantization):
        return x.original, {}
    module = imported(x)
    if module is not None:
        return module, {}
    raise TypeError(f"explore takes {_TAKES}; this is {with_article(type(x).__name__)}")


def _tensors(params: Mapping[object, object]) -> dict[str, NDArray]:
    """Return the values of parameters that are tensors."""
    return {str(name): value for name, value in params.items() if isinstance(value, NDArray)}


def _is_path(text: str) -> bool:
    """Whether a text is the path of a file or folder that exists, rather than a program."""
    return re.fullmatch(r"[^\n\0{}()]{1,400}", text) is not None and (
        Path(text).suffix != "" and Path(text).exists()
    )


def with_article(name: str) -> str:
    """Prefix a name with its article: `an Executable`, `a Kernel`."""
    return f"an {name}" if name[:1].lower() in "aeiou" else f"a {name}"


def _parse(text: str | bytes, source_name: str) -> IRModule:
    from ..text import parse

    return parse(text, source_name)
