"""What each kind of host is given."""

from __future__ import annotations

import json
import re
import sys
from html.parser import HTMLParser
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from relay_explorer import _project, explore, models
from relay_explorer.explorer import WIDGET_VIEW
from relay_explorer.widgets import bundle
from relay_explorer.widgets.host import Host, current
from tests.support.views.check import check
from tests.views.programs import MARKUP, hostile
from tests.widgets.programs import SMALL


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate a process outside of notebooks and of the book's build."""
    monkeypatch.delenv("RELAY_EXPLORER_BUNDLE", raising=False)
    monkeypatch.setattr("relay_explorer.widgets.host.shell", lambda: None)


@pytest.fixture
def kernel(plain: None, monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """As in a kernel, whose widgets find no front end."""
    shell = SimpleNamespace(kernel=object(), user_ns={})
    monkeypatch.setattr("relay_explorer.widgets.host.shell", lambda: shell)
    return shell


class Page(HTMLParser):
    """The elements of a page, and the text of its scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append((dict(attrs), ""))

    def handle_data(self, data: str) -> None:
        if self.lasttag == "script":
            attrs, text = self.scripts[-1]
            self.scripts[-1] = (attrs, text + data)


@pytest.mark.usefixtures("plain")
def test_a_script_or_a_terminal() -> None:
    assert current() is Host.PLAIN
    shown = explore(SMALL)._repr_mimebundle_()
    assert list(shown) == ["text/plain", "text/html", "image/svg+xml"]
    assert shown["image/svg+xml"].startswith("<svg ")


@pytest.mark.usefixtures("plain")
def test_html_is_complete_in_itself() -> None:
    result = explore(SMALL, name="small", state='step=3"&<x>')
    observed = Page(result._repr_html_())
    (host,) = [attrs for tag, attrs in observed.tags if tag == "div"]
    assert str(host.pop("data-playground")).endswith("/book/playground.html")
    assert host == {"class": "relay-explorer", "id": "rx-small", "data-state": 'step=3"&<x>'}
    (data, code) = observed.scripts
    assert data[0] == {"type": "application/json"}
    assert check(json.loads(data[1])) == []
    assert code[0] == {}
    assert code[1] == bundle.holder()
    assert len(code[1]) < 0.5 * len(bundle.script())
    assert not [a for _, attrs in observed.tags for a in attrs if a in ("src", "href")]


def test_in_a_book_the_page_has_the_bundle(plain: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELAY_EXPLORER_BUNDLE", "shared")
    result = explore(models.load("resnet50"), name="resnet50", live=True)
    assert current() is Host.BOOK
    shown = result._repr_mimebundle_()
    assert WIDGET_VIEW not in shown
    assert len(Page(shown["text/html"]).scripts) == 1
    assert len(shown["text/html"].encode()) < 400_000
    assert "%0 = nn.conv2d(%data, %stem_conv_weight" in shown["text/html"]


def test_in_a_book_operators_lead_to_its_reference(plain: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELAY_EXPLORER_BUNDLE", "shared")
    result = explore("def @main(%x: Tensor[(2, 2), float32]) { nn.softmax(exp(%x)) }", view="types")
    (host,) = [attrs for tag, attrs in Page(result._repr_html_()).tags if tag == "div"]
    assert json.loads(host["data-operators"] or "") == {
        "exp": "reference/operators_arithmetic.html#op-exp",
        "nn.softmax": "reference/operators_activation.html#op-nn-softmax",
    }
    monkeypatch.delenv("RELAY_EXPLORER_BUNDLE")
    (host,) = [attrs for tag, attrs in Page(result._repr_html_()).tags if tag == "div"]
    assert "data-operators" not in host


# Colab's ipykernel and ipywidgets are older than its Python and its traitlets.
@pytest.mark.filterwarnings("ignore:Parsing dates involving a day of month:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:Deprecated in traitlets:DeprecationWarning")
def test_a_live_widget_beside_the_html(kernel: SimpleNamespace) -> None:
    assert current() is Host.NOTEBOOK
    result = explore(SMALL, view="types", name="live", state="step=2", live=True)
    shown = result._repr_mimebundle_()
    assert set(shown) == {"text/plain", "text/html", "image/svg+xml", WIDGET_VIEW}
    widget = result.widget()
    assert shown[WIDGET_VIEW] == {"version_major": 2, "version_minor": 0, "model_id": widget.model_id}
    assert (widget.name, widget.state) == ("live", "step=2")
    assert check(widget.view) == []
    assert "export" in str(widget._esm)
    assert len(str(widget._esm)) < 5000
    assert widget.code == ""
    widget.needs_code = True
    assert widget.code == bundle.compressed()
    widget.state = "step=5"
    assert result.state == "step=5"
    assert 'data-state="step=5"' in result._repr_mimebundle_()["text/html"]
    assert result.widget() is widget


@pytest.mark.usefixtures("kernel")
def test_a_notebook_keeps_what_needs_no_kernel() -> None:
    """A widget's view would be an error when the notebook is opened again; the HTML still works."""
    assert current() is Host.NOTEBOOK
    assert list(explore(SMALL)._repr_mimebundle_()) == ["text/plain", "text/html", "image/svg+xml"]


@pytest.mark.usefixtures("plain")
def test_without_a_kernel_nothing_is_live() -> None:
    assert WIDGET_VIEW not in explore(SMALL, live=True)._repr_mimebundle_()


@pytest.mark.usefixtures("kernel")
def test_a_live_one_needs_anywidget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relay_explorer.widgets.widget._widget_class", _unavailable)
    with pytest.raises(ImportError, match=re.escape(f'pip install "{_project.requirement("widget")}"')):
        explore(SMALL, live=True)._repr_mimebundle_()


def _unavailable() -> type:
    raise ImportError("no module named anywidget")


@pytest.mark.usefixtures("kernel")
@pytest.mark.filterwarnings("ignore:Deprecated in traitlets:DeprecationWarning")
def test_a_live_one_displays_a_static_one_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Except where outputs cannot see each other: there, and without `live`, IPython asks for the bundle."""
    shown: list[dict[str, Any]] = []
    monkeypatch.setattr("IPython.display.publish_display_data", shown.append)
    result = explore(SMALL, view="types", name="live", live=True)
    result._ipython_display_()
    static, live = shown
    (host,) = [attrs for tag, attrs in Page(static["text/html"]).tags if tag == "div"]
    assert (host["class"], host["id"]) == ("relay-explorer-standin", "rx-live")
    assert WIDGET_VIEW not in static
    assert live[WIDGET_VIEW]["model_id"] == result.widget().model_id
    assert len(live["text/html"]) < 200
    with pytest.raises(NotImplementedError):
        explore(SMALL)._ipython_display_()
    monkeypatch.setitem(sys.modules, "google.colab", ModuleType("google.colab"))
    with pytest.raises(NotImplementedError):
        result._ipython_display_()


@pytest.mark.usefixtures("plain")
def test_include_and_exclude() -> None:
    result = explore(SMALL)
    assert list(result._repr_mimebundle_(include={"text/html"})) == ["text/html"]
    assert "text/html" not in result._repr_mimebundle_(exclude={"text/html"})


@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize("view", ["ir", "types"])
def test_markup_in_names_makes_no_element(view: str) -> None:
    result = explore(hostile(), view=view, title=MARKUP, state=MARKUP)
    for text in (result._repr_html_(), result.to_html()):
        observed = Page(text)
        assert not [tag for tag, _ in observed.tags if tag == "img"]
        assert not [a for _, attrs in observed.tags for a in attrs if a.startswith("on")]
        (data,) = [t for attrs, t in observed.scripts if attrs.get("type") == "application/json"]
        assert json.loads(data)["title"] == MARKUP


def test_the_bundle_as_a_script_cannot_end_its_element() -> None:
    for code in (bundle.script(), bundle.holder(), bundle.reference()):
        assert "</script" not in code.lower()
        assert "<!--" not in code
        assert not re.search(r"\bexport\s*\{", code)


def test_the_saved_page_allows_one_script_and_no_request() -> None:
    (policy,) = [
        attrs["content"] or ""
        for tag, attrs in Page(explore(SMALL).to_html()).tags
        if tag == "meta" and attrs.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "http" not in policy
    assert "unsafe-eval" not in policy
