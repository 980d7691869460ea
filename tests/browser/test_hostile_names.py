"""Every explorer of programs whose names, attributes and titles are markup: shown as text, and never run."""

from __future__ import annotations

import json

import numpy as np
import pytest
from playwright.sync_api import Page

from relay_explorer import explore, relay, transform
from relay_explorer.frontends.base.context import Context
from relay_explorer.frontends.base.source import Node
from relay_explorer.ir import Expr, Function, GlobalVar, IRModule, Let, TensorType, Var
from relay_explorer.typing import infer_types
from relay_explorer.views import registry
from tests.browser.pages import Opener

pytestmark = pytest.mark.browser

HOSTILE = (
    '<img src=x onerror="window.PWN=1">',
    '"><svg onload=window.PWN=1>',
    "</script><script>window.PWN=1</script>",
    "</style></textarea><iframe srcdoc='<script>parent.PWN=1</script>'>",
    "' onmouseover='window.PWN=1' x='",
    "javascript:window.PWN=1",
    "${window.PWN=1}{{constructor.constructor('window.PWN=1')()}}",
    "&lt;img src=x onerror=window.PWN=1&gt;\u202e<marquee>",
)
KEYS = ("ArrowRight", "ArrowRight", "ArrowDown", "ArrowDown", "Enter", "w", "End", "ArrowLeft", "Escape", "/")
FOUND = """() => {
  const INJECTED = ["script", "img", "iframe", "object", "embed", "marquee"];
  const found = window.PWN === undefined ? [] : ["a script ran"];
  const look = (root) => {
    for (const element of root.querySelectorAll("*")) {
      const name = element.localName;
      if (INJECTED.includes(name) && root !== document) found.push(name);
      for (const { name: attribute, value } of element.attributes) {
        if (attribute.startsWith("on")) found.push(`${name} ${attribute}`);
        if (/^\\s*javascript:/i.test(value) && /href|src|action/.test(attribute)) found.push(value);
      }
      if (element.shadowRoot) look(element.shadowRoot);
    }
  };
  look(document);
  return found;
}"""
SHOWN = """() => {
  const texts = [];
  const look = (root) => {
    for (const node of root.childNodes) {
      if (node.nodeType === Node.TEXT_NODE) texts.push(node.data);
      else if (node.localName !== "style" && node.localName !== "script") {
        if (node.shadowRoot) look(node.shadowRoot);
        look(node);
      }
    }
  };
  look(document.querySelector(".relay-explorer").shadowRoot);
  return texts.join("");
}"""


def program() -> IRModule:
    """A program with each of the strings as the name of a variable, and some as other names."""
    shape = TensorType([2, 3], "float32")
    x = Var(HOSTILE[0], shape)
    body: Expr = x
    names = [Var(name) for name in HOSTILE[1:]]
    chain: list[tuple[Var, Expr]] = []
    for variable in names:
        chain.append((variable, relay.tanh(relay.add(body, x))))
        body = variable
    for variable, value in reversed(chain):
        body = Let(variable, value, body)
    attrs = {"note": HOSTILE[0], "Remark": HOSTILE[2]}
    main = Function([x], body, shape, None, attrs)
    unused = Var(HOSTILE[3], shape)
    module = IRModule({GlobalVar("main"): main, GlobalVar(HOSTILE[1]): Function([unused], unused, shape)})
    return infer_types(module)


def imported() -> IRModule:
    """A program imported from a model whose nodes have such names, attributes, modules and places."""
    context = Context(HOSTILE[2], HOSTILE[0])
    x = context.variable(HOSTILE[0], TensorType([2, 3], "float32"))
    value: Expr = x
    for name in HOSTILE:
        attrs = {name: name}
        node = Node(name, name, [name], [name], attrs, scope=(name, name), location=name)
        (value,) = context.convert(node, [value], lambda node, inputs: relay.tanh(relay.add(inputs[0], x)))
    return infer_types(context.main([x], value))


def look_around(page: Page) -> None:
    """Step, move, focus, ask why, and search."""
    page.locator(".relay-explorer .rx[tabindex]").first.focus()
    for key in KEYS:
        page.keyboard.press(key)
    page.keyboard.type("<img")
    for row in page.locator(".relay-explorer .row").all()[:4]:
        row.hover(force=True, timeout=1000)


@pytest.mark.parametrize("view", sorted(registry.views()))
def test_markup_is_text(view: str, open_view: Opener) -> None:
    options: dict[str, object] = {"title": HOSTILE[0]}
    if "args" in registry.views()[view].option_names():
        options["args"] = (np.ones((2, 3), "float32"),)
    if view == "pipeline":
        options["passes"] = [transform.FuseOps(), transform.ToANormalForm()]
    if view == "compare":
        options["against"] = imported()
    hostile = imported() if view == "source" else program()
    shown = explore(hostile, view=view, **options)  # type: ignore[arg-type]
    page = open_view(json.loads(shown.to_json()))
    assert page.evaluate(FOUND) == []
    look_around(page)
    assert page.evaluate(FOUND) == []
    assert "window.PWN=1" in page.evaluate(SHOWN)  # the names are there, as text
