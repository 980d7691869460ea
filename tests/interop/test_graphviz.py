"""Programs as drawings of Graphviz: the text in the DOT language, and what `dot` makes of it."""

from __future__ import annotations

import importlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import graphviz
import pytest

from relay_explorer import models, relay
from relay_explorer.interop import to_graphviz, to_networkx
from relay_explorer.interop.palette import PALETTES
from relay_explorer.ir import Expr, RelayError
from relay_explorer.typing import record
from relay_explorer.views.ir.view import ir_view

SMALL = """
def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(4, 3), float32]) {
  let %y = nn.dense(%x, %w);
  %0 = tanh(%y);
  add(%0, %y)
}
"""
SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = (
    '<b>bold</b>', '<script>alert(1)</script>', '"]; evil [label="x', "back\\", "\\N \\G \\l",
    "&lt;&amp;&#60;", "{a|b}", "line\nbreak\x00\x1b[0m", "node", "]]>", "x" * 500, "α\u202eβ", "",
)  # fmt: skip


def test_the_drawing_of_a_small_program() -> None:
    drawing = to_graphviz(relay.parse(SMALL, "small.relay"))
    assert isinstance(drawing, graphviz.Digraph)
    lines = [line.strip() for line in drawing.source.splitlines()]
    nodes = [line for line in lines if re.match(r"n\d+ \[", line)]
    assert nodes == [
        r'n0 [label="%x\n(2, 3) f32" color="#55565c" fillcolor="#e8e8ea" height=0.28 shape=box '
        r'tooltip="%x\nTensor[(2, 3), float32]\nsmall.relay:2:11"]',
        r'n1 [label="%w\n(4, 3) f32" color="#55565c" fillcolor="#e8e8ea" height=0.28 shape=box '
        r'tooltip="%w\nTensor[(4, 3), float32]\nsmall.relay:2:40"]',
        r'n2 [label="%y = nn.dense\n(2, 4) f32" color="#9a4a00" fillcolor="#ffe6c9" shape=hexagon '
        r'tooltip="%y = nn.dense\nTensor[(2, 4), float32]\nsmall.relay:3:12"]',
        r'n3 [label="%0 = tanh\n(2, 4) f32" color="#9c2a7d" fillcolor="#fadff1" shape=box '
        r'style="filled,rounded" tooltip="%0 = tanh\nTensor[(2, 4), float32]\nsmall.relay:4:8"]',
        r'n4 [label="add\n(2, 4) f32" color="#5b6000" fillcolor="#eff0c4" peripheries=2 shape=ellipse '
        r'tooltip="add\nTensor[(2, 4), float32]\nsmall.relay:5:3"]',
    ]
    assert [line for line in lines if "->" in line] == [
        "n0 -> n2 [label=data]", "n1 -> n2 [label=weight]", "n2 -> n3", "n2 -> n4 [label=rhs]",
        "n3 -> n4 [label=lhs]",
    ]  # fmt: skip
    assert clusters(drawing) == ["@main"]


def clusters(drawing: Any) -> list[str]:
    """Return the labels of the frames, the outer ones first."""
    return re.findall(r'graph \[label="?(.*?)"? labeljust', drawing.source)


