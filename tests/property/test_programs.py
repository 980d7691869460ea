"""What must hold of every well-typed program, tried on thousands of random ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings

from relay_explorer.ir import (
    Call,
    Constructor,
    Expr,
    Function,
    IRModule,
    Op,
    difference,
    post_order,
    structural_hash,
)
from relay_explorer.testing import Generated, generate, shrink, size
from relay_explorer.text import astext, parse
from relay_explorer.typing import infer_types
from tests.property.programs import first_failure, programs, renamed

COUNT = 500  # programs for each property; for the types, MANY
MANY = 2_000
relaxed = settings(deadline=None, max_examples=40, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def many() -> list[Generated]:
    return [generate(seed, size=10 + seed % 50) for seed in range(COUNT)]


def all_expressions(module: IRModule) -> list[Expr]:
    return [node for function in module.functions.values() for node in post_order(function)]


def wrong_claim(result: Generated) -> str | None:
    """Where inference disagrees with the generator, which never asks it."""
    typed = infer_types(result.module)
    pairs = zip(all_expressions(result.module), all_expressions(typed), strict=True)
    for old, new in pairs:
        if old in result.types and new.checked_type != result.types[old]:
            return f"{old}: inferred {new.checked_type}, made as {result.types[old]}"
    return None


def reparsed_differs(module: IRModule) -> str | None:
    back = parse(astext(module))
    return difference(module, back) or (None if astext(back) == astext(module) else "printed differently")


def inference_is_not_idempotent(module: IRModule) -> str | None:
    once = infer_types(module)
    return difference(once, infer_types(once))


def input_changes(module: IRModule) -> str | None:
    before, types = astext(module), [node._checked_type for node in all_expressions(module)]
    infer_types(module)
    if astext(module) != before:
        return "inference changed the program"
    after = [node._checked_type for node in all_expressions(module)]
    return (
        None
        if all(a is b for a, b in zip(types, after, strict=True))
        else "inference wrote types into its input"
    )


def renaming_matters(module: IRModule) -> str | None:
    other = renamed(module)
    return difference(module, other) or difference(infer_types(module), infer_types(other))


# -- properties


def test_inference_finds_the_types_that_the_generator_knows() -> None:
    for seed in range(MANY):
        wrong = wrong_claim(generate(10_000 + seed, size=5 + seed % 30))
        assert wrong is None, f"seed {seed}: {wrong}"


PROPERTIES = [reparsed_differs, inference_is_not_idempotent, input_changes, renaming_matters]


@pytest.mark.parametrize("problem", PROPERTIES, ids=lambda problem: problem.__name__)
def test_never(problem: Callable[[IRModule], str | None], many: list[Generated]) -> None:
    failure = first_failure([result.module for result in many], problem)
    assert failure is None, failure


@relaxed
@given(programs())
def test_on_other_programs_each_time(made: Generated) -> None:
    assert wrong_claim(made) is None
    for problem in PROPERTIES:
        assert problem(made.module) is None


# -- the generator itself


def test_a_seed_gives_one_program() -> None:
    assert astext(generate(5, 80).module) == astext(generate(5, 80).module)
    assert astext(generate(5, 80).module) != astext(generate(6, 80).module)


def test_size_is_what_was_asked_for() -> None:
    means = [sum(size(generate(seed, asked).module) for seed in range(60)) / 60 for asked in (5, 40, 200)]
    assert 5 <= means[0] < means[1] < means[2]
    assert 200 <= means[2] <= 1_400


def test_every_construct_occurs(many: list[Generated]) -> None:
    kinds: Counter[str] = Counter()
    operators: set[str] = set()
    for result in many:
        for node in all_expressions(result.module):
            kinds[type(node).__name__] += 1
            if isinstance(node, Op):
                operators.add(node.name)
            elif isinstance(node, Constructor):
                kinds[node.name_hint] += 1
    constructs = (
        "Call Var Constant Function Let If Tuple TupleGetItem RefCreate RefRead RefWrite Match GlobalVar"
    )
    constructs += " Cons Nil Just Nothing Node Leaf Grey Black"
    assert {name: kinds[name] for name in constructs.split() if kinds[name] < 50} == {}
    assert len(operators) >= 35
    families = {Op.get(name).family for name in operators}
    assert families >= {
        "arithmetic",
        "activation",
        "comparison",
        "reduction",
        "matmul",
        "convolution",
        "shape",
    }
    assert sum("?" in str(t) for result in many for t in result.types.values()) > 1_000
    together = sum("@ping" in str(result.module) for result in many)
    assert together > COUNT // 10
    # Sharing: without it, every expression would be a part of one other at most.
    shared = [
        result
        for result in many
        if len({id(n) for n in all_expressions(result.module)}) < edges(result.module)
    ]
    assert len(shared) > COUNT * 0.9


def edges(module: IRModule) -> int:
    from relay_explorer.ir import children

    return sum(len(children(node)) for node in all_expressions(module))


# -- shrinking


def calls(name: str) -> Callable[[IRModule], bool]:
    """Whether an operator is called anywhere."""

    def found(module: IRModule) -> bool:
        nodes = all_expressions(module)
        return any(isinstance(n, Call) and isinstance(n.op, Op) and n.op.name == name for n in nodes)

    return found


@pytest.mark.parametrize("name", ["nn.dense", "nn.softmax", "concatenate", "where", "sum"])
def test_shrinking_keeps_what_fails_and_little_else(name: str, many: list[Generated]) -> None:
    fails = calls(name)
    large = [result.module for result in many if size(result.module) > 150 and fails(result.module)][:4]
    assert len(large) == 4
    for module in large:
        before = astext(module)
        small = shrink(module, fails)
        assert fails(small)
        assert infer_types(small)
        assert size(small) <= 16, small
        assert astext(module) == before


def test_shrinking_stops_when_told(many: list[Generated]) -> None:
    tried: list[IRModule] = []

    def note(module: IRModule) -> bool:
        tried.append(module)
        return False

    module = next(result.module for result in many if size(result.module) > 150)
    assert shrink(module, note, tries=20) is module
    assert 0 < len(tried) <= 20


def test_a_failure_is_shown_on_a_small_program(many: list[Generated]) -> None:
    fails = calls("nn.softmax")
    result = first_failure([m.module for m in many], lambda m: "has softmax" if fails(m) else None)
    assert result is not None
    assert result.startswith("has softmax\ndef @main() {\n")
    assert len(result.splitlines()) <= 6


def hash_disagrees(module: IRModule) -> str | None:
    """Where what is equal has two hashes, or what differs in one operator or constant has one."""
    same = [parse(astext(module)), renamed(module)]
    if any(structural_hash(other) != structural_hash(module) for other in same):
        return "equal modules have different hashes"
    for var, function in module.functions.items():
        other = IRModule(module.functions, module.type_definitions)
        other[var] = Function(function.params, function.body, None, function.type_params, {"mark": 1})
        if structural_hash(other) == structural_hash(module):
            return f"an attribute of @{var.name_hint} is not seen"
    return None


def test_what_is_equal_has_one_hash(many: list[Generated]) -> None:
    assert first_failure((result.module for result in many), hash_disagrees) is None
