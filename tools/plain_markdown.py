"""Convert the book's MyST Markdown to the plain Markdown that Colab and Jupyter display.

Only the directives and roles that CONTRIBUTING lists are supported. Any other raises an error, so that no
reader sees raw markup.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from relay_explorer import _project

_FENCE = re.compile(r"^(?P<indent> *)(?P<marks>`{3,}|~{3,}|:{3,})(?P<rest>.*)$")
_DIRECTIVE = re.compile(r"^\{(?P<name>[\w-]+)\}\s*(?P<argument>.*)$")
# A role, a code span or a link, whichever begins first: code may contain text that looks like the others.
_INLINE = re.compile(
    r"\{(?P<role>[a-zA-Z][\w:-]*)\}`(?P<content>[^`]*)`"
    r"|(`+)[^`]+\3"
    r"|(?<!!)\[(?P<text>[^\[\]]*)\]\((?P<target>[^()\s]+)\)(?:\{[^{}]*\})?"
)
_TARGET = re.compile(r"^\([\w-]+\)=\s*$")
_REMARKS = {"note": "Note", "tip": "Tip", "warning": "Warning", "important": "Important"}


class MarkupError(ValueError):
    """A directive or role that has no plain equivalent."""


@dataclass(frozen=True)
class Block:
    """A directive: its argument, its options, and its body as lines."""

    name: str
    argument: str
    options: dict[str, str] = field(default_factory=dict)
    body: tuple[str, ...] = ()


@dataclass(frozen=True)
class Translator:
    """Convert the text of one page; `page` is its path relative to `root`, the repository."""

    page: Path
    root: Path

    def translate(self, text: str) -> str:
        """Convert the whole text of a Markdown cell."""
        return "\n".join(self._lines(text.split("\n"))).strip("\n")

    def _lines(self, lines: list[str]) -> list[str]:
        out: list[str] = []
        prose: list[str] = []

        def flush() -> None:
            # Prose is converted as a whole, because a link may span lines.
            if prose:
                out.extend(self._inline("\n".join(prose)).split("\n"))
                prose.clear()

        at = 0
        while at < len(lines):
            line = lines[at]
            fence = _FENCE.match(line)
            if not fence:
                if not (_TARGET.match(line) or line.startswith("% ")):
                    prose.append(line)
                at += 1
                continue
            flush()
            end = _closing(lines, at, fence["marks"], self.page)
            directive = _DIRECTIVE.match(fence["rest"].strip())
            if directive:
                out.extend(self._directive(_block(directive, lines[at + 1 : end])))
            else:
                out.extend(lines[at : end + 1])
            at = end + 1
        flush()
        return out

    def _directive(self, block: Block) -> list[str]:
        translators: dict[str, Callable[[Block], list[str]]] = {
            "admonition": self._remark,
            "answer": self._answer,
            "predict": self._predict,
            "diagram": self._diagram,
            "here": self._here,
            "exercise": self._exercise,
            "code-block": lambda b: [f"```{b.argument}", *b.body, "```"],
            "math": lambda b: ["$$", *b.body, "$$"],
            "raw": lambda b: list(b.body),
        }
        draw = self._remark if block.name in _REMARKS else translators.get(block.name)
        if draw is None:
            raise MarkupError(
                f"{self.page}: the directive {{{block.name}}} has no plain equivalent; see CONTRIBUTING"
            )
        return ["", *draw(block), ""]

    def _remark(self, block: Block) -> list[str]:
        title = self._inline(block.argument) if block.name == "admonition" else _REMARKS[block.name]
        body = self._lines(list(block.body))
        return [f"> **{title}**", ">", *(f"> {line}".rstrip() for line in _trimmed(body))]

    def _answer(self, block: Block) -> list[str]:
        label = block.argument or "Answer"
        return [
            f"<details><summary>{label}</summary>",
            "",
            *_trimmed(self._lines(list(block.body))),
            "",
            "</details>",
        ]

    def _predict(self, block: Block) -> list[str]:
        return ["**Predict.**", "", *_trimmed(self._lines(list(block.body)))]

    def _diagram(self, block: Block) -> list[str]:
        address = _project.raw_address(f"figures/svg/{block.argument}.light.svg")
        caption = " ".join(self._lines(list(block.body))).strip()
        return [f"![{block.options.get('alt', '')}]({address})", *(["", f"*{caption}*"] if caption else [])]

    def _here(self, block: Block) -> list[str]:
        match = re.match(r"ch(\d\d)([b-z]?)_", self.page.name)
        if not match:
            raise MarkupError(f"{self.page}: {{here}} stands in chapters only")
        return self._diagram(
            Block("diagram", f"here_{int(match[1])}{match[2]}", {"alt": "The compiler stack: you are here"})
        )

    def _exercise(self, block: Block) -> list[str]:
        link = f"[Open the exercise in Colab]({_project.colab_address(block.argument)})"
        return [*_trimmed(self._lines(list(block.body))), "", link]

    def _inline(self, text: str) -> str:
        """Convert roles and links; a code span outside of them stays unchanged."""
        return _INLINE.sub(self._piece, text)

    def _piece(self, match: re.Match[str]) -> str:
        if match["role"]:
            return self._role(match["role"], match["content"])
        return self._link(match) if match["target"] else match[0]

    def _role(self, name: str, content: str) -> str:
        if name != "repo":
            raise MarkupError(f"{self.page}: the role {{{name}}} has no plain equivalent; see CONTRIBUTING")
        return f"[`{content}`]({_project.REPOSITORY}/blob/{_project.TAG}/{content})"

    def _link(self, match: re.Match[str]) -> str:
        target = match["target"]
        if re.match(r"[a-z]+:", target):
            return f"[{match['text']}]({target})"
        page, _, _ = target.partition("#")
        if not page:  # within the page; a notebook has no such anchors
            return match["text"]
        name = (self.page.parent / page).with_suffix("")
        for suffix in (".ipynb", ".md"):
            if (self.root / name.with_suffix(".md")).is_file() and (
                suffix == ".md" or _runs(self.root / name)
            ):
                return f"[{match['text']}]({_address(name.with_suffix(suffix))})"
        raise MarkupError(f"{self.page}: the link to {target} leads to no page")


def _address(path: Path) -> str:
    if path.suffix == ".ipynb":
        return _project.colab_address(path.as_posix())
    return f"{_project.REPOSITORY}/blob/{_project.TAG}/{path.as_posix()}"


def _runs(name: Path) -> bool:
    return "{code-cell}" in name.with_suffix(".md").read_text("utf-8")


def _trimmed(lines: list[str]) -> list[str]:
    return "\n".join(lines).strip("\n").split("\n")


def _closing(lines: list[str], start: int, marks: str, page: Path) -> int:
    for at in range(start + 1, len(lines)):
        stripped = lines[at].strip()
        if stripped and len(stripped) >= len(marks) and set(stripped) == {marks[0]}:
            return at
    raise MarkupError(f"{page}: the block that `{lines[start].strip()}` opens is not closed")


def _block(match: re.Match[str], lines: list[str]) -> Block:
    options: dict[str, str] = {}
    at = 0
    while at < len(lines) and (option := re.match(r"^:([\w-]+):\s*(.*)$", lines[at].strip())):
        options[option[1]] = option[2]
        at += 1
    return Block(match["name"], match["argument"].strip(), options, tuple(_trimmed(lines[at:])))
