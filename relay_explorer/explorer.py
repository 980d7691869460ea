"""`explore`: shows a program, or what the compiler did to it."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .execute.record import LIMIT, Evaluation
from .execute.record import record as record_run
from .ir.errors import Note, ParseError, RelayError
from .ir.expr import Expr
from .ir.module import IRModule
from .ir.tuple_wrapper import TupleWrapper
from .ir.walk import post_order
from .transform.infrastructure import Pass
from .typing.infer import Inference, record
from .views.format import View
from .widgets import page, widget
from .widgets.host import Host, current

if TYPE_CHECKING:
    from .views.lowering.compiled import Opened
    from .widgets.rerun import Rerun

VIEWS = (
    "ir",
    "types",
    "evaluation",
    "sharing",
    "fusion",
    "pipeline",
    "gradient",
    "partial",
    "memory",
    "lowering",
    "machine",
)
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
_TAKES = (
    "a module, a function or another expression, an inference (relay_explorer.typing.record), an evaluation "
    "(relay_explorer.execute.record), a program's text, or a pathlib.Path to one"
)
LARGEST = 30_000  # expressions; a larger program is refused at once, instead of filling the reader's memory
_names: dict[str, itertools.count[int]] = {}


class Explorer:
    """An explorer of one view. As the last expression of a cell it shows itself: in JupyterLab, Notebook 7,
    marimo and built pages, and it is made for VS Code and Colab (not seen in those two).

    `view` is the data, `name` what the addresses of a page call the explorer (`#rx-NAME:STATE`).
    """

    def __init__(
        self,
        view: View,
        name: str,
        state: str = "",
        live: bool = False,
        rerun: Rerun | Opened | None = None,
    ) -> None:
        self.view = view
        self._rerun = rerun
        self.name = name
        self.live = live
        self._state = state
        self._widget: Any = None

    # -- data

    @property
    def state(self) -> str:
        """The token of what is shown: as the reader left it in a live widget, otherwise as it was given."""
        return self._state if self._widget is None else str(self._widget.state)

    def to_dict(self) -> dict[str, Any]:
        """The view as plain lists, dictionaries, strings and numbers (`frontend/FORMAT.md`)."""
        return self.view.to_dict()

    def to_json(self) -> str:
        """The view as compact JSON."""
        return self.view.to_json()

    def to_html(self) -> str:
        """One HTML document that needs no network, no Python and no other file."""
        return page.page(self.view, self.name, self.state)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes `to_html()` to a file and returns its path; a name without an ending gets `.html`."""
        target = Path(path)
        if not target.suffix:
            target = target.with_suffix(".html")
        target.write_text(self.to_html(), "utf-8", newline="\n")
        return target

    # -- showing

    def widget(self) -> Any:
        """The live widget, always the same one. Needs anywidget."""
        if self._widget is None:
            answer = self._answer if self._rerun is not None else None
            self._widget = widget.make(self.to_dict(), self.name, self._state, answer)
        return self._widget

    def _answer(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """What a reader asks of a live widget: another run, or one more kernel."""
        assert self._rerun is not None
        self.view = self._rerun.answer(question)
        return self.to_dict()

    def _repr_html_(self) -> str:
        if current() is Host.BOOK:
            return page.element(self.view, self.name, self.state, book=True)
        return page.output(self.view, self.name, self.state)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        from .views import picture

        found: dict[str, Any] = {
            "text/plain": repr(self),
            "text/html": self._repr_html_(),
            "image/svg+xml": picture.svg(self.view),
        }
        if self.live and current() is Host.NOTEBOOK:
            # Named by its id, not displayed by itself: a widget of ipywidgets 7 replaces the whole bundle.
            found[WIDGET_VIEW] = {"version_major": 2, "version_minor": 0, "model_id": self.widget().model_id}
        return {
            mime: data
            for mime, data in found.items()
            if (not include or mime in include) and mime not in (exclude or ())
        }

    def _display_(self) -> Any:
        """What marimo shows: the live widget; without anywidget, the page in a frame."""
        import marimo

        if widget.available():
            return marimo.ui.anywidget(self.widget())
        return marimo.iframe(self.to_html(), height="640px")

    def __repr__(self) -> str:
        return f"<Explorer of {self.view.title!r} ({self.view.kind}): {self.view.summary}>"


def explore(
    x: object,
    view: str | None = None,
    state: str | None = None,
    title: str | None = None,
    name: str | None = None,
    live: bool = False,
    args: Sequence[object] = (),
    limit: int | None = None,
    passes: Sequence[Pass] | str | None = None,
    against: Sequence[Pass] | str | None = None,
    kernel: str | int | Sequence[str | int] | None = None,
    measure: bool = False,
) -> Explorer:
    """An explorer of `x`: a module, a function or other expression, an inference, an evaluation, the text of
    a program, or the path of a file that holds one.

    `view` is "ir" (the program as text and graph), "types" (type inference, step by step), "evaluation" (a
    run of `@main` for `args`, step by step, of which the first `limit` steps are kept), "sharing" (the same
    computation as a graph, with `let`, and written out, each run for `args`), "fusion" (operators being
    grouped into kernels), "pipeline" (the program before and after each of `passes`, which
    may be text, "SimplifyInference, FuseOps(max_depth=4)"; with `against`, beside
    others that it goes through), "gradient" (a function, beside each of its bindings what reverse-mode
    differentiation adds for it, and what it keeps), "partial" (partial evaluation: what is computed
    beforehand, decision by decision, of which the first `limit` are kept, and what remains), "memory"
    (where each value is stored, from when to when, under a plan made beforehand; with operators fused, names
    freed where their scope ends, and in other orders) or "lowering" (one `kernel`, by name or number, of what
    `relay_explorer.build` gave, or of a module that is built for it, beside each other as Relay, as tensor
    expressions, as the loops after each primitive of its schedule, and as machine code; without `kernel`, the
    one that computes most; with `measure`, timed on this machine after each primitive). With `measure` and
    without `kernel`, or of a measurement that was kept (a `Measurement`), "lowering" is a
    whole run for `args`: every kernel under the limits of the machine (a roofline), every launch in time,
    and those kernels at every level that `kernel` lists (without it, the three that take most of the time; a
    `live` one makes the others when they are asked for).
    An inference is shown as "types" unless asked otherwise, an evaluation (`execute.record`) as "evaluation",
    a measurement as "lowering", all else as "ir".
    "machine" is a run of `@main` for `args` on the virtual machine, instruction by instruction, of which the
    first `limit` steps are kept: of a module, or of what `relay_explorer.build` gave; with it the graph
    executor's storage plan, where that can run the program.
    `state` is a token that an explorer gave ("link"), without or with its `#rx-NAME:`. `title` is the
    heading. `name` is what addresses call the explorer: letters, digits, `-` and `_`, unique in its page.

    An explorer in a notebook needs no kernel, so it still works when the notebook is opened again. A `live`
    one is a widget instead (it needs anywidget and the kernel): its `state` follows the reader in Python.

    Text that is not a program is a ParseError, a program of more than LARGEST expressions a RelayError. A
    program that is not well typed is shown all the same, with the reason.
    """
    if view is not None and view not in VIEWS:
        raise ValueError(f"there is no view {view!r}: views are {', '.join(map(repr, VIEWS))}")
    if name is not None and not re.fullmatch(r"[A-Za-z0-9_-]+", name):
        raise ValueError(f"{name!r} is no name for an explorer: use letters, digits, `-` and `_`")
    token = (state or "").partition(":")[2] if (state or "").startswith("#rx-") else state or ""
    rerun: Rerun | Opened | None = None
    if view is None and type(x).__name__ == "Measurement":
        view = "lowering"
    run = _run(x, view, args, limit)
    if view == "pipeline":
        made: View = _pipeline(x, passes, against, title or "")
    elif view == "partial":
        made = _partial(x, title or "", limit)
    elif view == "lowering":
        made, opened = _compiled(x, kernel, title or "", measure, args)
        if live and opened is not None:
            rerun, made = opened, opened.view
    elif view == "machine":
        made = _machine(x, args, title or "", limit)
    elif run is None:
        made = _view(x, view, title or "", args)
    elif live:
        from .widgets.rerun import Rerun

        rerun = Rerun(run, limit or LIMIT, title or _title(run.module))
        made = rerun.view
    else:
        made = _evaluation(run, title or "")
    return Explorer(made, name or _name(made), token, live, rerun)


def _run(x: object, kind: str | None, args: Sequence[object], limit: int | None) -> Evaluation | None:
    """The run to be shown, where that is what is asked for."""
    if isinstance(x, Evaluation) and kind in (None, "evaluation"):
        return x
    if kind != "evaluation":
        return None
    return record_run(_module(x), *args, limit=LIMIT if limit is None else limit)


def _view(x: object, kind: str | None, title: str, args: Sequence[object]) -> View:
    if isinstance(x, Inference) and kind not in ("sharing", "fusion", "gradient", "memory"):
        _fits(x.source)
        if kind == "ir":
            return _ir(x.source, title)
        return _types(x if x.events else record(x.source), title)
    module = _module(x)
    _fits(module)
    if kind == "sharing":
        return _sharing(module, args, title)
    if kind == "fusion":
        return _fusion(module, title)
    if kind == "gradient":
        return _gradient(module, title)
    if kind == "memory":
        return _memory(module, title)
    return _types(record(module), title) if kind == "types" else _ir(module, title)


def _fits(module: IRModule) -> None:
    """Refuses a module that no page could show."""
    count = sum(len(post_order(function)) for function in module.functions.values())
    if count > LARGEST:
        raise RelayError(
            f"the program has {count:,} expressions, and an explorer shows at most {LARGEST:,}",
            help=['explore a part of it: explore(module["f"]) shows one function'],
        )


def _ir(module: IRModule, title: str) -> View:
    from .views.ir.view import ir_view

    return ir_view(module, title or _title(module))


def _types(inference: Inference, title: str) -> View:
    from .views.types.view import types_view

    return types_view(inference, title or _title(inference.source))


def _evaluation(evaluation: Evaluation, title: str) -> View:
    from .views.evaluation.view import evaluation_view

    return evaluation_view(evaluation, title or _title(evaluation.module))


def _sharing(module: IRModule, args: Sequence[object], title: str) -> View:
    from .views.sharing.view import sharing_view

    return sharing_view(module, args, title or _title(module))


def _fusion(module: IRModule, title: str) -> View:
    from .views.fusion.view import fusion_view

    return fusion_view(module, title=title or _title(module))


def _gradient(module: IRModule, title: str) -> View:
    from .views.gradient.view import gradient_view

    return gradient_view(module, title or _title(module))


def _memory(module: IRModule, title: str) -> View:
    from .views.memory.view import memory_view

    return memory_view(module, title or _title(module))


def _compiled(
    x: object, kernel: Any, title: str, measure: bool, args: Sequence[object]
) -> tuple[View, Opened | None]:
    from .lower.profiling.measurement import Measurement
    from .lower.runtime.executable import Executable
    from .lower.runtime.kernel import Kernel
    from .views.lowering.compiled import compiled_view

    if not isinstance(x, (Executable, Kernel, Measurement)):
        x = _module(x)
        _fits(x)
    # Two builds of a book give one page, whether or not there is a compiler for PTX.
    return compiled_view(x, kernel, title, measure, args, ptx=current() is not Host.BOOK)


def _machine(x: object, args: Sequence[object], title: str, limit: int | None) -> View:
    from .lower.runtime.executable import Executable
    from .views.machine.view import machine_view

    if isinstance(x, Executable):
        return machine_view(x, args, title or "program", limit)
    module = _module(x)
    _fits(module)
    return machine_view(module, args, title or _title(module), limit)


def _partial(x: object, title: str, limit: int | None) -> View:
    from .transform.partial_evaluate.record import LIMIT as EVENTS
    from .views.partial.view import partial_view

    module = _module(x)
    _fits(module)
    return partial_view(module, title or _title(module), EVENTS if limit is None else limit)


def _pipeline(
    x: object, passes: Sequence[Pass] | str | None, against: Sequence[Pass] | str | None, title: str
) -> View:
    from .views.pipeline.view import pipeline_view

    if not passes:
        raise ValueError('which passes? For example: explore(module, view="pipeline", passes=[…])')
    module = _module(x)
    _fits(module)
    # Two builds of a book give one page, so that times are not in it.
    return pipeline_view(module, passes, against, title or _title(module), current() is not Host.BOOK)


def _title(module: IRModule) -> str:
    """The name of the file that a module came from; of a module made otherwise, its functions."""
    source = module.source
    if source is not None and source.name not in ("from_string", ""):
        return Path(source.name).stem
    names = [f"@{v.name_hint}" for v in module.functions]
    return ", ".join(names[:3]) + (" …" if len(names) > 3 else "") or "module"


def _module(x: object) -> IRModule:
    if isinstance(x, IRModule):
        return x
    if isinstance(x, Inference):
        return x.source
    if isinstance(x, Evaluation):
        return x.module
    if isinstance(x, TupleWrapper):
        x = x.astuple()
    if isinstance(x, Expr):
        return IRModule.from_expr(x)
    if isinstance(x, str):
        return _parse(x, "from_string")
    if isinstance(x, os.PathLike):
        path = Path(x)
        return _parse(path.read_bytes(), path.name)
    raise TypeError(f"explore takes {_TAKES}; this is {_article(type(x).__name__)}")


def _article(name: str) -> str:
    return f"an {name}" if name[:1].lower() in "aeiou" else f"a {name}"


def _parse(text: str | bytes, source_name: str) -> IRModule:
    from .text import parse

    try:
        return parse(text, source_name)
    except ParseError as error:
        if isinstance(text, str) and re.fullmatch(r"[\w./-]{1,80}", text.strip()):
            raise _not_a_program(error, text.strip()) from None
        raise


def _not_a_program(error: ParseError, text: str) -> RelayError:
    """Someone gave the name of a model or of a file."""
    from . import models

    if text in models.names():
        hint = f'a string is taken as a program; the model is models.load("{text}")'
    else:
        hint = "a string is taken as a program; give a pathlib.Path for a file, or models.load(…) for a model"
    return ParseError(
        error.message, error.span, [Note(n.message, n.span) for n in error.notes], [*error.help, hint]
    )


def _name(view: View) -> str:
    """A name from the title, numbered where it was used before in this process."""
    stem = re.sub(r"[^a-z0-9]+", "-", view.title.lower()).strip("-")[:40] or "program"
    base = f"{stem}-{view.kind}"
    number = next(_names.setdefault(base, itertools.count(1)))
    return base if number == 1 else f"{base}-{number}"
