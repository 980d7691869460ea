"""The same computation as a graph, with `let`, and expanded into a tree."""

from __future__ import annotations
