"""The live widget: the bundle as an anywidget."""

from __future__ import annotations

from functools import cache
from typing import Any

from .page import BUNDLE


def available() -> bool:
    """Whether anywidget can be imported."""
    from importlib.util import find_spec

    return find_spec("anywidget") is not None


def make(view: dict[str, Any], name: str, state: str) -> Any:
    """A widget of `view`; its `state` follows what the reader does, and may be set. Needs anywidget."""
    try:
        cls = _widget_class()
    except ImportError:
        raise ImportError('live widgets need anywidget: pip install "relay_explorer[widget]"') from None
    return cls(view=view, name=name, state=state)


@cache
def _widget_class() -> type[Any]:
    """The class, made when it is first needed: importing anywidget takes longer than the whole package."""
    import anywidget
    import traitlets

    class ExplorerWidget(anywidget.AnyWidget):
        """`view` is the data, `state` the token of what is shown, `name` what addresses call the explorer."""

        _esm = BUNDLE
        view = traitlets.Dict().tag(sync=True)
        name = traitlets.Unicode().tag(sync=True)
        state = traitlets.Unicode().tag(sync=True)

    return ExplorerWidget
