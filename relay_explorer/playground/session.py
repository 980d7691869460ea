"""A reader's session: the program, and one view of it for each request."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

from ..execute.record import LIMIT, Evaluation
from ..execute.record import record as record_run
from ..explorer import explore
from ..ir.errors import RelayError
from ..ir.expr import Function
from ..ir.module import IRModule
from ..text import parse
from ..typing import Inference, record
from ..views.source import Source
from .arguments import arguments_of
from .description import LEFT_OUT, MAX_MODEL, VIEWS, options_of
from .highlight import tokens
from .models import Model, opened
from .problems import problem

SOURCE = "program"  # the name by which errors refer to the editor's text
MAX_TEXT = 1_000_000  # characters of a program
MAX_ANSWER = 12_000_000  # characters of a view's data; drawing more would stop the page
MAX_STEPS = 20_000  # recorded steps of a run or of partial evaluation
BUDGET = 100_000  # steps of a run, recorded or not: a page takes seconds for them
MAX_PARAMS = 64  # parameters for which the page offers a field


class Session:
    """Answers requests one after another; the program is parsed and typed again only when its text changes.

    A request has the `text` of a program, the `view`, and its `options` as texts. The answer has the `view`'s
    data or null, the `problems` to show,
    the text's `tokens`, and the `params` of `@main`. Nothing in a request is executed.

    A model that was opened has a text, too. A request with exactly this text is about the model itself, which
    knows the nodes that its expressions came from; with any other text, about what that text says.
    """

    def __init__(self) -> None:
        self._text: str | None = None
        self._inference: Inference | None = None
        self._model: Model | None = None

    def open(self, name: str, data: bytes) -> str:
        """Open the model in a file; return its `text`, null where there is none, and the `problems`, as
        JSON. A model that was opened before stays if this one cannot be.
        """
        start = time.perf_counter()
        result: dict[str, Any] = {"text": None, "problems": []}
        try:
            if len(data) > MAX_MODEL:
                raise RelayError(
                    f"the file has {len(data):,} bytes; the playground reads models of at most {MAX_MODEL:,}"
                )
            self._model = opened(name, data, MAX_TEXT)
            self._text = None  # of the same text as a model that was opened before
            result["text"] = self._model.text
        except Exception as error:
            result["problems"].append(problem(error, SOURCE))
        result["seconds"] = round(time.perf_counter() - start, 4)
        return json.dumps(result, separators=(",", ":"))

    def answer(self, request: str) -> str:
        """Answer one request. Errors are part of the answer."""
        start = time.perf_counter()
        result: dict[str, Any] = {"problems": [], "tokens": [], "params": []}
        view = "null"
        try:
            question = _checked(json.loads(request))
            view = self._view(question, result)
        except Exception as error:  # anything else would end the worker, and with it the reader's session
            message = problem(error, SOURCE)
            if message not in result["problems"]:  # a view may stop at the error that inference has found
                result["problems"].append(message)
        result["seconds"] = round(time.perf_counter() - start, 4)
        return f'{{"view":{view},{json.dumps(result, separators=(",", ":"))[1:]}'

    def _view(self, question: Mapping[str, Any], result: dict[str, Any]) -> str:
        """Return the view's data as JSON, and add everything else to `result`."""
        text = question["text"]
        if text != self._text:
            result["tokens"] = tokens(text)
            self._text, self._inference = text, None
        if self._inference is None:  # or the text is no program, and its error is raised again
            model = self._model_of(text)
            self._inference = record(parse(text, SOURCE) if model is None else model.module)
        if self._inference.error is not None:
            result["problems"].append(problem(self._inference.error, SOURCE))
        module = self._inference.source
        result["params"] = _params(module)
        return self._build(question["view"], self._inference, module, question["options"])

    def _model_of(self, text: str | None) -> Model | None:
        """Return the model that a text stands for, if it does."""
        return self._model if self._model is not None and self._model.text == text else None

    def _build(
        self,
        view: str,
        subject: Inference,
        module: IRModule,
        options: Mapping[str, Any],
    ) -> str:
        if view in LEFT_OUT:
            raise RelayError(f"the view `{view}` is not part of the playground", help=[LEFT_OUT[view]])
        model = self._model_of(self._text)
        if view == "source" and model is None:
            raise RelayError(
                "this view shows the nodes of an ONNX model, and the text of a program does not keep them",
                help=[
                    "open an ONNX file",
                    "after an edit of its text, undo it or open the file again",
                ],
            )
        names = options_of(view)
        chosen: dict[str, Any] = {}
        for option in ("passes", "against"):
            if option in names and str(options.get(option, "")).strip():
                chosen[option] = str(options[option])
        if "limit" in names and options.get("limit"):
            chosen["limit"] = _steps(options["limit"])
        if "args" in names:
            texts = options.get("args", ())
            # The view of sharing has arguments of its own: nothing but ones.
            if view != "sharing" or (isinstance(texts, list) and any(texts)):
                chosen["args"] = arguments_of(module, texts, self._model.weights if self._model else {})
        title = _title(module) if model is None else ""
        shown: Any = subject
        if view == "evaluation":
            shown, chosen = _run(subject, **chosen), {}
        data = explore(shown, view, title=title, name=SOURCE, **chosen).to_json()
        if len(data) > MAX_ANSWER:
            raise RelayError(
                f"the picture of this program would take {len(data):,} characters of data; "
                f"the page draws at most {MAX_ANSWER:,}",
                help=["record fewer steps", "or explore a part of the program"],
            )
        return data


def _run(subject: object, args: Sequence[object], limit: int = LIMIT) -> Evaluation:
    """Record a run, which a page ends sooner than a notebook does."""
    source = Source(subject)
    source.check_arguments(args)
    return record_run(source.any_size, *args, limit=limit, budget=BUDGET)


def _checked(question: Any) -> dict[str, Any]:
    """Return a request whose fields have the right types; links can hold anything."""
    if not isinstance(question, dict):
        raise RelayError("the request is not an object")
    view, options = question.get("view", "ir"), question.get("options", {})
    if view not in VIEWS and view not in LEFT_OUT:
        raise RelayError(f"there is no view {view!r:.40}", help=[f"views are {', '.join(VIEWS)}"])
    if not isinstance(options, dict):
        raise RelayError("the options are not an object")
    text = question.get("text")
    if not isinstance(text, str):
        raise RelayError("the request has no program")
    if len(text) > MAX_TEXT:
        raise RelayError(
            f"the program has {len(text):,} characters; the playground reads at most {MAX_TEXT:,}"
        )
    return {"text": text.replace("\r\n", "\n"), "view": view, "options": options}


def _steps(limit: object) -> int:
    try:
        steps = int(str(limit))
    except ValueError:
        steps = 0
    if not 1 <= steps <= MAX_STEPS:
        raise RelayError(f"{limit!r:.40} is not a number of steps", help=[f"from 1 to {MAX_STEPS:,}"])
    return steps


def _title(module: IRModule) -> str:
    names: Sequence[str] = [f"@{var.name_hint}" for var in module.functions][:3]
    more = len(list(module.functions)) > len(names)
    return ", ".join(names) + (" …" if more else "") or "program"


def _params(module: IRModule) -> list[list[str]]:
    """Return the names and types of the parameters of `@main`, for the fields of its arguments."""
    main = next((f for v, f in module.functions.items() if v.name_hint == "main"), None)
    if not isinstance(main, Function):
        return []
    return [[param.name_hint, f"{param.type_annotation or ''}"[:120]] for param in main.params[:MAX_PARAMS]]
