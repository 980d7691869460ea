"""Character RNNs: a text is a list of letters, and reading it is a fold over the list.

There are two programs with the same cells. One classifies a name by its language; the other generates
letters, one after the other. Both follow S. Robertson's tutorials in PyTorch's documentation, "Classifying"
and "Generating Names with a Character-Level RNN": 57 letters, a state of 128, 18 languages. The equations of
the cells are those of PyTorch's `RNNCell`, `GRUCell` and `LSTMCell`; a letter's row of `%letters` is its
column of their `weight_ih`, with `bias_ih` added.
"""

from __future__ import annotations

import string
from typing import NamedTuple

from .. import relay
from ..ir.errors import RelayError
from ..ir.module import IRModule

ALPHABET = string.ascii_letters + " .,;'"


class Cell(NamedTuple):
    """A recurrent cell, as Relay text in which {hidden} is the size of the state.

    `gates` is the number of vectors of that size that a step computes; `state` the type of the recurrent
    state; `first` the state before the first letter; `shown` the part of the state `%state` that is the
    output; `step` computes the next state from `%x` and `%y`, the contributions of the letter and the state
    to the gates, each (1, gates · hidden), and from `%state`.
    """

    gates: int
    state: str
    first: str
    shown: str
    step: str


VECTOR = "Tensor[(1, {hidden}), float32]"
ZEROS = 'zeros(shape=[1, {hidden}], dtype="float32")'

CELLS = {
    "rnn": Cell(1, VECTOR, ZEROS, "%state", "tanh(%x + %y)"),
    "gru": Cell(
        3,
        VECTOR,
        ZEROS,
        "%state",
        """let %a = split(%x, indices_or_sections=3, axis=1);
  let %b = split(%y, indices_or_sections=3, axis=1);
  let %reset = sigmoid(%a.0 + %b.0);
  let %keep = sigmoid(%a.1 + %b.1);
  let %new = tanh(%a.2 + %reset * %b.2);
  (1f - %keep) * %new + %keep * %state""",
    ),
    "lstm": Cell(
        4,
        f"({VECTOR}, {VECTOR})",
        f"({ZEROS}, {ZEROS})",
        "%state.0",
        """let %gates = split(%x + %y, indices_or_sections=4, axis=1);
  let %cell = sigmoid(%gates.1) * %state.1 + sigmoid(%gates.0) * tanh(%gates.2);
  (sigmoid(%gates.3) * tanh(%cell), %cell)""",
    ),
}

STEP = """
// The state after one more letter.
def @step(%state: {state}, %letter: int32,
          %letters: Tensor[({alphabet}, {gates}), float32],
          %state_weight: Tensor[({gates}, {hidden}), float32],
          %state_bias: Tensor[({gates}), float32]) -> {state} {{
  let %x = expand_dims(take(%letters, %letter, axis=0), axis=0);
  let %y = nn.bias_add(nn.dense({shown}, %state_weight), %state_bias);
  {step}
}}
"""

READ = """
// How likely a name is to come from each language.
def @main(%text: List[int32],
          %letters: Tensor[({alphabet}, {gates}), float32],
          %state_weight: Tensor[({gates}, {hidden}), float32], %state_bias: Tensor[({gates}), float32],
          %out_weight: Tensor[({out}, {hidden}), float32], %out_bias: Tensor[({out}), float32]) {{
  let %read = fn (%state: {state}, %letter: int32) -> {state} {{
    @step(%state, %letter, %letters, %state_weight, %state_bias)
  }};
  let %state = @foldl(%read, {first}, %text);
  nn.softmax(nn.bias_add(nn.dense({shown}, %out_weight), %out_bias))
}}
"""

WRITE = """
// The letters that follow %start, %count of them, the likeliest each time.
def @main(%start: int32, %count: int32,
          %letters: Tensor[({alphabet}, {gates}), float32],
          %state_weight: Tensor[({gates}, {hidden}), float32], %state_bias: Tensor[({gates}), float32],
          %out_weight: Tensor[({out}, {hidden}), float32], %out_bias: Tensor[({out}), float32]
          ) -> List[int32] {{
  let %next = fn (%seed: ({state}, int32, int32)) -> Option[(({state}, int32, int32), int32)] {{
    if (%seed.2 <= 0) {{
      None
    }} else {{
      let %state = @step(%seed.0, %seed.1, %letters, %state_weight, %state_bias);
      let %scores = nn.bias_add(nn.dense({shown}, %out_weight), %out_bias);
      let %letter = argmax(%scores);
      Some(((%state, %letter, %seed.2 - 1), %letter))
    }}
  }};
  @unfoldr(%next, ({first}, %start, %count))
}}
"""


def char_rnn(
    alphabet: int = len(ALPHABET), hidden: int = 128, languages: int = 18, cell: str = "rnn"
) -> IRModule:
    """Build a classifier from a text (a list of letter indices, each below `alphabet`) to the probabilities
    (1, languages). The cell is "rnn", "gru" or "lstm".
    """
    return _program(READ, alphabet, hidden, languages, cell)


def char_rnn_writer(alphabet: int = len(ALPHABET), hidden: int = 128, cell: str = "rnn") -> IRModule:
    """Build a generator from a letter and a count to the list of that many letters that follow."""
    return _program(WRITE, alphabet, hidden, alphabet, cell)


def _program(main: str, alphabet: int, hidden: int, out: int, name: str) -> IRModule:
    if name not in CELLS:
        raise RelayError(f"there is no cell called {name!r:.60}", help=[f"there are {', '.join(CELLS)}"])
    cell = CELLS[name]
    parts = {k: getattr(cell, k).format(hidden=hidden) for k in ("state", "first", "shown", "step")}
    text = (STEP + main).format(alphabet=alphabet, hidden=hidden, gates=cell.gates * hidden, out=out, **parts)
    module = relay.parse(text, "char_rnn.relay", init_module=relay.prelude.Prelude().mod)
    return relay.transform.RemoveUnusedFunctions()(module)  # keeps only one function of the prelude


def encode(text: str, alphabet: str = ALPHABET) -> list[int]:
    """Return the indices of a text's letters; raise a RelayError for one that is not in the alphabet."""
    numbers = {letter: number for number, letter in enumerate(alphabet)}
    unknown = [letter for letter in text if letter not in numbers]
    if unknown:
        raise RelayError(f"{unknown[0]!r} is not in the alphabet {alphabet!r:.80}")
    return [numbers[letter] for letter in text]


def decode(letters: list[int], alphabet: str = ALPHABET) -> str:
    """Return the text whose letters have these indices."""
    return "".join([alphabet[int(number)] for number in letters])
