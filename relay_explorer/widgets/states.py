"""The state of an explorer as a token, `step=9&row=3`, and what of it a live widget's traits hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from urllib.parse import quote, unquote

from ..views.format import RowKind, TokenClass, View

_NAMES = {TokenClass.LOCAL, TokenClass.GLOBAL}


def pairs(token: str) -> dict[str, str]:
    """Return the pairs of a token; what is not a pair is left out."""
    parts = (part.partition("=") for part in token.split("&"))
    return {unquote(key): unquote(value) for key, equals, value in parts if key and equals}


def changed(token: str, more: Mapping[str, str]) -> str:
    """Return a token with other values for some keys; an empty value removes the key."""
    state = {**pairs(token), **more}
    return "&".join(f"{quote(k, safe='')}={quote(v, safe='')}" for k, v in state.items() if v)


def step(view: View, token: str) -> int | None:
    """Return the number of the step that a token names, as the explorer shows it; None without one."""
    value = pairs(token).get(view.step_key, "")
    return int(value) if value.isdecimal() else None


def steps(view: View, token: str) -> int:
    """Return the number of the last step, as the explorer shows it; 0 for a view without steps."""
    return view.last_step(pairs(token))


def what_if(view: View, token: str) -> dict[str, str]:
    """Return the answers that a token chooses to what-if questions, by question: those that differ from the
    actual run.
    """
    parts = pairs(token).get(view.choice_key, "").split(".")
    return {
        question.name: question.answers[int(part)]
        for question, part in zip(view.questions(), parts)
        if part.isdecimal() and int(part) < len(question.answers) and int(part) != question.actual
    }


def choosing(view: View, wanted: Mapping[str, str]) -> dict[str, str]:
    """Return the pairs of a token that choose answers to what-if questions; a question that is not named has
    its actual answer. Raise a ValueError for a question or an answer that does not exist.
    """
    questions = {question.name: question for question in view.questions()}
    if wanted and not questions:
        raise ValueError(f"the view {view.kind!r} has no what-if questions")
    for name, answer in wanted.items():
        if name not in questions:
            raise ValueError(f"there is no question {name!r}: {_listed('questions', questions)}")
        if answer not in questions[name].answers:
            answers = _listed("answers", questions[name].answers)
            raise ValueError(f"the question {name!r} has no answer {answer!r}: {answers}")
    chosen = [
        question.answers.index(wanted[name]) if name in wanted else question.actual
        for name, question in questions.items()
    ]
    if not questions:
        return {}
    actual = chosen == [question.actual for question in questions.values()]
    return {view.choice_key: "" if actual else ".".join(map(str, chosen))}


def _listed(what: str, names: Iterable[str]) -> str:
    return f"the {what} are {', '.join(map(repr, names))}"


def selection(view: View, token: str) -> dict[str, object]:
    """Return the selected row: its index, its text, the name that it binds, its operator, its type as far as
    the view knows it, and the function around it. A block of rows also has its name, `group`, and its `last`
    row. Without a selection the dictionary is empty.
    """
    state = pairs(token)
    number, block = view.selected_row(state), view.selected_block(state)
    if not 0 <= number < len(view.rows):
        return {}
    facts = next(islice(row_facts(view), number, None))
    more = {} if block is None else {"last": block.last, "group": block.name}
    return {"row": number, "text": view.rows[number].text, **facts, **more}


def row_facts(view: View) -> Iterator[dict[str, str]]:
    """Yield for each row the name that it binds, its operator, its type as far as the view knows it, and the
    function around it.
    """
    nodes = getattr(view, "nodes", ())
    types = {getattr(node, "row", -1): str(getattr(node, "type", "")) for node in nodes}
    function = ""
    for number, row in enumerate(view.rows):
        if row.kind == RowKind.FUNCTION:
            function = next((t.text for t in row.tokens if t.kind == TokenClass.GLOBAL), "")
        written = "".join(t.text for t in row.tokens if t.kind == TokenClass.TYPE)
        yield {
            "name": _name(view, number),
            "operator": next((t.text for t in row.tokens if t.kind == TokenClass.OPERATOR), ""),
            "type": types.get(number, "") or row.type or written,
            "function": function,
        }


def selecting(view: View, token: str, wanted: Mapping[str, object]) -> dict[str, str]:
    """Return the pairs of a token that select what `wanted` names, in the state that `token` describes: a
    block by its name (`group`), a row by its index (`row`), or by the name that it binds (`name`). Nothing
    selects no row. Raise a ValueError for what the program does not have.
    """
    state = pairs(token)
    if not wanted:
        return view.select_row(-1, state)
    if "group" in wanted:
        return view.select_block(wanted)
    if "row" in wanted:
        number = wanted["row"]
        if not isinstance(number, int) or not 0 <= number < len(view.rows):
            raise ValueError(f"the program has no row {number!r}: its rows are 0 to {len(view.rows) - 1}")
        return view.select_row(number, state)
    name = wanted.get("name") or None
    for number in (*view.rows_shown(state), *range(len(view.rows))):
        if _name(view, number) == name:
            return view.select_row(number, state)
    raise ValueError(f"no row binds the name {name!r}: select a row by `row` or `name`")


def _name(view: View, number: int) -> str:
    """Return the name that a row binds, or an empty text."""
    tokens = view.rows[number].tokens
    first = next((t for t in tokens if t.kind not in (TokenClass.PLAIN, TokenClass.KEYWORD)), None)
    return first.text if first is not None and first.kind in _NAMES else ""
