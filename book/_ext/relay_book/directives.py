"""The book's directives and roles. `tools/plain_markdown.py` converts them for notebooks."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective, SphinxRole

from relay_explorer import _project

from .chapters import chapter_of, promises_of

ROOT = Path(__file__).parents[3]


def promise_numbers(argument: str | None) -> list[int]:
    """Parse the option `:checks: 1, 3`, the numbers of the promises that a question checks."""
    numbers = [part.strip() for part in (argument or "").split(",")]
    if not all(number.isdecimal() for number in numbers):
        raise ValueError("it names promises of the page by number, such as 1, 3")
    return [int(number) for number in numbers]


class Question(SphinxDirective):
    """A directive whose option `:checks:` names the promises of the page that it checks."""

    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {"checks": promise_numbers}

    def run(self) -> list[nodes.Node]:
        self.assert_has_content()
        count = len(promises_of(Path(self.env.doc2path(self.env.docname)).read_text("utf-8")))
        wrong = [number for number in self.options.get("checks", []) if not 1 <= number <= count]
        if wrong:
            raise self.error(f":checks: names promise {wrong[0]}, but the page has {count} promises")
        return [self.block()]

    def block(self) -> nodes.Node:
        """Return the question as a node."""
        raise NotImplementedError


class details(nodes.General, nodes.Element):  # noqa: N801 - docutils names a node's visitor after its class
    """A block whose content is hidden until the reader opens it."""


def _enter_details(self: Any, node: details) -> None:
    self.body.append(f'<details class="answer"><summary>{self.encode(node["summary"])}</summary>\n')


def _leave_details(self: Any, node: details) -> None:
    self.body.append("</details>\n")


class Answer(Question):
    """`{answer} [label]`: content that is hidden until the reader opens it, with or without JavaScript."""

    optional_arguments = 1
    final_argument_whitespace = True

    def block(self) -> nodes.Node:
        block = details(summary=self.arguments[0] if self.arguments else "Answer")
        self.state.nested_parse(self.content, self.content_offset, block)
        return block


class Predict(Question):
    """`{predict}`: a question to answer before running the next cell; may contain its `{answer}`."""

    def block(self) -> nodes.Node:
        block = nodes.container(classes=["predict"])
        block += nodes.paragraph("", "Predict", classes=["predict-label"])
        self.state.nested_parse(self.content, self.content_offset, block)
        return block


class Diagram(SphinxDirective):
    """`{diagram} name`: the figure `figures/svg/name.light.svg` and its dark version; the content is the
    caption.
    """

    has_content = True
    required_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = {"alt": directives.unchanged_required, "wide": directives.flag}

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        if "alt" not in self.options:
            raise self.error(f"diagram {name} needs :alt:, what it shows in words")
        figure = nodes.figure(classes=["diagram", *(["wide"] if "wide" in self.options else [])])
        for theme in ("light", "dark"):
            path = ROOT / "figures" / "svg" / f"{name}.{theme}.svg"
            if not path.is_file():
                raise self.error(
                    f"no figure {path.relative_to(ROOT)}; `make figures` draws what figures/ declares"
                )
            uri = f"/{path.relative_to(self.env.srcdir).as_posix()}"
            figure += nodes.image(uri=uri, alt=self.options["alt"], classes=[f"only-{theme}"])
        if self.content:
            caption = nodes.caption()
            holder = nodes.Element()
            self.state.nested_parse(self.content, self.content_offset, holder)
            caption += [child for paragraph in holder for child in paragraph]
            figure += caption
        return [figure]


class Here(SphinxDirective):
    """`{here}`: the picture of the whole stack in which this chapter is marked (`figures/here.py`)."""

    def run(self) -> list[nodes.Node]:
        label = chapter_of(self.env.docname)
        figure = nodes.figure(classes=["diagram", "here"])
        for theme in ("light", "dark"):
            path = ROOT / "figures" / "svg" / f"here_{label}.{theme}.svg"
            if not path.is_file():
                raise self.error(f"figures/here.py does not say where chapter {label or '?'} stands")
            match = re.search(r"<desc>(.*?)</desc>", path.read_text("utf-8"))
            assert match is not None, f"{path.name} has no description"
            uri = f"/{path.relative_to(self.env.srcdir).as_posix()}"
            figure += nodes.image(uri=uri, alt=html.unescape(match[1]), classes=[f"only-{theme}"])
        return [figure]


class Exercise(Question):
    """`{exercise} exercises/.../name.ipynb`: the task, and links that open the notebook in Colab or download
    it.
    """

    required_arguments = 1

    def block(self) -> nodes.Node:
        path = self.arguments[0]
        if not (ROOT / path).is_file():
            raise self.error(f"no notebook {path}; `make exercises` generates them")
        block = nodes.container(classes=["exercise"])
        self.state.nested_parse(self.content, self.content_offset, block)
        links = nodes.paragraph(classes=["exercise-links"])
        for label, uri in (
            ("Open in Colab", _project.colab_address(path)),
            ("Download", _project.raw_address(path)),
        ):
            links += nodes.reference("", label, refuri=uri, classes=["button"])
        block += links
        return block


class Repository(SphinxRole):
    """`` {repo}`path` ``: a link to a file of the repository."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        path = self.text.strip()
        if not (ROOT / path).exists():
            message = self.inliner.reporter.error(f"no {path} in the repository", line=self.lineno)
            return [self.inliner.problematic(self.rawtext, self.rawtext, message)], [message]
        link = nodes.reference("", "", refuri=f"{_project.REPOSITORY}/blob/{_project.TAG}/{path}")
        link += nodes.literal("", path)
        return [link], []


def setup(app: Sphinx) -> None:
    """Register the directives, the role and the node of this file."""
    app.add_node(details, html=(_enter_details, _leave_details))
    app.add_directive("answer", Answer)
    app.add_directive("predict", Predict)
    app.add_directive("diagram", Diagram)
    app.add_directive("here", Here)
    app.add_directive("exercise", Exercise)
    app.add_role("repo", Repository())
