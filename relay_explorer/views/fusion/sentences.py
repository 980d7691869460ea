"""Sentences of the fusion view: each decision of the pass as a question, its answer, and the reason."""

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
        "element-wise, but an input may be broadcast: one element of it is used in several places",
    ),
    PatternWord(
        OpPattern.INJECTIVE,
        "I",
        "injective",
        "each element of the result is one element of an input, at another index",
    ),
    PatternWord(
        OpPattern.COMM_REDUCE, "R", "reduction", "each element of the result needs many elements of the input"
    ),
    PatternWord(
        OpPattern.OUT_ELEMWISE_FUSABLE,
        "C",
        "complex-out-fusable",
        "a convolution, for example: element-wise work on its result can be done before it is stored",
    ),
    PatternWord(OpPattern.TUPLE, "T", "tuple", "several values grouped into one"),
    PatternWord(
        OpPattern.OPAQUE, "O", "opaque", "the compiler does not know how it computes, so it is never fused"
    ),
)
WORDS: dict[int, str] = {word.number: word.name for word in PATTERNS}
_SOURCE = "relay_explorer/transform/fuse_ops/groups.py"
_IS: dict[int, str] = {
    OpPattern.ELEMWISE: "is element-wise",
    OpPattern.BROADCAST: "broadcasts an input",
    OpPattern.INJECTIVE: "moves elements to other indices",
    OpPattern.COMM_REDUCE: "is a reduction",
    OpPattern.OUT_ELEMWISE_FUSABLE: "needs many input elements for each of its own",
    OpPattern.TUPLE: "is a tuple",
    OpPattern.OPAQUE: "is opaque",
}


@dataclass(frozen=True)
class Narrator:
    """Writes the sentences about decisions. `name` returns the name of a node, `pattern` its pattern, and
    `user(n)` the node on the paths from n to its post-dominator whose use of its input is the most opaque.
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
                text = (
                    "The result of {0} is also used outside the kernel, so it must be stored. A "
                    "kernel ends here."
                )
            else:
                text = "The paths from {0} never meet again, so its result is stored."
            return (text, node)
        target = self.name(decision.target)
        answer, reason = ("Yes", self._yes(decision)) if decision.fused else ("No", self._no(decision))
        return (
            f"Can {{0}} be fused into the kernel of {{1}}? **{answer}.** {reason[0]}",
            node,
            target,
            *reason[1:],
        )

    def _yes(self, decision: Decision) -> Sentence:
        reason = {
            "out-fusable": (
                "Everything between them is element-wise or broadcast, so it is applied to the elements that "
                "{0} has just computed, before they are stored."
            ),
            "broadcast": "Each of its elements is computed where {1} needs it, so none is stored.",
            "injective": "{1} reads each of its elements at one index, so it is computed there "
            "and not stored.",
            "into a tuple": "{1} is a tuple inside a kernel already, so {0} is computed in that kernel.",
        }[decision.rule]
        more = len(decision.merged) - 1
        along = (
            f" {more} more {'node' if more == 1 else 'nodes'} on the paths "
            f"{'is' if more == 1 else 'are'} fused too."
            if more > 0
            else ""
        )
        return (reason + along,)

    def _no(self, decision: Decision) -> Sentence:
        """Give the reason for a refusal; its arguments begin at {2}."""
        if decision.obstacle is not None:
            return self._obstacle(decision, decision.obstacle)
        match decision.rule:
            case "not element-wise":
                user = self.user(decision.node)
                text = (
                    f"{{2}} {_IS[self.pattern(user)]}, so it reads elements of {{0}} other than the one just "
                    "computed."
                )
                return (text, self.name(user))
            case "opaque use":
                user = self.user(decision.node)
                return (
                    f"{{2}} {_IS[self.pattern(user)]}, so all of {{0}}'s output must be computed "
                    "before it begins.",
                    self.name(user),
                )
            case "reduction":
                return (
                    "{0} is a reduction: its result is complete only after all of the input has "
                    "been read, so "
                    "the operators after it need a loop of their own.",
                )
            case "tuple":
                return ("{1} only groups values and computes nothing, so there is no loop to fuse with.",)
            case "too deep":
                return ("The kernel would have more than {2} nodes.", str(self.limits.depth))
        return ("The kernel would take more than {2} arguments.", str(self.limits.arguments))

    def _obstacle(self, decision: Decision, obstacle: int) -> Sentence:
        """Name the node on the paths that prevents the merge, by its own pattern or by that of its kernel."""
        own = self.pattern(obstacle)
        allowed = {
            "out-fusable": OpPattern.BROADCAST,
            "broadcast": OpPattern.OUT_ELEMWISE_FUSABLE
            if obstacle == decision.target
            else OpPattern.INJECTIVE,
        }.get(decision.rule.partition(":")[0], OpPattern.INJECTIVE)
        what = {
            "out-fusable": "Only element-wise and broadcast operators can be fused after {0}",
            "broadcast": "It can be fused into injective or simpler operators, reductions and convolutions"
            if obstacle == decision.target
            else "Only element-wise, broadcast and injective operators may lie between them",
            "injective": "Only element-wise, broadcast and injective operators may lie between them",
            "into a tuple": "Only element-wise, broadcast and injective operators may lie between "
            "it and a tuple",
        }[decision.rule.partition(":")[0]]
        why = _IS[own] if own > allowed else "is in a kernel that does more than that"
        if obstacle == decision.target:
            return (f"{what}; {{1}} {why}.",)
        return (f"{what}; {{2}} on the path {why}.", self.name(obstacle))


def rule(decision: Decision) -> Sentence:
    """Name the rule behind a decision, and the source file that implements it."""
    return (f"rule: {RULES[decision.rule.partition(':')[0]]} · phase {decision.phase + 1} · `{_SOURCE}`",)
