"""What the fusion explorer says: each decision of the pass as a question, its answer, and the reason."""

from __future__ import annotations

from collections.abc import Callable

from ...ir.lazy_dataclass import dataclass
from ...ir.op import OpPattern
from ...transform.fuse_ops.groups import RULES, Decision, Limits
from ..format import Sentence
from .format import PatternWord

PATTERNS = (
    PatternWord(
        OpPattern.ELEMWISE,
        "E",
        "element-wise",
        "each element of the result comes from the same element of the inputs",
    ),
    PatternWord(
        OpPattern.BROADCAST,
        "B",
        "broadcast",
        "element-wise, but an input may be stretched: one element of it is used in several places",
    ),
    PatternWord(
        OpPattern.INJECTIVE,
        "I",
        "injective",
        "each element of the result is one element of an input, taken from elsewhere",
    ),
    PatternWord(
        OpPattern.COMM_REDUCE, "R", "reduction", "each element of the result needs many elements of the input"
    ),
    PatternWord(
        OpPattern.OUT_ELEMWISE_FUSABLE,
        "C",
        "out-fusable",
        "a convolution or the like: element-wise work on its result can be done before it is stored",
    ),
    PatternWord(OpPattern.TUPLE, "T", "tuple", "several values as one"),
    PatternWord(
        OpPattern.OPAQUE, "O", "opaque", "nothing is known of how it computes: it is fused with nothing"
    ),
)
WORDS: dict[int, str] = {word.number: word.name for word in PATTERNS}
_SOURCE = "relay_explorer/transform/fuse_ops/groups.py"
_IS: dict[int, str] = {
    OpPattern.ELEMWISE: "is element-wise",
    OpPattern.BROADCAST: "stretches an input",
    OpPattern.INJECTIVE: "moves elements to other places",
    OpPattern.COMM_REDUCE: "is a reduction",
    OpPattern.OUT_ELEMWISE_FUSABLE: "needs many elements for each of its own",
    OpPattern.TUPLE: "is a tuple",
    OpPattern.OPAQUE: "is opaque",
}


@dataclass(frozen=True)
class Speaker:
    """Says decisions. `name` is what the reader calls a node, `pattern` gives its pattern, and `user(n)` the
    node on the way from n to its post-dominator whose use of what comes is the most opaque.
    """

    name: Callable[[int], str]
    pattern: Callable[[int], int]
    user: Callable[[int], int]
    limits: Limits

    def decision(self, decision: Decision) -> Sentence:
        """Describe a decision: the question, the answer, the reason."""
        node = self.name(decision.node)
        if decision.target is None:
            if decision.rule == "held":
                text = "{0} must exist as a value: something uses it that is no kernel. A kernel ends here."
            else:
                text = "The uses of {0} never meet again: its value is stored."
            return (text, node)
        target = self.name(decision.target)
        answer, reason = ("Yes", self._yes(decision)) if decision.fused else ("No", self._no(decision))
        return (
            f"May {{0}} be computed in the kernel of {{1}}? **{answer}.** {reason[0]}",
            node,
            target,
            *reason[1:],
        )

    def _yes(self, decision: Decision) -> Sentence:
        reason = {
            "out-fusable": (
                "All that is done with its result on the way is element-wise or broadcast: it is done on the "
                "numbers that {0} has just computed, before they are stored."
            ),
            "broadcast": "Each of its elements is computed where {1} needs it.",
            "injective": "{1} takes each element from one place of it: it is computed there, and not stored.",
            "into a tuple": "{1} is a tuple inside a kernel already: {0} is computed in place.",
        }[decision.rule]
        more = len(decision.merged) - 1
        along = f" {more} more on the way {'comes' if more == 1 else 'come'} along." if more > 0 else ""
        return (reason + along,)

    def _no(self, decision: Decision) -> Sentence:
        """Give the reason for a refusal; its arguments begin at {2}."""
        if decision.obstacle is not None:
            return self._obstacle(decision, decision.obstacle)
        match decision.rule:
            case "not element-wise":
                user = self.user(decision.node)
                text = (
                    f"{{2}} {_IS[self.pattern(user)]}: it needs other elements of {{0}}'s result than the "
                    "one that has just been computed."
                )
                return (text, self.name(user))
            case "opaque use":
                user = self.user(decision.node)
                return (
                    f"{{2}} {_IS[self.pattern(user)]}: all of {{0}}'s output must be there before it begins.",
                    self.name(user),
                )
            case "reduction":
                return (
                    "{0} is a reduction: its result is known only when all has been read, so what follows is "
                    "a loop of its own.",
                )
            case "tuple":
                return ("{1} puts values together and computes nothing: there is no loop to join.",)
            case "too deep":
                return ("The kernel would have more than {2} nodes.", str(self.limits.depth))
        return ("The kernel would take more than {2} arguments.", str(self.limits.arguments))

    def _obstacle(self, decision: Decision, obstacle: int) -> Sentence:
        """Something on the way does not allow it, by itself or by the kernel that it is in."""
        own = self.pattern(obstacle)
        allowed = {
            "out-fusable": OpPattern.BROADCAST,
            "broadcast": OpPattern.OUT_ELEMWISE_FUSABLE
            if obstacle == decision.target
            else OpPattern.INJECTIVE,
        }.get(decision.rule.partition(":")[0], OpPattern.INJECTIVE)
        what = {
            "out-fusable": "After {0}, a kernel takes in only element-wise and broadcast work",
            "broadcast": "It can be computed again wherever it is needed, up to a reduction or a convolution",
            "injective": "Only element-wise, broadcast and injective work may be on the way",
            "into a tuple": "Only element-wise, broadcast and injective work may be on the way to a tuple",
        }[decision.rule.partition(":")[0]]
        why = _IS[own] if own > allowed else "is in a kernel that does more than that"
        if obstacle == decision.target:
            return (f"{what}; {{1}} {why}.",)
        return (f"{what}; {{2}}, which is in the way, {why}.", self.name(obstacle))


def rule(decision: Decision) -> Sentence:
    """Name the rule behind a decision, and where it stands in the source."""
    return (f"rule: {RULES[decision.rule.partition(':')[0]]} · phase {decision.phase + 1} · `{_SOURCE}`",)


def _article(word: str) -> str:
    return "an" if word[0] in "aeiou" else "a"
