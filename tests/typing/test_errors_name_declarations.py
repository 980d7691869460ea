"""A conflict about a matched value names the declaration of the constructor that gave the value its type."""

from __future__ import annotations

import pytest

from relay_explorer import relay

TEXT = """type Tree {
  Leaf(Tensor[(1, 200), float32]),
}
def @main(%tree: Tree, %w: Tensor[(8, 300), float32]) {
  match (%tree) {
    Leaf(%x) => nn.dense(%x, %w),
  }
}
"""


def test_a_field_of_a_constructor_is_explained_at_its_declaration() -> None:
    with pytest.raises(relay.TypeInferenceError) as caught:
        relay.transform.InferType()(relay.parse(TEXT, "tree.relay"))
    notes = [(note.message, note.span.line) for note in caught.value.notes if note.span is not None]
    assert (
        "`%x` is a field of the constructor `Leaf`, which is declared with `Tensor[(1, 200), float32]`",
        2,
    ) in notes
    assert not any("`%tree`" in message for message, _ in notes)
