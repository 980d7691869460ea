"""Look up declared names that contain slashes as prefixes of a longer token."""

from __future__ import annotations


class SlashedNames:
    """A trie of names with one level per part between slashes, so a lookup takes linear time."""

    def __init__(self) -> None:
        self._children: dict[
            tuple[int, str], int
        ] = {}  # from a node and the next part of a name to the next node
        self._names: dict[int, str] = {}  # the name that ends at a node

    def add(self, name: str) -> None:
        """Declare `name`; it stays declared after its scope ends."""
        node = 0
        for part in name.split("/"):
            node = self._children.setdefault((node, part), len(self._children) + 1)
        self._names[node] = name

    def prefixes(self, text: str) -> list[str]:
        """Return the names that are prefixes of `text`, up to a slash or its end, longest first.

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
