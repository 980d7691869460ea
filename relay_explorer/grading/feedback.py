"""The feedback of a check: as text, and as HTML in which an explorer draws the program.

Everything that comes from the learner's code (messages, printed text, names) is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from ..ir.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from ..ir.module import IRModule
    from ..transform.infrastructure import Pass

PASSED, FAILED, WAITING = "holds", "fails", "not tried"
MARKS = {PASSED: "✓", FAILED: "✗", WAITING: "·"}


@dataclass(frozen=True)
class Failure:
    """The failure of an answer, on the smallest case that was found.

    `case` is the test case, `expected` and `got` are the right and the actual outcome, and `hint` is the
    mistake that explains the difference, if one does. `program` is drawn in the explorer's view `view`
    under `caption`; with `passes`, before and after them. `printed` is the answer's output, and `trace`
    shows where its own code raised an error. `picture` makes a picture if a drawing of a program would not
    help: any object with `_repr_html_`.
    """

    case: str
    expected: str
    got: str
    hint: str = ""
    program: IRModule | None = None
    view: str = "types"
    caption: str = "The smallest failing program"
    printed: str = ""
    trace: str = ""
    passes: tuple[Pass, ...] = ()
    picture: Callable[[], Any] | None = None


@dataclass(frozen=True)
class Line:
    """One property of an answer: its name, its statement, and whether it holds."""

    name: str
    says: str
    state: str


class Feedback:
    """The result of a check. As the last expression of a cell it displays itself."""

    def __init__(
        self, title: str, lines: Sequence[Line], failure: Failure | None, picture: Any = None
    ) -> None:
        self.title = title
        self.lines = tuple(lines)
        self.failure = failure
        self.picture = picture

    @property
    def passed(self) -> bool:
        return self.failure is None

    @property
    def failed(self) -> str | None:
        """Return the name of the property that fails, or None."""
        return next((line.name for line in self.lines if line.state == FAILED), None)

    def __bool__(self) -> bool:
        return self.passed

    def __str__(self) -> str:
        head = f"{self.title}: {self._summary()}"
        parts = [head, *(f"  {MARKS[line.state]} {line.name}: {line.says}" for line in self.lines)]
        if self.failure is not None:
            for label, text in self._details(self.failure):
                parts += ["", f"{label}:", _indented(text)]
        return "\n".join(parts)

    __repr__ = __str__

    def _summary(self) -> str:
        if self.passed:
            return "all checked properties hold"
        held = sum(line.state == PASSED for line in self.lines)
        return f"{self.failed} does not hold ({held} of {len(self.lines)} do so far)"

    @staticmethod
    def _details(failure: Failure) -> list[tuple[str, str]]:
        pairs = [
            ("On", failure.case),
            ("Expected", failure.expected),
            ("Got", failure.got),
            ("Your code", failure.trace),
            ("It printed", failure.printed),
            ("Hint", failure.hint),
        ]
        return [(label, text) for label, text in pairs if text]

    def _repr_html_(self) -> str:
        rows = "".join(
            f'<li data-state="{line.state}"><b>{MARKS[line.state]} {escape(line.name)}</b> '
            f"<span>{_prose(line.says)} <i>({line.state})</i></span></li>"
            for line in self.lines
        )
        details = ""
        if self.failure is not None:
            details = "".join(
                f"<dt>{label}</dt><dd>{_block(label, text)}</dd>"
                for label, text in self._details(self.failure)
            )
            details = f'<dl class="rx-details">{details}</dl>'
        state = PASSED if self.passed else FAILED
        box = (
            f'<style>{_STYLE}</style><section class="rx-feedback" data-state="{state}">'
            f"<h4>{escape(self.title)}: {escape(self._summary())}</h4>"
            f'<ul class="rx-list">{rows}</ul>{details}</section>'
        )
        return box if self.picture is None else box + self.picture._repr_html_()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return {"text/plain": str(self), "text/html": self._repr_html_()}


class WrongAnswerError(AssertionError):
    """The answer of a graded cell is wrong; contains the feedback."""

    def __init__(self, feedback: Feedback) -> None:
        super().__init__(str(feedback))
        self.feedback = feedback

    def _render_traceback_(self) -> list[str]:
        """Return the lines that IPython prints instead of a traceback: the feedback is already displayed
        above them.
        """
        return [f"{type(self).__name__}: {str(self).splitlines()[0]}"]


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())


def _prose(text: str) -> str:
    """Return text with its `code` marked."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def _block(label: str, text: str) -> str:
    """Convert prose to HTML; programs, types and output are left as they are."""
    if label == "Hint":
        return f"<p>{_prose(text)}</p>"
    return f"<pre>{escape(text)}</pre>"


# The colors of the surroundings, so that the box fits light and dark notebooks; marks and words show the
# states. `!important` overrides the notebook's own rules for lists.
_STYLE = (
    ".rx-feedback{border:1px solid #8888;border-left:4px solid #8888;border-radius:6px;padding:.6em 1em;"
    "margin:.5em 0;max-width:60em;font:14px/1.5 system-ui,sans-serif}"
    ".rx-feedback[data-state=holds]{border-left-color:#2b8a3e}"
    ".rx-feedback[data-state=fails]{border-left-color:#d9480f}"
    ".rx-feedback h4{margin:.1em 0 .4em;font-size:1.05em;font-weight:600}"
    ".rx-feedback .rx-list{list-style:none!important;margin:0!important;padding:0!important}"
    ".rx-feedback li[data-state='not tried']{opacity:.65}.rx-feedback li i{font-size:.9em}"
    ".rx-feedback code{font:.93em ui-monospace,monospace;background:none;color:inherit;padding:0}"
    ".rx-feedback .rx-details{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.3em 1em;"
    "margin:.8em 0 0;width:auto}"
    ".rx-details dt,.rx-details dd{float:none!important;width:auto!important;margin:0!important;padding:0}"
    ".rx-details dt{font-weight:600}.rx-details dd p{margin:0}"
    ".rx-details pre{margin:0;white-space:pre-wrap;overflow-wrap:anywhere;background:none;color:inherit;"
    "word-break:normal;font:13px/1.5 ui-monospace,monospace;padding:0}"
    "@media(max-width:500px){.rx-feedback .rx-details{display:block}}"
)
