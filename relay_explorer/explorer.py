"""`explore`: show a program, or what the compiler did to it."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .ir.errors import Note, ParseError, RelayError
from .ir.module import IRModule
from .views.editing import editable
from .views.format import View
from .views.frameworks import from_pytorch, is_pytorch
from .views.registry import Answering, chosen, view_kind
from .views.source import LARGEST, Source
from .widgets import carriers, files, page, widget
from .widgets.host import Host, current, has_framed_outputs

if TYPE_CHECKING:
    from .lower.profiling.measurement import Measurement
    from .lower.profiling.profile import Profile
    from .quantize import Scheme
    from .quantize.observation import Dataset
    from .transform.infrastructure import Pass

__all__ = ["LARGEST", "Explorer", "explore"]
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
_names: dict[str, itertools.count[int]] = {}


class Explorer:
    """An explorer of one view, which displays itself as the last expression of a cell.

    The tests run it in JupyterLab 4.6 and Notebook 7.6, and with the versions of IPython and ipywidgets that
    Colab has. `tools/hosts.py` also ran it in VS Code's notebook editor (code-server 4.100, a stored notebook
    without a kernel), marimo 0.25, Panel 1.9, Voilà 0.5 and pages of nbconvert 7.17, all in Chromium. Colab
    itself was not run: the tool simulates its frames, which see no other output. A notebook that a front end
    does not trust shows the static picture. If a notebook is opened again without its kernel, an explorer
    that does not need the kernel takes the place of a live widget.

    `view` is the data, `name` the explorer's name in the addresses of a page (`#rx-NAME:STATE`).
    """

    def __init__(
        self,
        view: View,
        name: str,
        state: str = "",
        live: bool = False,
        answering: Answering | None = None,
        again: Callable[..., Explorer] | None = None,
    ) -> None:
        self.view = view
        self._again = again
        self._answering = answering
        self.name = name
        self.live = live
        self._state = state
        self._widget: Any = None

    # -- data

    @property
    def state(self) -> str:
        """The token of the displayed state: the reader's last state in a live widget, otherwise the initial
        one.
        """
        return self._state if self._widget is None else str(self._widget.state)

    def to_dict(self) -> dict[str, Any]:
        """Return the view as plain lists, dictionaries, strings and numbers (`frontend/README.md`)."""
        return self.view.to_dict()

    def to_json(self) -> str:
        """Return the view as compact JSON."""
        return self.view.to_json()

    def to_html(self) -> str:
        """Return one HTML document that needs no network, no Python and no other file."""
        return page.page(self.view, self.name, self.state)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the explorer to a file, whose suffix says how, and return its path. `.html`, the default, is
        `to_html()`; `.svg` is the static picture; `.txt` the program; `.csv` its rows with their names,
        operators, types and notes; `.json` is `to_json()`. A spreadsheet computes nothing in the CSV: a text
        that would be a formula begins with an apostrophe. Pictures of what a reader sees, and films, need a
        browser: the explorer's own *save* makes them.
        """
        target = Path(path)
        if not target.suffix:
            target = target.with_suffix(".html")
        target.write_text(files.content(self.view, target.suffix.lower(), self.to_html), "utf-8", newline="")
        return target

    # -- showing

    def widget(self) -> Any:
        """Return the live widget, always the same one. Needs anywidget."""
        if self._widget is None:
            answer = self._answer if self._answering is not None else None
            self._widget = widget.make(self.view, self.name, self._state, answer)
        return self._widget

    def update(self, x: object, **options: Any) -> None:
        """Show another program in the same explorer, and in its live widget, in the same state as far as the
        program has it. The options are those of `explore`, by default as they were.
        """
        assert self._again is not None, "this explorer was not created by explore"
        shown = self._again(x, **options)
        self.view, self._answering = shown.view, shown._answering
        if self._widget is not None:
            self._widget.show(self.view)

    def close(self) -> None:
        """Remove the live widget from the page and from the kernel; the explorer can be displayed again."""
        if self._widget is not None:
            self._state = self.state
            self._widget.close()
            self._widget = None

    def _answer(self, question: Mapping[str, Any]) -> View:
        """Answer a request of a live widget's reader: another run, or one more kernel."""
        assert self._answering is not None
        self.view = self._answering.answer(question).with_editable(self.view.editable)
        return self.view

    def _repr_html_(self) -> str:
        if current() is Host.BOOK:
            return page.element(self.view, self.name, self.state, book=True)
        return page.output(self.view, self.name, self.state, carriers.carries())

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        from .views import picture

        bundle: dict[str, Any] = {
            "text/plain": repr(self),
            "text/html": self._repr_html_(),
            "image/svg+xml": picture.svg(self.view),
        }
        if self.live and current() is Host.NOTEBOOK:
            bundle[WIDGET_VIEW] = self._reference()
        return {
            mime: data
            for mime, data in bundle.items()
            if (not include or mime in include) and mime not in (exclude or ())
        }

    def _ipython_display_(self) -> None:
        """Display a live explorer as two outputs: the widget, and before it a static explorer, which its
        script hides while the page draws the widget. A front end that finds no widget, in a notebook that is
        opened again without its kernel, shows an error instead of another part of the same output.
        """
        if not self.live or current() is not Host.NOTEBOOK or has_framed_outputs():
            raise NotImplementedError  # IPython then displays `_repr_mimebundle_`
        from IPython.display import publish_display_data

        from .views import picture

        reference = self._reference()  # first, because it fails without anywidget
        html = page.standin(self.view, self.name, self.state, carriers.carries())
        static = {"text/plain": repr(self), "text/html": html, "image/svg+xml": picture.svg(self.view)}
        publish_display_data(static)  # type: ignore[no-untyped-call]
        note = "<!-- The live explorer: where there is no kernel, the output before this one shows it. -->"
        live = {"text/plain": "(live)", "text/html": note, WIDGET_VIEW: reference}
        publish_display_data(live)  # type: ignore[no-untyped-call]

    def _reference(self) -> dict[str, object]:
        """Return what names the live widget in an output. The widget is not displayed itself: with
        ipywidgets 7, it would replace the other forms of the output.
        """
        return {"version_major": 2, "version_minor": 0, "model_id": self.widget().model_id}

    def _display_(self) -> Any:
        """Return marimo's display of the explorer: the live widget; without anywidget, the page in a
        frame.
        """
        import marimo

        if widget.available():
            return marimo.ui.anywidget(self.widget())
        return marimo.iframe(self.to_html(), height="640px")

    def __repr__(self) -> str:
        return f"<Explorer of {self.view.title!r} ({self.view.kind}): {self.view.summary}>"


