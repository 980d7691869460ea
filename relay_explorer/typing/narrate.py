"""Write the sentences about inference. A sentence is a template with its arguments; the arguments are names,
types and operators, and are set in code font.
"""

from __future__ import annotations

from collections.abc import Callable

from ..ir import adt
from ..ir.expr import (
    Call,
    Constant,
    Expr,
    Function,
    GlobalVar,
    If,
    Let,
    RefCreate,
    RefRead,
    RefWrite,
    Tuple,
    TupleGetItem,
    Var,
)
from ..ir.op import Op
from ..ir.show import ordinal, show_type
from ..ir.types import IncompleteType, RefType, TensorType, Type
from .events import Annotated, FunctionEntered, InferenceEvent, Reason, Refused, Started, Typed, Unifying

Sentence = tuple[str, ...]


def plain(sentence: Sentence) -> str:
    """Convert a sentence to text, with arguments between backquotes."""
    return sentence[0].replace("**", "").format(*(f"`{a}`" for a in sentence[1:]))


def label(expr: Expr | None) -> str:
    """Return a short name for an expression: `%x`, `nn.dense(…)`, `@f(…)`."""
    match expr:
        case Var():
            return f"%{expr.name_hint}"
        case GlobalVar():
            return f"@{expr.name_hint}"
        case adt.Constructor():
            return expr.name_hint
        case Op():
            return expr.name
        case Call():
            return (
                f"{label(expr.op)}(…)"
                if expr.args or not isinstance(expr.op, adt.Constructor)
                else label(expr.op)
            )
        case TupleGetItem():
            return f"{label(expr.tuple_value)}.{expr.index}"
        case Constant():
            return "a constant" if expr.data.shape else str(expr.data.item())
        case Let():
            return label(expr.body)
        case Tuple():
            return (
                f"({', '.join(label(f) for f in expr.fields[:3])}{', …' * (len(expr.fields) > 3)})"
                if expr.fields
                else "()"
            )
        case Function():
            return "fn (…)"
        case If():
            return "if (…)"
        case RefCreate():
            return f"ref({label(expr.value)})"
        case RefRead():
            return f"ref_read({label(expr.ref)})"
        case RefWrite():
            return f"ref_write({label(expr.ref)}, {label(expr.value)})"
        case adt.Match():
            return f"match ({label(expr.data)})"
    return type(expr).__name__.lower()


def callee_name(callee: Expr) -> str:
    """Return how a message refers to the function that a call calls."""
    if isinstance(callee, GlobalVar):
        return f"`@{callee.name_hint}`"
    if isinstance(callee, adt.Constructor):
        return f"the constructor `{callee.name_hint}`"
    if isinstance(callee, Var):
        return f"`%{callee.name_hint}`"
    return "the called value"


def cause(event: InferenceEvent, resolve: Callable[[Type], Type]) -> Sentence | None:
    """Explain how a step determined a type, as a link in a chain."""
    if isinstance(event, Typed):
        type_ = resolve(event.type)
        fresh = isinstance(event.type, IncompleteType)  # solved later, by the step that explains why
        return None if fresh or isinstance(type_, IncompleteType) else _given(event.expr, type_)
    if isinstance(event, Started):
        output = resolve(event.relation.args[-1])
        return "the result of {0} is {1}", label(event.relation.call), show_type(output)
    if isinstance(event, Unifying):
        return because(event.reason, show_type(resolve(event.left)))
    return None


def _given(expr: Expr, type_: Type) -> Sentence:
    shown = show_type(type_)
    if isinstance(expr, Var) and expr.type_annotation is not None:
        return "{0} is annotated {1}", label(expr), shown
    if isinstance(expr, Tuple):
        return "{0} is a tuple of type {1}", label(expr), shown
    return "{0} has type {1}", label(expr), shown


def because(reason: Reason, type_: str) -> Sentence:
    """Explain why a unification determined `type_`."""
    left, right = label(reason.left), label(reason.right)
    match reason.kind:
        case "argument":
            return "{0} is called with {1}, so both are {2}", left, right, type_
        case "callee":
            return "{0} is called, so it is {1}", left, type_
        case "let" if isinstance(reason.left, Var) and reason.left.type_annotation is not None:
            return "{0} is declared {1}", left, type_
        case "let":
            return "{0} is bound to {1}, so it is {2}", left, right, type_
        case "return" if isinstance(reason.left, Function) and reason.left.ret_type is not None:
            return "the function is declared to return {0}", type_
        case "return":
            return "the function returns {0}, so its result is {1}", right, type_
        case "branches" | "clause":
            return "the branches must agree, so both are {0}", type_
        case "condition":
            return "a condition is a {0}", type_
        case "pattern" if isinstance(reason.left, adt.Constructor):
            return "{0} is a field of the constructor {1}, which is declared with {2}", right, left, type_
        case "pattern" if reason.left is None:
            return "{0} is a part of the matched tuple, so it is {1}", right, type_
        case "pattern":
            return "{0} is matched by a pattern, so it is {1}", left, type_
        case "ref":
            return "{0} is used as a reference, so it is {1}", left, type_
    return "it must be {0}", type_