class TestClusters:
    def test_kernels(self) -> None:
        module = relay.transform.SimplifyInference()(models.load("lenet"))
        drawing = to_graphviz(module, clusters="kernels")
        assert clusters(drawing)[:3] == [
            "kernel 1: conv2d·bias_add·relu", "kernel 2: max_pool2d", "kernel 3: conv2d·bias_add·relu",
        ]  # fmt: skip
        assert clusters(drawing) == clusters(to_graphviz(module, "fusion"))

    def test_functions_branches_and_clauses(self) -> None:
        drawing = to_graphviz(models.load("tree_lstm"))
        assert clusters(drawing) == [
            "@word", "@pair", "@encode", "match: Word(%x)", "match: Pair(%left, %right)", "@main",
        ]  # fmt: skip
        assert clusters(to_graphviz(models.load("tree_lstm"), clusters="none")) == []

    def test_blocks_are_the_modules_of_the_model(self) -> None:
        transformer = models.load("transformer")
        labels = clusters(to_graphviz(transformer, clusters="blocks", limit=2_000))
        assert labels[:6] == ["@main", "layer1", "attention", "query", "key", "value"]
        groups = explored("transformer")
        assert sorted(labels) == sorted([group.label for group in groups])
        assert labels.count("attention") == labels.count("ffn1") == 12

    def test_blocks_without_names_are_the_repeated_parts(self) -> None:
        lstm = models.load("lstm")
        labels = clusters(to_graphviz(lstm, clusters="blocks", limit=2_000))
        assert labels[:2] == ["@main", "block 1 · 1"]
        assert sorted(labels) == sorted([group.label for group in explored("lstm")])

    def test_folds_deeper_frames(self) -> None:
        resnet = models.load("resnet50")
        drawing = to_graphviz(resnet, clusters="blocks", levels=1)
        labels = re.findall(r'^\s*n\d+ \[label="?(.*?)"? color', drawing.source, re.MULTILINE)
        assert [label.split("\\n")[0].rpartition(" = ")[2] for label in labels] == [
            "%data", "stem", "nn.relu", "nn.max_pool2d", "stage1", "stage2", "stage3", "stage4",
            "nn.global_avg_pool2d", "nn.batch_flatten", "fc", "nn.softmax",
        ]  # fmt: skip
        assert r"stage1\n32 operations" in labels
        assert len(re.findall("->", drawing.source)) == 11  # a chain
        assert clusters(drawing) == ["@main"]

    def test_folds_kernels(self) -> None:
        module = relay.parse(SMALL)
        source = to_graphviz(module, clusters="kernels", levels=0).source
        assert re.findall(r'label="(kernel.*?)"', source) == [
            r"kernel 1: dense\n1 operation", r"kernel 2: tanh·add\n2 operations",
        ]  # fmt: skip
        assert len(re.findall("->", source)) == 3


def explored(name: str) -> Sequence[Any]:
    """Return the functions and blocks that the IR explorer shows."""
    return ir_view(models.load(name)).groups


def test_every_kind_of_graph_is_drawn() -> None:
    module = models.load("tree_lstm")
    for kind in ("calls", "constraints", "dominators", "post-dominators", "fusion"):
        graph = to_networkx(module, kind)
        source = to_graphviz(module, kind).source
        drawn = len(re.findall(r"^\s*n\d+ \[", source, re.MULTILINE))
        assert drawn == len(graph) - (kind == "fusion"), kind
    assert to_graphviz(record(module)).source == to_graphviz(module, "constraints").source


def test_colors_are_those_of_the_theme() -> None:
    for theme, palette in PALETTES.items():
        source = to_graphviz(relay.parse(SMALL), theme=theme).source
        assert palette["hue-orange-fill"] in source
        assert set(re.findall(r"#[0-9a-f]{6}", source)) <= set(palette.values())


def test_draws_a_part_and_refuses_what_is_too_large() -> None:
    module = models.load("resnet50")
    graph = to_networkx(module)
    with pytest.raises(RelayError) as raised:
        to_graphviz(module)
    assert str(raised.value).splitlines() == [
        f"error: the graph has {len(graph)} nodes, more than the limit of 400",
        "help: draw a part: to_graphviz(graph.subgraph(nodes)), where graph = to_networkx(…)",
        'help: fold it: to_graphviz(…, clusters="blocks", levels=1)',
        f"help: or raise the limit: limit={len(graph)}; Graphviz may then take minutes",
        "help: explore(…) shows programs of any size, folded",
    ]
    part = to_graphviz(graph.subgraph(range(20)))
    assert len(re.findall(r"^\s*n\d+ \[", part.source, re.MULTILINE)) == 20


def test_says_which_options_there_are() -> None:
    with pytest.raises(RelayError, match="there are no clusters 'kernel'"):
        to_graphviz(relay.parse(SMALL), clusters="kernel")
    with pytest.raises(RelayError, match="there is no theme 'pink'"):
        to_graphviz(relay.parse(SMALL), theme="pink")
    with pytest.raises(TypeError, match="to_networkx takes"):
        to_graphviz(3)


def html_of(drawing: Any) -> str:
    """Return what a notebook shows."""
    html: str = drawing._repr_mimebundle_()["text/html"]
    return html


