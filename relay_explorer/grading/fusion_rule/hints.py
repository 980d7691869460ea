"""The hints for wrong answers to the exercise `fusion_rule`."""

from __future__ import annotations

from typing import NamedTuple

from ...ir.op import OpPattern

ELEMWISE, BROADCAST, INJECTIVE = OpPattern.ELEMWISE, OpPattern.BROADCAST, OpPattern.INJECTIVE
REDUCTION, OUT, TUPLE = OpPattern.COMM_REDUCE, OpPattern.OUT_ELEMWISE_FUSABLE, OpPattern.TUPLE


class Situation(NamedTuple):
    """The inputs of the rule: the phase; the pattern of the node's kernel; the most opaque pattern of a use
    on the paths, of the kernels between, and of the post-dominator's kernel; the patterns of the
    post-dominator itself and of the nodes between themselves.
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
    """Explain why the answer is `right`, if another one was given."""
    hint_text = _yes(s) if right else _no(s)
    if s.phase < 3 and allowed(s._replace(into=s.end, between=s.nodes_between)) is not right:
        # With the nodes' own patterns instead of their kernels', the rule gives the wrong answer, too.
        hint_text += (
            " What counts is not a node's own pattern, but the pattern of the kernel that "
            "currently contains it: use `flow.kernel`, for the post-dominator and for all "
            "nodes between."
        )
    return hint_text


def _yes(s: Situation) -> str:
    if s.phase == 3:
        return (
            "In phase 3, an injective or simpler kernel fuses with a tuple that is already in an "
            "injective kernel."
        )
    if s.own == OUT:
        return (
            "Every use of its result on the paths is element-wise, and everything between "
            "and at the end is broadcast or simpler. These operators can be applied before "
            "the result is stored."
        )
    if s.own <= BROADCAST:
        if s.into == REDUCTION:
            return (
                "Element-wise and broadcast operators fuse into a reduction: their elements "
                "are computed as they are accumulated."
            )
        if s.into == OUT:
            return (
                "The post-dominator's kernel may already contain a convolution or another "
                "complex-out-fusable operator. Element-wise operators that end there can "
                "still fuse with it."
            )
        return (
            "Element-wise and broadcast operators fuse if every kernel on the paths is injective or simpler."
        )
    return "In phase 2, injective operators fuse with injective or simpler ones, and so do tuples."


def _no(s: Situation) -> str:
    if s.own == OpPattern.OPAQUE:
        return "Nothing is known about an opaque operator, so it is never fused."
    if s.phase == 3:
        if s.end != TUPLE:
            return "Phase 3 only considers post-dominators that are tuples."
        if s.own > INJECTIVE:
            return "Only injective and simpler operators are computed inside a tuple's kernel."
        if s.into == TUPLE:
            return (
                "A tuple alone computes nothing. In phase 3 it must already be in a kernel, "
                "whose pattern is injective or simpler."
            )
        return "In phase 3, everything between and the tuple's kernel must be injective or simpler."
    if s.end == TUPLE:
        return "A tuple computes nothing, so nothing fuses with one before phase 3."
    if s.own == REDUCTION:
        return "A reduction ends a kernel: its result is known only when all of its input has been read."
    if s.own == OUT:
        if s.most > ELEMWISE:
            return (
                "After a convolution or another complex-out-fusable operator, every use on "
                "the paths must be element-wise: the element that was just computed is the "
                "only one available."
            )
        return (
            "After a convolution or another complex-out-fusable operator, a kernel includes "
            "nothing more opaque than broadcast."
        )
    if s.own <= BROADCAST:
        if s.most > REDUCTION:
            return (
                "A use on a path needs the whole value before it can begin. Element-wise "
                "operators fuse along injective uses and reductions only."
            )
        if s.between > INJECTIVE:
            return "A reduction may stand at the end of a path, not inside it: look at the kernels between."
        return "The pattern of the post-dominator's kernel may be at most complex-out-fusable."
    if s.phase == 1:
        return "Injective operators and tuples wait for phase 2: convolutions come first."
    if s.between > INJECTIVE:
        return "One of the paths to the post-dominator contains a kernel that is not injective or simpler."
    return (
        "Injective operators only fuse with injective or simpler ones, not with a reduction or a convolution."
    )


def paths_hint(value: object, right: tuple[set[int], int], node: int, end: int) -> str:
    """Explain what is wrong with an answer to `inspect_paths`; an empty string if nothing is."""
    if not isinstance(value, tuple) or len(value) != 2:
        return "Return a pair: the nodes between, and the most opaque pattern of a use. Is there a `return`?"
    between, most = value
    if not isinstance(between, (set, frozenset, list, tuple)) or not all(isinstance(n, int) for n in between):
        return "The nodes between are a set of numbers."
    result = set(between)
    if result == right[0] and most == right[1]:
        return ""
    if node in result:
        return "The node itself does not lie between it and its post-dominator."
    if end in result:
        return "The paths end at the post-dominator, so it is not one of the nodes between."
    if result - right[0]:
        return "The traversal goes too far: the nodes after the post-dominator are not on the paths."
    if right[0] - result:
        return "Some nodes are missing: a node may have several uses, and each of them begins a path."
    if not isinstance(most, int) or most < right[1]:
        return (
            "The result is the largest pattern of all uses on all paths, including the uses by "
            "the post-dominator."
        )
    return (
        "Only the patterns of uses count here, the second of each pair, and not the patterns of "
        "the nodes themselves."
    )