def refusal(event: Refused) -> tuple[Sentence, list[str]]:
    """Return the sentence for a failure, and suggestions of what to try."""
    if event.relation is not None or event.reason is None:
        name = getattr(getattr(event.at, "op", None), "name", None)
        if (
            event.relation is not None
            and name is not None
            and not event.message.startswith("the program does not say")
        ):
            return ("{0}: " + _escape(event.message), name), list(event.help)
        return (_escape(event.message),), list(event.help)
    return _disagreement(event, event.reason), [*event.help, *_advice(event)]


def _escape(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _disagreement(event: Refused, reason: Reason) -> Sentence:
    assert event.left is not None
    assert event.right is not None
    left, right = show_type(event.left), show_type(event.right)
    detail = _escape(f" ({event.message})" if event.message else "")
    match reason.kind:
        case "argument":
            return (
                f"the {ordinal(reason.number)} argument of {{0}} must be {{1}}, but {{2}} is {{3}}{detail}",
                label(reason.left),
                left,
                label(reason.right),
                right,
            )
        case "callee" if isinstance(event.left, IncompleteType):
            return f"{{0}} cannot be called like this{detail}", label(reason.left)
        case "callee":
            return f"{{0}} is called as {{2}}, but its type is {{1}}{detail}", label(reason.left), left, right
        case "let":
            return (
                f"{{0}} is declared {{1}}, but is bound to {{2}}, which is {{3}}{detail}",
                label(reason.left),
                left,
                label(reason.right),
                right,
            )
        case "return":
            return (
                f"the function is declared to return {{0}}, but its body {{1}} has type {{2}}{detail}",
                left,
                label(reason.right),
                right,
            )
        case "branches":
            return (
                f"the branches of an {{0}} must have the same type: one is {{1}}, the other {{2}}{detail}",
                "if",
                left,
                right,
            )
        case "condition":
            return (
                f"the condition of an {{0}} must be a scalar {{1}}, but {{2}} is {{3}}{detail}",
                "if",
                left,
                label(reason.right),
                right,
            )
        case "clause":
            return (
                f"the clauses of a {{0}} must have the same type: clause {reason.number + 1} is {{2}}, "
                f"those before it are {{1}}{detail}",
                "match",
                left,
                right,
            )
        case "pattern":
            return (
                f"the pattern of clause {reason.number + 1} matches {{1}}, "
                f"but the matched value is {{0}}{detail}",
                left,
                right,
            )
        case "ref" if not isinstance(event.left, RefType):
            return f"{{0}} is used as a reference, but is {{1}}{detail}", label(reason.left), left
        case "ref":
            return (
                f"{{0}} must be a reference that matches {{2}}, but is {{1}}{detail}",
                label(reason.left),
                left,
                right,
            )
    return f"{{0}} and {{1}} disagree{detail}", left, right


def _advice(event: Refused) -> list[str]:
    a, b = event.left, event.right
    if isinstance(a, TensorType) and isinstance(b, TensorType):
        if a.dtype != b.dtype and a.shape == b.shape:
            return [f'convert one of them: relay.cast(…, "{a.dtype}")']
        if a.dtype == b.dtype and len(a.shape) != len(b.shape):
            return ["give both the same rank: relay.reshape, relay.squeeze or relay.expand_dims"]
        if (
            a.dtype == b.dtype
            and sorted(map(str, a.shape)) == sorted(map(str, b.shape))
            and a.shape != b.shape
        ):
            return ["the same dimensions in another order: relay.transpose"]
    if "contain itself" in event.message:
        return [
            "a function can be passed to itself only inside a declared type: type F { Wrap(fn (F) -> …) }"
        ]
    kind = event.reason.kind if event.reason is not None else ""
    if kind == "ref" and not isinstance(a, RefType):
        return ["only references, which ref(…) creates, can be read and written"]
    advice = _ADVICE.get(kind)
    return [advice] if advice is not None else []


#: What to try where the two types suggest nothing better, by the kind of typing rule.
_ADVICE = {
    "branches": "what follows must work for either branch: give both the same type",
    "clause": "what follows must work for any clause: give all the same type",
    "condition": "a comparison returns a bool (relay.less); relay.all and relay.any reduce many to one",
    "return": "change the body, or the result type that is declared",
    "let": "change the value, or the type that is declared",
    "ref": "a reference keeps the type of its first content: create another one with ref(…)",
}


def opening(event: InferenceEvent) -> Sentence | None:
    """Return the sentence for entering a function, or for the end of inference."""
    if isinstance(event, FunctionEntered):
        return (
            "Inference begins with {0}.\n"
            "Generate: walk the program, give every expression a type, and collect the constraints.",
            f"@{event.name}",
        )
    if isinstance(event, Annotated):
        annotate = "\nAnnotate: inference writes the types into the program."
        if "main" in event.functions:
            return ("The queue is empty, and every type is known. **The program is well typed.**" + annotate,)
        names = ", ".join(f"@{f}" for f in event.functions)
        return "The queue is empty, and every type of {0} is known." + annotate, names
    return None
