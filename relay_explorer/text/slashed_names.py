"""Lookup of names with slashes that a text declares, by a longer token that begins with one of them."""

from __future__ import annotations


class SlashedNames:
    """A trie of names, one level for each part between slashes, so that a lookup takes linear time."""

    def __init__(self) -> None:
        self._children: dict[tuple[int, str], int] = {}  # a node and the next part of a name: the next node
        self._names: dict[int, str] = {}  # the name that ends at a node

    def add(self, name: str) -> None:
        """Declare `name`; it stays declared at the end of its scope."""
        node = 0
        for part in name.split("/"):
            node = self._children.setdefault((node, part), len(self._children) + 1)
        self._names[node] = name

    def prefixes(self, text: str) -> list[str]:
        """List the names that `text` begins with, at a slash or its end, longest first.

        The part before the first slash is always among them.
        """
        parts = text.split("/")
        names, node = [parts[0]], 0
        for part in parts:
            child = self._children.get((node, part))
            if child is None:
                break
            node = child
            name = self._names.get(node)
            if name is not None:
                names.append(name)
        return names[::-1]
