"""The checks of the exercise `dead_code`."""

from __future__ import annotations

import random
from collections.abc import Iterator

from ...analysis.effects import effects
from ...ir.adt import Constructor, Match
from ...ir.equal import difference
from ...ir.expr import Call, Expr, Function, If, Let, RefRead, RefWrite, Tuple, Var, const
from ...ir.module import IRModule
from ...ir.op import Op
from ...ir.walk import children, post_order, rebuild, rewrite_nodes
from ..check import Exercise
from ..fragments import has, main_of, properties, written
from ..pass_checks import PassTask, closed_programs, operators

_LIST = "type List[A] { Cons(A, List[A]), Nil }\n"


def acting(root: Expr) -> set[Expr]:
    """Return the expressions with an observable effect: a write, a call of a function, and any expression
    that contains one. A function that is never called has no effect.
    """
    result: set[Expr] = set()
    for node in post_order(root):
        if _acts(node) or (not isinstance(node, Function) and any(part in result for part in children(node))):
            result.add(node)
    return result


def _acts(node: Expr) -> bool:
    if isinstance(node, Call):
        return not isinstance(node.op, (Op, Constructor))
    return isinstance(node, RefWrite)


def live(root: Expr) -> set[Var]:
    """Return the variables of the `let`s that must stay."""
    acts = acting(root)
    values = {node.var: node.value for node in post_order(root) if isinstance(node, Let)}
    visited: set[Expr] = set()
    pending = [root]
    while pending:
        node = pending.pop()
        if node in visited:
            continue
        visited.add(node)
        if isinstance(node, Let):
            pending += [node.body, node.var] if node.value in acts else [node.body]
        elif isinstance(node, Var):
            pending += [values[node]] if node in values else []
        else:
            pending += children(node)
    return {var for var in values if var in visited}


def swept(function: Function) -> Function:
    """Remove the dead `let`s of a function."""
    remaining = live(function)

    def without(node: Expr, rebuilt: Expr) -> Expr | None:
        return rebuilt.body if isinstance(rebuilt, Let) and rebuilt.var not in remaining else None

    result = rewrite_nodes(function, without)
    assert isinstance(result, Function)
    return result


def _goal(before: Function, after: Function) -> tuple[str, str]:
    """Check that the dead code is gone, and that everything else is unchanged."""
    right = swept(before)
    differs = difference(right, after)
    if differs is None:
        return "", ""
    due, there = _lets(right), _lets(after)
    if len(there) < len(due):
        return _missing([let for let in due if let.var not in {other.var for other in there}])
    if len(there) > len(due):
        return _left(before, [let for let in there if let.var not in {other.var for other in due}])
    if operators(after) - operators(right):
        return "A shared expression occurs twice.", "Visit each object once, as `ExprMutator` does."
    return "Something other than a `let` has changed.", f"Only dead `let`s may be removed. Here: {differs}."


def _lets(root: Expr) -> list[Let]:
    return [node for node in post_order(root) if isinstance(node, Let)]


def _missing(removed: list[Let]) -> tuple[str, str]:
    """Describe a `let` that should have stayed; of several, the one with the side effect."""
    acts = [let for let in removed if let.value in acting(let.value)]
    let = (acts or removed or [None])[0]  # type: ignore[list-item]  # of a program with its own variables
    subject = f"The `let` of %{let.var.name_hint}" if let is not None else "A `let`"
    calls = let is not None and any(isinstance(n, Call) and _acts(n) for n in post_order(let.value))
    if let is None or not acts:
        hint = "Something that stays depends on it. Continue from the value of each `let` that you keep."
    elif calls:
        hint = "Its value calls a function, which may write to a reference or not terminate."
    else:
        hint = "Its value writes to a reference. Look into all parts of the value, including a nested `let`."
    return f"{subject} is gone.", hint


def _left(before: Function, left: list[Let]) -> tuple[str, str]:
    """Describe a `let` that should have been removed."""
    let = (left or _lets(before))[0]
    name, value = f"%{let.var.name_hint}", let.value
    nodes = post_order(value)
    users = [
        node
        for node in post_order(before)
        if let.var in children(node) and getattr(node, "var", None) is not let.var
    ]
    if let.var in nodes:
        hint = (
            f"Only {name} itself uses {name}, and defining a function without calling it does "
            "nothing. Start from the result: what cannot be reached from it is not needed."
        )
    elif users:
        hint = "It is used, but only by dead code. Work backwards from the result."
    elif isinstance(value, Function):
        hint = "Defining a function without calling it does nothing, whatever its body would do."
    elif any(isinstance(node, RefRead) for node in nodes):
        hint = "Creating or reading a reference has no side effect."
    elif has(value, Call):
        hint = "Operators and constructors have no side effects. Only calls of functions may have one."
    else:
        hint = "Its variable is never used. Do you visit functions, branches and clauses too?"
    return f"The `let` of {name} is left, although it is dead.", hint


TASK = PassTask("sweep", _goal)