class TestDot:
    def test_names_are_only_text(self) -> None:
        x = [relay.var(name, shape=(2,)) for name in HOSTILE]
        body: Expr = x[0]
        for other in x[1:]:
            body = relay.add(body, other)
        graph = to_networkx(relay.Function(x, body))
        # The printer cleans names; labels of graphs that a reader changed are not.
        for node, name in zip(list(graph), HOSTILE):
            graph.nodes[node]["label"] = f"%{name}"
            graph.nodes[node]["scope"] = (name,)
        root = ElementTree.fromstring(to_graphviz(graph).pipe("svg", encoding="utf-8"))
        tags = {element.tag.removeprefix(SVG) for element in root.iter()}
        links = {key for element in root.iter() for key in element.attrib}
        assert tags <= {"svg", "g", "title", "polygon", "path", "text", "ellipse", "a"}
        assert not [value for e in root.iter() for k, value in e.attrib.items() if k.endswith("href")]
        assert not [key for key in links if key.startswith("on")]
        texts = [element.text or "" for element in root.iter(f"{SVG}text")]
        for name in HOSTILE:
            shown = "".join([c if c.isprintable() else " " for c in f"%{name}"])
            shown = shown if len(shown) <= 44 else f"{shown[:43]}…"
            assert any(shown.split() == text.split() for text in texts), name
        nodes = [e for e in root.iter(f"{SVG}g") if e.attrib.get("class") == "node"]
        assert len(nodes) == len(graph) - 1  # the function is the frame

    def test_a_notebook_displays_it_with_a_text_alternative(self) -> None:
        drawing = to_graphviz(relay.parse(SMALL))
        bundle = drawing._repr_mimebundle_()
        assert list(bundle) == ["text/html", "image/svg+xml"]
        root = ElementTree.fromstring(html := bundle["text/html"])
        assert root.attrib["role"] == "img"
        assert [child.tag for child in root][:2] == [f"{SVG}title", f"{SVG}desc"]
        assert root.findtext(f"{SVG}title") == "The data flow: 5 nodes, 1 frame"
        assert root.findtext(f"{SVG}desc") == (
            "Arrows: from %x to %y = nn.dense; from %w to %y = nn.dense; from %y = nn.dense to %0 = tanh, "
            "add; from %0 = tanh to add. Frames: @main around %x, %w, %y = nn.dense, %0 = tanh, add."
        )
        assert not re.search(r'\sid="|xlink:title|<a ', html)
        tips = [title.text for title in root.iter(f"{SVG}title")]
        assert "%0 = tanh\nTensor[(2, 4), float32]\nfrom_string:4:8" in tips

    def test_a_wide_drawing_scrolls_on_a_phone(self) -> None:
        wide = ElementTree.fromstring(html_of(to_graphviz(models.load("tree_lstm"))))
        assert wide.attrib == {
            "role": "group", "aria-label": "The data flow: 71 nodes, 6 frames", "tabindex": "0",
            "style": "overflow-x: auto",
        }  # fmt: skip
        (picture,) = wide
        width = float(picture.attrib["width"].removesuffix("pt")) * 4 / 3
        assert picture.attrib["style"] == (f"max-width: 100%; height: auto; min-width: {0.62 * width:.0f}px;")

    def test_follows_a_dark_page(self) -> None:
        html = html_of(to_graphviz(relay.parse(SMALL)))
        fill = "light-dark({}, {})".format(*(PALETTES[t]["hue-orange-fill"] for t in ("light", "dark")))
        assert fill.replace(" ", "") in html
        dark = html_of(to_graphviz(relay.parse(SMALL), theme="dark"))
        assert PALETTES["dark"]["hue-orange-fill"] in dark
        assert "light-dark" not in dark


class TestWithoutPrograms:
    def test_without_dot_the_text_remains(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("PATH", "")
        monkeypatch.chdir(tmp_path)  # `render` writes the text before it looks for the program
        drawing = to_graphviz(relay.parse(SMALL))
        assert drawing.source.startswith("digraph")
        for use in (drawing.pipe, drawing.render):
            with pytest.raises(RelayError, match="`dot`, which lays graphs out, is not installed: `apt-get"):
                use()
        (kind, text), *rest = drawing._repr_mimebundle_().items()
        assert (kind, rest) == ("text/plain", [])
        assert "`.source` is the graph in the DOT language" in text

    def test_without_the_package(self, monkeypatch: pytest.MonkeyPatch) -> None:
        load = importlib.import_module

        def absent(name: str, package: str | None = None) -> Any:
            if name == "graphviz":
                raise ModuleNotFoundError("No module named 'graphviz'", name="graphviz")
            return load(name, package)

        from relay_explorer.interop.dot import digraph_class

        digraph_class.cache_clear()
        monkeypatch.setattr("relay_explorer.interop.require.importlib.import_module", absent)
        with pytest.raises(ImportError, match=r'this needs graphviz: pip install "relay_explorer\[graphs\]'):
            to_graphviz(relay.parse(SMALL))
