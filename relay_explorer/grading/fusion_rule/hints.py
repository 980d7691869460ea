"""What feedback says of a wrong answer to the exercise `fusion_rule`."""

from __future__ import annotations

from typing import NamedTuple

from ...ir.op import OpPattern

ELEMWISE, BROADCAST, INJECTIVE = OpPattern.ELEMWISE, OpPattern.BROADCAST, OpPattern.INJECTIVE
REDUCTION, OUT, TUPLE = OpPattern.COMM_REDUCE, OpPattern.OUT_ELEMWISE_FUSABLE, OpPattern.TUPLE


class Situation(NamedTuple):
    """What the rule depends on: the phase; the pattern of the node's kernel; the most opaque pattern of a use
    on the ways; of the kernels between; of the post-dominator's kernel; of the post-dominator itself, and of
    the nodes between themselves.
    """

    phase: int
    own: int
    most: int
    between: int
    into: int
    end: int
    nodes_between: int


def allowed(s: Situation) -> bool:
    """Decide a merge by the rule as the exercise states it."""
    inside = max(s.between, s.into)
    if s.phase == 3:
        return s.own <= INJECTIVE and s.end == TUPLE and inside <= INJECTIVE
    if s.own == OUT:
        return s.phase == 1 and s.most == ELEMWISE and inside <= BROADCAST
    if s.own <= BROADCAST:
        return s.most <= REDUCTION and s.between <= INJECTIVE and s.into <= OUT
    if s.own in (INJECTIVE, TUPLE):
        return s.phase == 2 and inside <= INJECTIVE
    return False


def hint(s: Situation, right: bool) -> str:
    """Why the answer is `right`, where another one was given."""
    hint_text = _yes(s) if right else _no(s)
    if s.phase < 3 and allowed(s._replace(into=s.end, between=s.nodes_between)) is not right:
        # With the nodes' own patterns in place of their kernels', the rule gives the wrong answer, too.
        hint_text += (
            " What counts is not a node's own pattern, but that of the kernel that it is in by now: ask "
            "`flow.kernel`, for the post-dominator and for all nodes between."
        )
    return hint_text


def _yes(s: Situation) -> str:
    if s.phase == 3:
        return "In phase 3, injective work and simpler joins a tuple that is in an injective kernel already."
    if s.own == OUT:
        return (
            "All that is done with its result on the way is element-wise, and everything between and at the "
            "end is broadcast or simpler: it can be done before the result is stored."
        )
    if s.own <= BROADCAST:
        if s.into == REDUCTION:
            return (
                "Element-wise and broadcast work joins a reduction: its elements are computed as they are "
                "added."
            )
        if s.into == OUT:
            return (
                "The post-dominator's kernel may have a convolution or the like in it already: element-wise "
                "work that ends there can still join."
            )
        return "Element-wise and broadcast work joins wherever all on the way is injective or simpler."
    return "In phase 2, injective work joins what is injective or simpler; so does a tuple."


def _no(s: Situation) -> str:
    if s.own == OpPattern.OPAQUE:
        return "Nothing is known of an opaque operator: it is fused with nothing."
    if s.phase == 3:
        if s.end != TUPLE:
            return "Phase 3 is for post-dominators that are tuples, and for nothing else."
        if s.own > INJECTIVE:
            return "Only injective work and simpler is computed inside of a tuple's kernel."
        if s.into == TUPLE:
            return (
                "A tuple that is alone computes nothing: in phase 3 it must be in a kernel already, whose "
                "pattern is injective or simpler."
            )
        return "In phase 3, everything between and the tuple's kernel must be injective or simpler."
    if s.end == TUPLE:
        return "A tuple computes nothing: nothing joins one before phase 3."
    if s.own == REDUCTION:
        return "A reduction ends a kernel: its result is known only when all has been read."
    if s.own == OUT:
        if s.most > ELEMWISE:
            return (
                "After a convolution or the like, every use on the way must be element-wise: the number that "
                "has just been computed is the only one at hand."
            )
        return "After a convolution or the like, a kernel takes in nothing above broadcast."
    if s.own <= BROADCAST:
        if s.most > REDUCTION:
            return (
                "A use on the way needs all of the value before it begins: element-wise work joins along "
                "injective uses and reductions only."
            )
        if s.between > INJECTIVE:
            return "A reduction may stand at the end of the way, not in its middle: look at what is between."
        return "At the end of the way there may be nothing above out-fusable."
    if s.phase == 1:
        return "Injective work and tuples wait for phase 2: convolutions come first."
    if s.between > INJECTIVE:
        return "Of all ways to the post-dominator, one leads through something that is not injective."
    return "Injective work joins only what is injective or simpler, not a reduction or a convolution."


def ways_hint(value: object, right: tuple[set[int], int], node: int, end: int) -> str:
    """Explain what is wrong with an answer to `ways`; an empty string where nothing is."""
    if not isinstance(value, tuple) or len(value) != 2:
        return "Return a pair: the nodes between, and the most opaque pattern of a use. Is there a `return`?"
    between, most = value
    if not isinstance(between, (set, frozenset, list, tuple)) or not all(isinstance(n, int) for n in between):
        return "The nodes between are a set of numbers."
    result = set(between)
    if result == right[0] and most == right[1]:
        return ""
    if node in result:
        return "The node itself is not between it and its post-dominator."
    if end in result:
        return "The post-dominator is where the ways end: it is not between."
    if result - right[0]:
        return "The walk goes too far: what comes after the post-dominator is no longer on the way."
    if right[0] - result:
        return "Some nodes are missing: a node may have several uses, and each of them is a way."
    if not isinstance(most, int) or most < right[1]:
        return "Of all uses on all ways, those into the post-dominator included, the largest pattern counts."
    return "Only the patterns of uses count here, the second of each pair; not what the nodes themselves are."