def _littered(rng: random.Random, module: IRModule) -> IRModule:
    """Insert dead `let`s into a program."""
    main = main_of(module)
    acts = effects(module)
    memo: dict[Expr, Expr] = {}
    for node in post_order(main):
        result = memo[node] = rebuild(node, [memo[part] for part in children(node)])
        usual = isinstance(node, (Call, If, Let, Match, Tuple, RefRead))
        if usual and rng.random() < 0.25:
            name = Var(f"dead{len(memo)}")
            pure = [memo[part] for part in children(node) if isinstance(part, Call) and part not in acts]
            value = rng.choice([const(7), Tuple([const(7)]), Function([], const(7)), *pure, *pure])
            memo[node] = Let(name, value, result)
    functions = {**module.functions, module.get_global_var("main"): memo[main]}
    return IRModule(functions, module.type_definitions)  # type: ignore[arg-type]  # a function stays one


def _unused(rng: random.Random, count: int) -> Iterator[IRModule]:
    yield from written(
        "() { let %a = 1; 2 }",
        "() { let %a = 1; let %b = negative(2); %a }",
        "() { let %a = 1; (let %b = 2; %a, let %c = 3; %c) }",
        "() { let %a = fn (%x: int32) { let %b = 1; %x }; %a }",
        _LIST + "def @main() { let %l = Cons(1, Nil); let %m = Cons(2, %l); %l }",
    )
    for module in closed_programs(rng, count, lambda f: not acting(f.body)):
        yield _littered(rng, module)


def _chains(rng: random.Random, count: int) -> Iterator[IRModule]:
    yield from written(
        "() { let %a = 1; let %b = negative(%a); 2 }",
        "() { let %a = 1; let %b = add(%a, %a); let %c = (%b, %a); %a }",
        "() { let %f = fn (%n: int32) -> int32 { %f(%n) }; 1 }",
        "() { let %g = 1; let %f = fn (%n: int32) -> int32 { %f(add(%n, %g)) }; %g }",
        "() { let %g = 2; let %f = fn (%n: int32) -> int32 { %f(add(%n, %g)) }; 1 }",
    )


def _writes(rng: random.Random, count: int) -> Iterator[IRModule]:
    cell = "let %r = ref(1); "
    yield from written(
        f"() {{ {cell}let %u = ref_write(%r, 2); ref_read(%r) }}",
        f"() {{ {cell}let %u = ref_write(%r, 2); 3 }}",
        f"() {{ {cell}let %a = add(1, 1); let %u = ref_write(%r, %a); 3 }}",
        f"() {{ {cell}let %u = (ref_write(%r, 2), 1); ref_read(%r) }}",
        f"() {{ {cell}let %a = {{ let %u = ref_write(%r, 2); 4 }}; ref_read(%r) }}",
        f"() {{ {cell}let %a = if (less(1, 2)) {{ ref_write(%r, 2) }} else {{ () }}; ref_read(%r) }}",
        f"() {{ {cell}let %a = ref_read(%r); 2 }}",
        f"() {{ {cell}let %s = ref(%r); let %a = ref_read(%r); let %u = ref_write(%r, 5); ref_read(%r) }}",
    )


def _calls(rng: random.Random, count: int) -> Iterator[IRModule]:
    down = "fn (%n: int32) -> int32 { if (less(%n, 1)) { 0 } else { %f(subtract(%n, 1)) } }"
    yield from written(
        f"() {{ let %f = {down}; let %u = %f(3); 1 }}",
        "() { let %r = ref(1); let %f = fn () { ref_write(%r, 2) }; let %u = %f(); ref_read(%r) }",
        "() { let %r = ref(1); let %f = fn () { ref_write(%r, 2) }; ref_read(%r) }",
        "() { let %f = fn () { fn () { 1 } }; let %g = %f(); let %a = %g(); 2 }",
        "def @g() -> int32 { 1 }\ndef @main() { let %a = @g(); let %b = add(1, 2); 3 }",
        "() { let %a = (fn (%x: int32) { negative(%x) })(1); 2 }",
        _LIST + "def @main() { let %a = Cons(1, Nil); let %b = match (%a) { Cons(%x, _) => { %x }, "
        "Nil => { 0 } }; 2 }",
    )


def _everywhere(rng: random.Random, count: int) -> Iterator[IRModule]:
    yield from written(
        "() { let %f = fn (%x: int32) { let %r = ref(%x); let %u = ref_write(%r, 2); let %a = 1; %x }; "
        "%f(1) }",
        "() { if (less(1, 2)) { let %a = 1; 2 } else { let %f = fn () { 1 }; let %b = %f(); 3 } }",
        _LIST + "def @main() { match (Cons(1, Nil)) { Cons(%x, _) => { let %a = 1; %x }, "
        "Nil => { let %b = 2; 0 } } }",
    )
    for module in closed_programs(rng, 2 * count):
        yield _littered(rng, module)


def _shared(rng: random.Random, count: int) -> Iterator[IRModule]:
    lines = "".join(f"%{n} = subtract(%{n - 1}, %{n - 1}); " for n in range(1, 40))
    yield written(f"() {{ let %a = 1; let %b = 2; %0 = negative(%a); {lines} negative(%39) }}")[0]


EXERCISE = {
    "": Exercise(
        "Dead code and side effects",
        "sweep(function)",
        properties(
            TASK.judge,
            ("unused", "an unused `let` is removed", _unused),
            ("chains", "so is a `let` that only dead `let`s use, itself included", _chains),
            ("writes", "writes stay, with everything that they need", _writes),
            ("calls", "function calls stay, other unused calls do not", _calls),
            ("everywhere", "the same in functions, branches and clauses, for every program", _everywhere),
            ("shared", "shared expressions are visited once", _shared),
        ),
    ),
}
