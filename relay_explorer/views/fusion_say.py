"""What the fusion explorer says: each decision of the pass as a question, its answer, and the reason."""

from __future__ import annotations

from collections.abc import Callable

from ..ir.op import OpPattern
from ..transform.fusion_groups import Decision, Limits
from .format import Sentence
from .fusion_format import PatternWord

PATTERNS = (
    PatternWord(OpPattern.ELEMWISE, "E", "element-wise", "each element of the result comes from the same element of the inputs"),
    PatternWord(OpPattern.BROADCAST, "B", "broadcast", "element-wise, but an input may be stretched: one element of it is used in several places"),
    PatternWord(OpPattern.INJECTIVE, "I", "injective", "each element of the result is one element of an input, taken from elsewhere"),
    PatternWord(OpPattern.COMM_REDUCE, "R", "reduction", "each element of the result needs many elements of the input"),
    PatternWord(OpPattern.OUT_ELEMWISE_FUSABLE, "C", "out-fusable", "a convolution or the like: element-wise work on its result can be done before it is stored"),
    PatternWord(OpPattern.TUPLE, "T", "tuple", "several values as one"),
    PatternWord(OpPattern.OPAQUE, "O", "opaque", "nothing is known of how it computes: it is fused with nothing"),
)  # fmt: skip
WORDS = {word.number: word.name for word in PATTERNS}
_SOURCE = "relay_explorer/transform/fusion_groups.py"
Name = Callable[[int], str]  # what the reader calls a node
Pattern = Callable[[int], int]  # of a node


def decision(made: Decision, name: Name, pattern: Pattern, limits: Limits, on_the_way: int) -> Sentence:
    """A decision in a sentence. `on_the_way` is the most opaque pattern of a use up to the target."""
    node = name(made.node)
    if made.target is None:
        if made.rule == "held":
            return (
                "{0} must exist as a value: something uses it that is no kernel. A kernel ends here.",
                node,
            )
        return ("The uses of {0} never meet again: its value is stored.", node)
    target = name(made.target)
    if made.fused:
        return _yes(made, node, target, pattern)
    reason = _no(made, node, target, name, pattern, limits, on_the_way)
    return (f"May {{0}} be computed in the kernel of {{1}}? **No.** {reason[0]}", node, target, *reason[1:])


def _yes(made: Decision, node: str, target: str, pattern: Pattern) -> Sentence:
    reasons = {
        "out-fusable": "All that is done with its result on the way is element-wise or broadcast: it is done on the numbers that {0} has just computed, before they are stored.",
        "broadcast": "Each of its elements is computed where {1} needs it.",
        "injective": "{1} takes each element from one place of it: it is computed there, and not stored.",
        "into a tuple": "{1} is a tuple inside a kernel already: {0} is computed in place.",
    }  # fmt: skip
    more = len(made.merged) - 1
    along = f" {more} more on the way {'comes' if more == 1 else 'come'} along." if more > 0 else ""
    return (
        f"May {{0}} be computed in the kernel of {{1}}? **Yes.** {reasons[made.rule]}{along}",
        node,
        target,
    )


def _no(
    made: Decision, node: str, target: str, name: Name, pattern: Pattern, limits: Limits, on_the_way: int
) -> Sentence:
    """The reason of a refusal; its arguments begin at {2}."""
    if made.obstacle is not None:
        kind = WORDS[pattern(made.obstacle)]
        what = {
            "out-fusable": "After {0}, a kernel takes in only element-wise and broadcast work;",
            "broadcast": "It can be computed again wherever it is needed, up to a reduction or a convolution, but not past one;",
            "injective": "Only element-wise, broadcast and injective work may be on the way;",
            "into a tuple": "Only element-wise, broadcast and injective work may be on the way into a tuple;",
        }[made.rule.partition(":")[0]]  # fmt: skip
        if made.obstacle == made.target:
            return (f"{what} {{1}} is {_article(kind)} {{2}}, or in a kernel with one.", kind)
        return (
            f"{what} {{2}} is in the way, and is {_article(kind)} {{3}}, or in a kernel with one.",
            name(made.obstacle),
            kind,
        )
    return {
        "not element-wise": (
            "{1} needs other elements of {0}'s result than the one that has just been computed: a use on the way is {2}.",
            WORDS.get(on_the_way, "opaque"),
        ),
        "opaque use": ("A use of {0} on the way is {2}: its whole value must exist first.", WORDS.get(on_the_way, "opaque")),
        "reduction": ("{0} is a reduction: its sum is known only when all has been read, so what follows is a loop of its own.",),
        "tuple": ("{1} puts values together and computes nothing: there is no loop to join.",),
        "too deep": ("The kernel would have more than {2} nodes.", str(limits.depth)),
        "too many arguments": ("The kernel would take more than {2} arguments.", str(limits.arguments)),
    }[made.rule]  # fmt: skip


def rule(made: Decision) -> Sentence:
    """The rule behind a decision, and where it stands in the source."""
    texts = {
        "out-fusable": "everything between an out-fusable operator and its post-dominator must be broadcast or simpler",
        "not element-wise": "an out-fusable operator is fused only along element-wise uses",
        "broadcast": "element-wise and broadcast operators join what comes next, a reduction or a convolution included",
        "opaque use": "element-wise and broadcast operators join along injective uses and reductions only",
        "injective": "injective operators join injective ones, once convolutions have what they need",
        "into a tuple": "injective operators join a tuple that is in a kernel already",
        "reduction": "a reduction ends a kernel",
        "tuple": "nothing joins a tuple before the tuple itself is in a kernel",
        "too deep": "relay.FuseOps.max_depth", "too many arguments": "relay.max_function_args",
        "held": "a value that is used outside of kernels is the result of one",
        "no meeting": "only a post-dominator is looked at: where all uses meet",
    }  # fmt: skip
    return (f"rule: {texts[made.rule.partition(':')[0]]} · phase {made.phase + 1} · `{_SOURCE}`",)


def _article(word: str) -> str:
    return "an" if word[0] in "aeiou" else "a"