def explore(
    x: object,
    view: str | Sequence[object] | None = None,
    state: str | None = None,
    title: str | None = None,
    name: str | None = None,
    live: bool = False,
    args: Sequence[object] = (),
    limit: int | None = None,
    passes: Sequence[Pass] | str | None = None,
    against: object = None,
    kernel: str | int | Sequence[str | int] | None = None,
    measure: bool | Measurement | Profile = False,
    scheme: Scheme | str | None = None,
    dataset: Dataset | None = None,
) -> Explorer:
    """Show `x`: a module, a function or other expression, an inference, an evaluation, the text of a program,
    or the path of a file that contains a program or a model of ONNX, PyTorch, TensorFlow, Keras, TFLite or
    MXNet. It may also be such a model itself: what an importer returns, an `onnx.ModelProto`, a
    `torch.export.ExportedProgram`, a Keras model, or a PyTorch module, which is imported for example inputs,
    `args`, and these may be the second argument: `explore(model, args)`. `against` is a second program, in
    any of these forms, which is shown beside the first. A list of modules is shown as versions of one
    program, aligned by their structure.

    `view` is one of the following. The default is "types" for an inference, "evaluation" for an evaluation
    (`execute.record`), "quantize" for a quantization (`quantize.trace`), "lowering" for a measurement,
    "compare" where there is a second program, "pipeline" for a longer list, and "ir" for everything else.

    * "ir": the program as text and graph; with `measure`, its nodes are also colored by the time of the
      kernels that they became, timed on `args` or on random values, or as a profile or measurement says.
    * "source": the nodes of an imported model beside the Relay program that they became, also after passes.
    * "compare": the program beside `against`, which is another one or passes that run on it; with `passes`,
      the program after these passes, and without `against`, before and after them.
    * "costs": the floating-point operations, bytes and parameters of each call.
    * "types": type inference, step by step.
    * "evaluation": a run of `@main` for `args`, of which the first `limit` steps are recorded.
    * "sharing": the same computation as a graph, with `let`, and expanded into a tree, each run for `args`.
    * "fusion": how operators are grouped into kernels.
    * "pipeline": the program before and after each of `passes`, which may be text, "SimplifyInference,
      FuseOps(max_depth=4)", and are by default those of a typical pipeline; with `against`, beside a second
      pipeline.
    * "gradient": a function, and beside each of its bindings the code that reverse-mode differentiation adds
      for it, and the values that it stores.
    * "partial": partial evaluation: the static computations, decision by decision, of which the first
      `limit` are recorded, and the residual program.
    * "quantize": quantization by `scheme`, a name or an instance, calibrated with `dataset`, the inputs of
      `@main` for each run: the quantizer of each value, the values that calibration saw, the integers, and
      the error of each line; with other bits, ranges and methods. Without a dataset, the inputs are random.
    * "memory": where each value is stored, from which step to which, under a static plan; with operators
      fused, with names freed at the end of their scopes, and in other orders of evaluation.
    * "machine": a run of `@main` for `args` on the virtual machine, instruction by instruction, of which the
      first `limit` steps are recorded: of a module, or of a result of `relay_explorer.build`; with the graph
      executor's storage plan, where the graph executor can run the program.
    * "lowering": one `kernel`, by name or index, of a result of `relay_explorer.build`, or of a module that
      is built for it: side by side as Relay, as tensor expressions, as the loops after each primitive of its
      schedule, and as machine code; by default the kernel that computes most. With `measure`, it is timed on
      this machine after each primitive. With `measure` and without `kernel`, or for a `Measurement`, the view
      is a whole run for `args`: every kernel under the limits of the machine (a roofline), every launch on a
      timeline, and the kernels that `kernel` lists at every level (by default, the three that take most of
      the time; a `live` explorer builds the others on request).

    `state` is a token that an explorer provides ("link"), without or with its `#rx-NAME:`. `title` is the
    heading. `name` identifies the explorer in addresses: letters, digits, `-` and `_`, unique in its page.

    An explorer in a notebook needs no kernel, so it still works when the notebook is opened again. A `live`
    one is a widget instead (it needs anywidget and the kernel): its `state` follows the reader in Python.

    Raise a ViewError (`views.registry`, a ValueError) for a view that does not exist and for an option that
    the view does not have; it suggests the most similar name, and lists the views that have the option. Raise
    a ParseError for text that is not a program, and a RelayError for a program of more than LARGEST
    expressions. A program that is not well typed is shown nevertheless, with the reason.
    """
    if name is not None and not re.fullmatch(r"[A-Za-z0-9_-]+", name):
        raise ValueError(f"an explorer cannot be named {name!r}: use letters, digits, `-` and `_`")
    again = partial(
        explore, view=view, title=title, name=name, live=live, args=args, limit=limit, passes=passes,
        against=against, kernel=kernel, measure=measure, scheme=scheme, dataset=dataset,
    )  # fmt: skip
    if view is not None and not isinstance(view, str):  # explore(model, args)
        if len(args):
            raise TypeError("explore takes the arguments of a model once: explore(model, args)")
        args = view if isinstance(view, (tuple, list)) else (view,)  # one tensor stands for a tuple of it
        view = None
    if isinstance(x, list) and len(x) > 1 and all(isinstance(module, IRModule) for module in x):
        if len(x) > 2 or view == "pipeline":
            return _versions(x, view, state, title, name, again)
        x, against = x
    if against is not None:
        view = view or "compare"
        if is_pytorch(against) and len(args):
            against = from_pytorch(against, args if isinstance(args, (tuple, list)) else (args,))[0]
    if is_pytorch(x) and not isinstance(args, (tuple, list)):
        args = (args,)
    if is_pytorch(x) and len(args):
        heading = title or type(x).__name__
        x, arrays = from_pytorch(x, args)
        title, args = heading, arrays if "args" in view_kind(view, x).option_names() else ()
    kind = view_kind(view, x)
    options: dict[str, object] = {
        "args": args,
        "limit": limit,
        "passes": passes,
        "against": against,
        "kernel": kernel,
        "scheme": scheme,
        "dataset": dataset,
    }
    options = {option: value for option, value in options.items() if value is not None}
    if not len(args):
        del options["args"]
    if measure:
        options["measure"] = measure
    source = Source(x, title or "", live=live, reproducible=current() is Host.BOOK)
    try:
        built = kind.build(source, **chosen(kind, options))
    except ParseError as error:
        if isinstance(x, str) and re.fullmatch(r"[\w./-]{1,80}", x.strip()):
            raise _not_a_program(error, x.strip()) from None
        raise
    token = _token(state)
    answering = None if isinstance(built, View) else built
    shown = built if isinstance(built, View) else built.view
    shown = shown.with_editable(editable(shown, source))
    return Explorer(shown, name or _name(shown), token, live, answering, again)


