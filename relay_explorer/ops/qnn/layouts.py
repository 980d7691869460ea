"""Layout rules of quantized operators: those of the plain operators, with scales and zero points beside the
data. These are numbers or vectors of channels, which no layout of the data changes.
"""

from __future__ import annotations

from collections.abc import Callable

from ...ir.types import TensorType, Type
from ..layouts.layout import Answer, InferCorrectLayoutOutput, Layout, LayoutRule, Question, moved
from .parameters import is_single

_CHANNELS = Layout("C")


def _parameters(count: int) -> list[Layout]:
    return [_CHANNELS] * count


def _single(type_: Type) -> bool:
    return isinstance(type_, TensorType) and is_single(type_)


def per_channel(question: Question) -> Answer:
    """Let the result follow the data, and update `axis`. Where parameters are vectors, their axis must not be
    split into blocks.
    """
    old, attrs = question.old[0], question.attrs
    assert attrs is not None
    if old is None:
        return None
    data, count = old, len(question.old) - 1
    if question.new is not None:
        data = question.new[0]
        axis = moved(attrs["axis"], old, data)
        if axis is not None:
            attrs = attrs.replace(axis=axis)
        elif not all(_single(type_) for type_ in question.types[1:]):
            return None
    return InferCorrectLayoutOutput([data, *_parameters(count)], [data], attrs)


def beside(rule: LayoutRule, operands: int = 1) -> LayoutRule:
    """Make a rule from that of a plain operator, whose operands come first, before scales and zero points."""

    def with_parameters(question: Question) -> Answer:
        plain = question._replace(
            new=None if question.new is None else question.new[:operands],
            old=question.old[:operands],
            types=question.types[:operands],
        )
        answer = rule(plain)
        if answer is None:
            return None
        inputs = [*answer.input_layouts, *_parameters(len(question.old) - operands)]
        return answer._replace(input_layouts=inputs)

    return with_parameters


def unvarying(rule: LayoutRule) -> LayoutRule:
    """Make a rule that holds where all scales and zero points are single numbers; where one is a vector, the
    operator keeps its layout.
    """
    extended = beside(rule, 2)

    def checked(question: Question) -> Answer:
        if question.new is None or all(_single(type_) for type_ in question.types[2:]):
            return extended(question)
        return None

    return checked


def fields_first(rule: Callable[[Question], Answer]) -> LayoutRule:
    """Make a rule from that of an operator of one tuple: the fields come first, then the scales and zero
    points of each, and those of the result.
    """

    def with_parameters(question: Question) -> Answer:
        fields = (len(question.old) - 2) // 3
        return beside(rule, fields)(question)

    return with_parameters
