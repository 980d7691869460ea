"""The sentences of the compare view: the summary, and one for each difference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ...ir.expr import Call, Expr, Function, Var
from ...ir.op import Op
from ..fates import Fate
from ..format import Sentence
from ..words import count, counted
from .descent import Descent
from .format import DifferenceKind, Differs, OperatorCount, Pair
from .rows import Side, attributes

MOST_NAMED = 3  # operators in a sentence
#: What makes an expression another one; its operands and its type follow from others.
_OWN = Differs.OPERATOR | Differs.ATTRIBUTES | Differs.VALUE
_ONE_SIDE = ((Fate.REMOVED, "only in A"), (Fate.ADDED, "only in B"))
LONGEST = 60  # characters of a value in a sentence


def summary(a: Side, b: Side, counts: Sequence[OperatorCount], pairs: Sequence[Pair], same: bool) -> Sentence:
    """Return how the programs differ, in two sentences."""
    if same:
        return "A ({0}) and B ({1}) are the same program, except for the names of variables.", *_names(a, b)
    calls = sum(item.a for item in counts), sum(item.b for item in counts)
    more = calls[1] - calls[0]
    changed = sorted((item for item in counts if item.a != item.b), key=lambda item: item.b > 0)
    words = [f"{item.b - item.a:+d} × {item.name}".replace("-", "−", 1) for item in changed[:MOST_NAMED]]
    if len(changed) > MOST_NAMED:
        words.append(f"and {counted(len(changed) - MOST_NAMED, 'other operator')}")
    if more:
        first = f"B ({{1}}) has {counted(abs(more), 'call')} {'more' if more > 0 else 'fewer'} than A ({{0}})"
    elif changed:
        first = "B ({1}) has as many calls as A ({0}), but of other operators"
    else:
        first = f"A ({{0}}) and B ({{1}}) call the same operators, {_times(calls[0])}"
    listed = f": {', '.join(words)}." if words else "."
    return f"{first}{listed}\n{_tally(pairs)}{_fused(a, b)}", *_names(a, b)


def _fused(a: Side, b: Side) -> str:
    """Return how many kernels the programs have, where only one of them is fused, or both are differently."""
    kernels = len(a.kernels.number), len(b.kernels.number)
    if kernels[0] == kernels[1]:
        return ""
    if 0 in kernels:
        name, number = ("A", kernels[0]) if kernels[0] else ("B", kernels[1])
        return f" The operators of {name} are fused into {counted(number, 'kernel')}."
    return f" A has {counted(kernels[0], 'kernel')}, B has {count(kernels[1])}."


def _times(number: int) -> str:
    return "once" if number == 1 else f"{count(number)} times"


def _names(a: Side, b: Side) -> tuple[str, str]:
    return a.view.title, b.view.title


def _tally(pairs: Sequence[Pair]) -> str:
    fates = Counter(pair.fate for pair in pairs)
    one_side = [(fates[Fate.REMOVED], "only in A"), (fates[Fate.ADDED], "only in B")]
    parts = [f"{number:,} {word}" for number, word in one_side if number]
    if fates[Fate.MOVED]:
        parts.append(f"{fates[Fate.MOVED] // 2:,} at another place")
    more = f"; {', '.join(parts)}" if parts else ""
    return f"Equal rows: {fates[Fate.KEPT]:,}. Rows that differ: {fates[Fate.REWRITTEN]:,}{more}."


def kind_of(pair: Pair, a: Side, b: Side) -> DifferenceKind:
    """Return the kind of the difference that a pair of rows is."""
    if pair.fate == Fate.MOVED:
        return DifferenceKind.MOVED
    sides = [(side, row) for side, row in ((a, pair.a), (b, pair.b)) if row >= 0]
    if any(side.program.defines(row) in side.signatures for side, row in sides):
        return DifferenceKind.SIGNATURE
    if pair.fate == Fate.REWRITTEN:
        return DifferenceKind.TYPES if pair.differs == Differs.TYPE else DifferenceKind.CHANGED
    return DifferenceKind.ADDED if pair.fate == Fate.ADDED else DifferenceKind.REMOVED


def one(pair: Pair, a: Side, b: Side, descent: Descent) -> Sentence:
    """Return the sentence about a pair of rows that differ: what differs, then what became of it or where."""
    sentence, *arguments = _differing(pair, a, b)
    more, *others = _whereabouts(pair, a, b, descent)
    if not more:
        return sentence, *arguments
    numbers = [f"{{{len(arguments) + k}}}" for k in range(len(others))]
    return f"{sentence}\n{more.format(*numbers)}", *arguments, *others


def _whereabouts(pair: Pair, a: Side, b: Side, descent: Descent) -> Sentence:
    """Return what became of an expression of A that B does not have, or in which kernel one of B is."""
    if pair.fate == Fate.REMOVED:
        expr = a.program.defines(pair.a)
        return ("",) if expr is None else became(expr, a, b, descent)
    mine = b.program.defines(pair.b) if pair.b >= 0 else None
    if mine is None:
        return ("",)
    if isinstance(mine, Call) and mine in b.kernels.calls:
        return (f"It is the call of kernel {b.kernels.number[b.kernels.calls[mine]]}.",)
    kernel = b.kernels.inside.get(mine)
    return (f"In B it is in kernel {kernel}.",) if kernel is not None else ("",)


def became(expr: Expr, a: Side, b: Side, descent: Descent) -> Sentence:
    """Return what became of an expression of A that B does not have; an empty text where it is unknown."""
    what = _what(expr) if isinstance(expr, Call) else "it"
    if constants := descent.constants(expr):
        return "In B, the result of {0} is a constant, in {1}.", what, _place(b, constants[0])
    if hosts := descent.hosts(expr):
        return "In B, {0} is part of {1}.", what, _place(b, hosts[0])
    if parts := descent.parts(expr):
        return "In B, {0} is computed by {1}.", what, _listed(parts)
    return ("",)


def _place(side: Side, expr: Expr) -> str:
    """Return the name of the value in whose row an expression is, and its operator."""
    row = side.program.row(expr)
    value = side.program.defines(row) if row >= 0 else None
    if value is None:
        return _what(expr)
    name = side.program.name(value)
    return f"{name} = {_what(value)}" if name else _what(value)


def _listed(calls: Sequence[Call]) -> str:
    times = Counter(call.op.name for call in calls if isinstance(call.op, Op))
    words = [name if number == 1 else f"{number} × {name}" for name, number in times.most_common()]
    more = [f"{len(words) - MOST_NAMED} more"] if len(words) > MOST_NAMED else []
    return ", ".join([*words[:MOST_NAMED], *more])


def _kernel(pairs: Sequence[Pair], a: Side, b: Side) -> Sentence | None:
    """Return the sentence about rows around operators: of a kernel that begins there, or else of its call."""
    for pair in pairs:
        side, row = (b, pair.b) if pair.fate == Fate.ADDED else (a, pair.a)
        expr = side.program.defines(row) if pair.fate in (Fate.ADDED, Fate.REMOVED) else None
        if isinstance(expr, Function) and expr in side.kernels.number:
            number = side.kernels.number[expr]
            operators = list(side.kernels.operators(number))
            where = "B" if side is b else "A"
            if len(operators) < 2:
                said = f"In {where}, {{0}} alone is kernel {number}."
            else:
                said = f"In {where}, {len(operators):,} operators are fused into kernel {number}: {{0}}."
            return said, _listed(operators)
    for pair in pairs:
        side, row = (b, pair.b) if pair.fate == Fate.ADDED else (a, pair.a)
        expr = side.program.defines(row) if pair.fate in (Fate.ADDED, Fate.REMOVED) else None
        if isinstance(expr, Call) and expr in side.kernels.calls:
            number = side.kernels.number[side.kernels.calls[expr]]
            return f"In {'B' if side is b else 'A'}, {{0}} is the call of kernel {number}.", _row(side, row)
    return None


def _differing(pair: Pair, a: Side, b: Side) -> Sentence:
    """Return what differs between two rows."""
    if pair.fate == Fate.MOVED:
        return "{0} is at another place in B.", _row(b, pair.b)
    if pair.fate in (Fate.ADDED, Fate.REMOVED):
        side, row = (b, pair.b) if pair.fate == Fate.ADDED else (a, pair.a)
        return f"Only in {'B' if pair.fate == Fate.ADDED else 'A'}: {{0}}.", _row(side, row)
    mine, other = b.program.defines(pair.b), a.program.defines(pair.a)
    if mine is None or other is None:
        return "A has {0}, B has {1}.", _row(a, pair.a), _row(b, pair.b)
    name = b.program.name(mine) or a.program.name(other) or "the result"
    parts: list[tuple[str, str, str]] = []
    if pair.differs & Differs.OPERATOR:
        parts.append(("is", _what(other), _what(mine)))
    if pair.differs & Differs.ATTRIBUTES:
        old, new = attributes(other), attributes(mine)
        parts += [
            (f"has `{_braced(key)}` =", str(old.get(key, "none")), str(new.get(key, "none")))
            for key in dict.fromkeys((*old, *new))
            if old.get(key) != new.get(key)
        ][:2]
    if pair.differs & Differs.TYPE:
        parts.append(("has the type", _type(a, other), _type(b, mine)))
    if pair.differs & Differs.OPERANDS and not parts:
        return "{0} has other operands: {1} in A, {2} in B.", name, _row(a, pair.a), _row(b, pair.b)
    if not parts:
        return "{0} has another value in B.", name
    template, arguments = [], [name]
    for verb, left, right in parts[:2]:
        at = len(arguments)
        template.append(f"{verb} {{{at}}} in A, {{{at + 1}}} in B")
        arguments += [_cut(left), _cut(right)]
    return "{0} " + "; ".join(template) + ".", *arguments


def several(kind: DifferenceKind, pairs: Sequence[Pair], a: Side, b: Side, descent: Descent) -> Sentence:
    """Return the sentence about adjacent pairs of rows that differ."""
    if len(pairs) == 1:
        return one(pairs[0], a, b, descent)
    if kind == DifferenceKind.TYPES:
        template, *arguments = _differing(pairs[0], a, b)
        return f"The types of {len(pairs):,} rows differ. {template}", *arguments
    removed = sum(pair.fate == Fate.REMOVED for pair in pairs)
    added = sum(pair.fate == Fate.ADDED for pair in pairs)
    changed = len(pairs) - removed - added
    counts = [(changed, "differ" if changed > 1 else "differs"), (removed, "only in A"), (added, "only in B")]
    parts = [(number, word) for number, word in counts if number]
    if len(parts) > 1:
        said = f"{len(pairs):,} adjacent rows: {', '.join(f'{number:,} {word}' for number, word in parts)}."
    else:
        said = f"{len(pairs):,} adjacent rows {'' if changed else 'are '}{parts[0][1]}."
    if (kernel := _kernel(pairs, a, b)) is not None:
        return f"{kernel[0]}\n{said}", *kernel[1:]
    lists = [(word, _operators(pairs, a, b, fate)) for fate, word in _ONE_SIDE]
    calls = [(word, text) for word, text in lists if text]
    if calls and not any(pair.differs & _OWN for pair in pairs):
        listed = "; ".join(f"{word}: {{{number}}}" for number, (word, _) in enumerate(calls))
        texts = [text for _, text in calls]
        gone = [a.program.defines(pair.a) for pair in pairs if pair.fate == Fate.REMOVED]
        sentences = [became(expr, a, b, descent) for expr in gone if isinstance(expr, Call)]
        more, *others = next((sentence for sentence in sentences if sentence[0]), ("",))
        more = more.format(*(f"{{{len(texts) + k}}}" for k in range(len(others))))
        return f"{said}\n{listed[:1].upper()}{listed[1:]}. {more}".rstrip(), *texts, *others
    template, *arguments = _differing(_telling(pairs, a, b), a, b)
    return f"{said}\n{template}", *arguments


def _operators(pairs: Sequence[Pair], a: Side, b: Side, fate: Fate) -> str:
    """Return the operators that the rows of one program call, with how often."""
    side, own = (a, "a") if fate == Fate.REMOVED else (b, "b")
    exprs = [side.program.defines(getattr(pair, own)) for pair in pairs if pair.fate == fate]
    return _listed([expr for expr in exprs if isinstance(expr, Call)])


def _telling(pairs: Sequence[Pair], a: Side, b: Side) -> Pair:
    """Return the pair that the sentence about all of them names: one that changed, else one that computes."""

    def rank(pair: Pair) -> int:
        sides = [(side, row) for side, row in ((a, pair.a), (b, pair.b)) if row >= 0]
        computes = any(isinstance(side.program.defines(row), Call) for side, row in sides)
        return 4 * (not pair.differs & _OWN) + 2 * (pair.fate != Fate.REWRITTEN) + (not computes)

    return min(pairs, key=rank)


def _row(side: Side, row: int) -> str:
    return _cut(side.program.source[row].text.rstrip(",;"))


def _what(expr: Expr) -> str:
    if isinstance(expr, Call):
        return expr.op.name if isinstance(expr.op, Op) else "a call"
    return type(expr).__name__.lower()


def _type(side: Side, expr: Expr) -> str:
    if isinstance(expr, Var):
        return str(expr.type_annotation)
    if isinstance(expr, Function):
        return str(expr.ret_type)
    return side.type(expr) or "unknown"


def _cut(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= LONGEST else flat[: LONGEST - 1] + "…"


def _braced(text: str) -> str:
    """Escape a text inside a template."""
    return text.replace("{", "{{").replace("}", "}}").replace("`", "'")