def _token(state: str | None) -> str:
    """Return a state's token, without the `#rx-NAME:` of an address."""
    return (state or "").partition(":")[2] if (state or "").startswith("#rx-") else state or ""


def _versions(
    modules: Sequence[IRModule],
    view: str | None,
    state: str | None,
    title: str | None,
    name: str | None,
    again: Callable[..., Explorer],
) -> Explorer:
    """Show versions of a program."""
    from .views.comparison import comparison_view

    if view not in (None, "pipeline"):
        raise RelayError(
            f"more than two programs are shown in the view 'pipeline', not in {view!r}",
            help=["show each on its own, or two: explore(a, against=b)"],
        )
    built = comparison_view(modules, title or "")
    return Explorer(built, name or _name(built), _token(state), again=again)


def _not_a_program(error: ParseError, text: str) -> RelayError:
    """Return the error for a text that is the name of a model or of a file."""
    from . import models

    if text in models.names():
        hint = f'a string is parsed as a program; the model is models.load("{text}")'
    else:
        hint = (
            "a string is parsed as a program; pass a pathlib.Path for a file, or models.load(…) for a model"
        )
    return ParseError(
        error.message, error.span, [Note(n.message, n.span) for n in error.notes], [*error.help, hint]
    )


def _name(view: View) -> str:
    """Derive a name from the title, numbered if it has been used before in this process."""
    stem = re.sub(r"[^a-z0-9]+", "-", view.title.lower()).strip("-")[:40] or "program"
    base = f"{stem}-{view.kind}"
    number = next(_names.setdefault(base, itertools.count(1)))
    return base if number == 1 else f"{base}-{number}"
