"""Storage plans: that no tensor overwrites another, what each decision was, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from inline_snapshot import snapshot
from inline_snapshot.extra import raises

from relay_explorer import models, relay
from relay_explorer.analysis import SCHEDULES, StoragePlan, plan_memory
from relay_explorer.analysis.liveness import LIFETIMES, StepKind
from relay_explorer.analysis.storage import RULES
from relay_explorer.analysis.straight_line import Origin
from relay_explorer.execute.code import Block, Kind, compile_function
from relay_explorer.ir import Call, Expr, Function, IRModule, Op, RelayError, Tuple, Var
from relay_explorer.ir.narrow import as_tensor_type
from relay_explorer.ir.types import TensorType
from relay_explorer.text import parse
from relay_explorer.transform import FuseOps, ToANormalForm
from relay_explorer.typing import infer_types

from .storage_programs import Machine, random_function

CHAIN = """
def @main(%x: Tensor[(1024), float32]) {
  %0 = tanh(%x);
  %1 = exp(%0);
  %2 = negative(%1);
  add(%2, %x)
}
"""


def typed(text: str) -> Function:
    return infer_types(parse(text))["main"]


def told(plan: StoragePlan) -> list[str]:
    """Describe each computed tensor in a line: name, lifetime, buffer, rule."""
    lines = []
    for tensor, life, place, choice in zip(plan.tensors, plan.lives, plan.places, plan.choices):
        if choice is not None:
            name = (
                tensor.expr.op.name
                if isinstance(tensor.expr, Call) and isinstance(tensor.expr.op, Op)
                else "if"
            )
            field = f".{tensor.field}" if len(plan.code.of(tensor.expr)) > 1 else ""
            lines.append(f"{name}{field}: {life.made}-{life.last}, buffer {place.buffer}, {choice.rule}")
    return lines


def test_two_buffers_are_enough_for_a_chain() -> None:
    plan = plan_memory(typed(CHAIN))
    assert told(plan) == [
        "tanh: 0-1, buffer 0, first",
        "exp: 1-2, buffer 1, first",
        "negative: 2-3, buffer 0, same",
        "add: 3-4, buffer 1, same",
    ]
    assert [(b.offset, b.size, b.tensors) for b in plan.buffers] == [(0, 4096, (1, 3)), (4096, 4096, (2, 4))]
    assert (plan.peak, plan.peak_step, plan.arena, plan.total) == (8192, 1, 8192, 16384)
    assert plan.live == (4096, 8192, 8192, 8192)


def test_the_order_of_the_program_is_the_interpreters() -> None:
    def calls(block: Block) -> list[Expr]:
        result: list[Expr] = []
        for instruction in block.instructions:
            if instruction.kind is Kind.OPERATOR:
                result.append(instruction.node)
            elif instruction.kind is Kind.IF:
                result += [call for branch in instruction.detail for call in calls(branch)]
        return result

    for seed in range(30):
        function = random_function(seed)
        steps = plan_memory(function).steps
        planned = [s.expr for s in steps if s.kind in (StepKind.COMPUTE, StepKind.VIEW)]
        assert planned == calls(compile_function(function).block)


def test_two_places_alternate_as_in_the_reference() -> None:
    """A number, then a vector from it three times over: TVM 0.14 needs two places besides the parameters.
    The number's place is within the range, so it grows.
    """
    text = """
    def @main(%x: Tensor[(10), float32], %y: Tensor[(1), float32]) {
      exp(exp(add(%x, exp(%y))))
    }
    """
    plan = plan_memory(typed(text), alignment=4)
    assert told(plan) == [
        "exp: 0-1, buffer 0, first",
        "add: 1-2, buffer 1, first",
        "exp: 2-3, buffer 0, grown",
        "exp: 3-4, buffer 1, same",
    ]
    assert [buffer.size for buffer in plan.buffers] == [40, 40]


def test_without_reuse_every_tensor_has_a_buffer_of_its_own() -> None:
    plan = plan_memory(typed(CHAIN), reuse=False)
    assert [b.tensors for b in plan.buffers] == [(1,), (2,), (3,), (4,)]
    assert plan.arena == plan.total == 16384
    assert {c.rule for c in plan.choices if c} == {"alone"}


def test_names_keep_their_values_to_the_end_of_their_scope() -> None:
    text = """
    def @main(%x: Tensor[(16), float32]) {
      let %a = { let %t = tanh(%x); exp(%t) };
      let %b = negative(%a);
      add(%b, %b)
    }
    """
    assert told(plan_memory(typed(text))) == [
        "tanh: 0-1, buffer 0, first",
        "exp: 1-2, buffer 1, first",
        "negative: 2-3, buffer 0, same",
        "add: 3-4, buffer 1, same",
    ]
    # The scope of %t ends with the value of %a; those of %a and %b with the function.
    assert told(plan_memory(typed(text), lifetimes="scope")) == [
        "tanh: 0-1, buffer 0, first",
        "exp: 1-3, buffer 1, first",
        "negative: 2-3, buffer 0, same",
        "add: 3-4, buffer 2, first",
    ]


def test_sizes_decide_which_buffer_is_taken() -> None:
    """A smaller one grows, a larger one is used, one that is too different is left."""
    text = """
    def @main(%x: Tensor[(64), float32], %y: Tensor[(16), float32], %z: Tensor[(4096), float32]) {
      let %a = sum(negative(tanh(%x)));
      let %b = sum(negative(tanh(%y)));
      let %c = sum(negative(tanh(%z)));
      (%a, %b, %c)
    }
    """
    assert told(plan_memory(typed(text))) == [
        "tanh: 0-1, buffer 0, first",
        "negative: 1-2, buffer 1, first",
        "sum: 2-9, buffer 0, larger",
        "tanh: 3-4, buffer 1, larger",
        "negative: 4-5, buffer 2, first",
        "sum: 5-9, buffer 1, larger",
        "tanh: 6-7, buffer 3, apart",
        "negative: 7-8, buffer 4, apart",
        "sum: 8-9, buffer 2, same",
    ]
    grown = plan_memory(
        typed(
            "def @main(%x: Tensor[(16), float32]) { let %a = tanh(%x); let %b = exp(%a);"
            " let %c = concatenate((%b, %b)); negative(%c) }"
        )
    )
    assert told(grown)[2] == "concatenate: 2-3, buffer 0, grown"


def test_a_view_is_its_argument() -> None:
    text = """
    def @main(%x: Tensor[(2, 8), float32]) {
      %0 = tanh(%x);
      %1 = reshape(%0, newshape=[16]);
      %2 = exp(%1);
      add(%2, %1)
    }
    """
    plan = plan_memory(typed(text))
    assert told(plan) == [
        "tanh: 0-3, buffer 0, first",
        "exp: 2-3, buffer 1, first",
        "add: 3-4, buffer 2, first",
    ]
    assert [s.kind for s in plan.steps] == [StepKind.COMPUTE, StepKind.VIEW, *[StepKind.COMPUTE] * 2]
    add = plan.steps[-1].expr
    assert isinstance(add, Call)
    assert plan.places_of(add.args[1]) == plan.places_of(plan.steps[0].expr)
    copied = plan_memory(typed(text), views=False)
    assert told(copied)[1] == "reshape: 1-3, buffer 1, first"
    # A view of a parameter lies where the parameter does: not in the arena.
    (place,) = plan_memory(
        typed("def @main(%x: Tensor[(2, 8), float32]) { reshape(%x, newshape=[16]) }")
    ).places
    assert (place.buffer, place.offset, place.size) == (-1, -1, 64)


def test_each_field_of_a_tuple_has_a_life_of_its_own() -> None:
    plan = plan_memory(
        typed("""
    def @main(%x: Tensor[(4, 16), float32]) {
      %0 = split(%x, indices_or_sections=2, axis=0);
      %1 = tanh(%0.1);
      %2 = exp(%1);
      add(%2, %0.0)
    }
    """)
    )
    assert told(plan) == [
        "split.0: 0-3, buffer 0, first",
        "split.1: 0-1, buffer 1, first",
        "tanh: 1-2, buffer 2, first",
        "exp: 2-3, buffer 1, same",
        "add: 3-4, buffer 2, same",
    ]


def test_branches_use_the_same_buffers_and_end_in_one_value() -> None:
    plan = plan_memory(
        typed("""
    def @main(%c: bool, %x: Tensor[(16), float32]) {
      let %y = if (%c) { tanh(exp(%x)) } else { negative(exp(%x)) };
      add(%y, %y)
    }
    """)
    )
    assert [s.kind.value for s in plan.steps] == [
        "branch", "compute", "compute", "copy", "compute", "compute", "copy", "compute",
    ]  # fmt: skip
    assert told(plan) == [
        "exp: 1-2, buffer 0, first",
        "tanh: 2-3, buffer 1, first",
        "exp: 4-5, buffer 1, same",
        "negative: 5-6, buffer 2, first",
        "if: 3-7, buffer 0, same",
        "add: 7-8, buffer 1, same",
    ]


def test_the_order_decides_how_much_is_needed_at_once() -> None:
    """Four large values, each needed only as its sum: level by level all four are there at once."""
    text = """
    def @main(%x: Tensor[(4096), float32]) {
      let %a = tanh(%x);
      let %b = exp(%x);
      let %c = negative(%x);
      let %d = sqrt(%x);
      (sum(%a), sum(%b), sum(%c), sum(%d))
    }
    """
    peaks = {s: plan_memory(typed(text), s).peak for s in SCHEDULES}
    large, small = 4 * 4096, 64
    assert peaks == {
        "program": 4 * large + small,
        "depth first": large + 4 * small,
        "level by level": 4 * large + small,
        "greedy": large + 4 * small,
    }


def _arguments(function: Function, flag: bool) -> list[Any]:
    rng = np.random.default_rng(3)
    types = [as_tensor_type(p.type_annotation) for p in function.params]
    assert all(isinstance(t, TensorType) for t in types)
    return [
        np.array(flag) if t.dtype == "bool" else rng.standard_normal(t.concrete_shape).astype(t.dtype)
        for t in types
    ]


def _agrees(function: Function, flag: bool, **choices: Any) -> StoragePlan:
    """Check that the interpreter and a run in the plan's buffers give the same result."""
    args = _arguments(function, flag)
    want = relay.create_executor("debug", IRModule.from_expr(function)).evaluate()(*args)
    plan = plan_memory(function, **choices)
    got = Machine(plan).run(args)
    for mine, its in zip(got, want, strict=True):
        np.testing.assert_array_equal(mine.reshape(its.numpy().shape), its.numpy())
    return plan


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_random_programs_run_in_their_buffers(schedule: str) -> None:
    rules: set[str] = set()
    for seed in range(60):
        function = random_function(seed)
        for lifetimes in LIFETIMES:
            plan = _agrees(function, seed % 2 == 0, schedule=schedule, lifetimes=lifetimes)
            assert plan.peak <= plan.arena <= plan.total
            rules |= {c.rule for c in plan.choices if c}
        other = {"views": seed % 3 > 0, "alignment": 1 << seed % 8, "addresses": seed % 4 > 1}
        plan = _agrees(function, seed % 2 == 1, schedule=schedule, **other)
        assert plan.peak <= plan.arena <= plan.total
        rules |= {c.rule for c in plan.choices if c}
    assert rules == set(RULES) - {"alone"}


def test_stretches_of_addresses_take_less_than_buffers() -> None:
    """A small tensor does not keep a large place."""
    text = """
    def @main(%x: Tensor[(4, 16), float32]) {
      let %a = tanh(%x);
      let %s = sum(%a, axis=[0]);
      let %t = exp(%s);
      let %b = negative(%x);
      add(sum(%b, axis=[0]), %t)
    }
    """
    whole, stretches = (plan_memory(typed(text), addresses=packed) for packed in (False, True))
    assert told(whole)[2:5] == [
        "exp: 2-5, buffer 0, larger",
        "negative: 3-4, buffer 1, grown",
        "sum: 4-5, buffer 2, first",
    ]
    assert (whole.peak, whole.arena, stretches.arena) == (384, 576, 384)
    # In the order in which they are made: the large ones lie at 0, the small ones above them.
    assert [(b.offset, b.size) for b in stretches.buffers] == [
        (0, 256), (256, 64), (320, 64), (0, 256), (256, 64), (0, 64),
    ]  # fmt: skip
    assert {c.rule for c in stretches.choices if c} == {"packed"}
    function = infer_types(FuseOps(1)(models.load("squeezenet")))["main"]
    peak, buffers, addresses = (
        plan_memory(function).peak, plan_memory(function).arena, plan_memory(function, addresses=True).arena
    )  # fmt: skip
    assert (peak, addresses, buffers) == (5_971_968, 5_971_968, 9_362_368)


def test_forms_of_one_program_run_in_their_buffers() -> None:
    """Fused, and with every value named."""
    for seed in range(20):
        module = IRModule.from_expr(random_function(seed))
        for change in (FuseOps(1), ToANormalForm()):
            _agrees(infer_types(change(module))["main"], seed % 2 == 0)


def test_a_plan_that_frees_too_early_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine that runs plans can tell a wrong one."""
    from relay_explorer.analysis import liveness

    right = liveness.Liveness._lives

    def wrong(self: liveness.Liveness) -> list[liveness.Lifetime]:
        end = len(self.steps)
        return [
            life if life.last in (life.made, end) else life._replace(last=life.last - 1)
            for life in right(self)
        ]

    monkeypatch.setattr(liveness.Liveness, "_lives", wrong)
    with raises(snapshot("AssertionError: tensor 1 was overwritten")):
        _agrees(typed(CHAIN), True)


def test_networks() -> None:
    """What the plans of known networks come to, in bytes: peak, arena, total."""
    result: dict[tuple[str, str], tuple[int, ...]] = {}
    for name in ("mlp", "resnet18", "lstm"):
        module = infer_types(models.load(name))
        for label, form in (("graph", module), ("fused", FuseOps(1)(module))):
            plan = plan_memory(infer_types(form)["main"])
            result[name, label] = (plan.peak, plan.arena, plan.total)
        if name == "lstm":
            # It begins with a layer for the input of every time step: each waits for its turn, unless the
            # order is another one.
            result[name, "orders"] = tuple(plan_memory(module["main"], s).peak for s in SCHEDULES)
    assert result == {
        ("lstm", "orders"): (69_632, 6_656, 69_632, 6_656),
        ("mlp", "graph"): (2_048, 2_048, 3_264),
        ("mlp", "fused"): (1_088, 1_088, 1_152),
        ("resnet18", "graph"): (6_423_040, 7_434_112, 32_968_000),
        ("resnet18", "fused"): (6_423_040, 7_438_208, 29_953_408),
        ("lstm", "graph"): (69_632, 70_656, 475_136),
        ("lstm", "fused"): (4_608, 7_680, 226_816),
    }


def test_long_programs() -> None:
    x = Var("x", TensorType((4,)))
    body: Expr = x
    for _ in range(1_500):
        body = relay.tanh(relay.add(body, x))
    module = infer_types(IRModule.from_expr(Function([x], body)))
    for form in (module, infer_types(ToANormalForm()(module))):
        for schedule in SCHEDULES:
            plan = plan_memory(form["main"], schedule)
            assert len(plan.steps) == 3_000
            assert len(plan.buffers) == 2


ONE = "Tensor[(2), float32]"


@pytest.mark.parametrize(
    ("params", "body", "this"),
    [
        (f"%f: fn ({ONE}) -> {ONE}", "%f", f"a value of type `fn ({ONE}) -> {ONE}`"),
        (f"%x: {ONE}", "let %g = fn (%a) { tanh(%a) }; %g(%x)", "a call of a function that is not a kernel"),
        (f"%x: {ONE}", "@other(%x)", "a call of `@other`, another function of the module"),
        (f"%x: {ONE}", "let %r = ref(%x); ref_read(%r)", "a reference"),
        (f"%x: {ONE}", "match (%x) { %y => { %y } }", "a `match`"),
        (f"%x: {ONE}", "(fn (%a: Tensor[(2), float32]) { %a }, %x).1", "a function that is a value"),
    ],
)
def test_what_is_refused(params: str, body: str, this: str) -> None:
    module = infer_types(parse(f"def @other(%x: {ONE}) {{ tanh(%x) }} def @main({params}) {{ {body} }}"))
    with pytest.raises(RelayError) as caught:
        plan_memory(module["main"])
    expected = f"memory is planned for operators, kernels, tuples, `let` and `if`, but this is {this}"
    assert caught.value.message == expected
    assert caught.value.span is not None


def test_sizes_must_be_known() -> None:
    function = typed("def @main(%x: Tensor[(?), float32]) { tanh(%x) }")
    with pytest.raises(RelayError) as caught:
        plan_memory(function)
    assert str(caught.value).splitlines()[-1] == snapshot(
        "help: give the parameters shapes without `?`: memory is planned before the run"
    )


def test_choices_that_do_not_exist() -> None:
    function = typed(CHAIN)
    with raises(
        snapshot(
            "ValueError: there is no schedule 'fast': schedules are 'program', 'depth first', 'level by "
            "level', 'greedy'"
        )
    ):
        plan_memory(function, schedule="fast")
    with raises(snapshot("ValueError: there are no lifetimes 'long': they are 'last use', 'scope'")):
        plan_memory(function, lifetimes="long")
    with raises(snapshot("ValueError: an alignment is a power of two, not 48")):
        plan_memory(function, alignment=48)
    with raises(
        snapshot(
            "ValueError: the type of this Call is not known yet: run relay.transform.InferType()(mod) first"
        )
    ):
        plan_memory(parse(CHAIN)["main"])


def test_a_result_that_is_given_twice_and_parameters_as_results() -> None:
    x = Var("x", TensorType((4,)))
    body = relay.tanh(x)
    function = infer_types(IRModule.from_expr(Function([x], Tuple([body, x, body]))))["main"]
    plan = plan_memory(function)
    assert plan.result == (1, 0, 1)
    assert [t.origin for t in plan.tensors] == [Origin.PARAMETER, Origin.COMPUTED]


STRETCHES = """
def @main(%x: Tensor[(4, 16), float32]) {
  %0 = fn (%a: Tensor[(4, 16), float32], Primitive=1) { exp(%a) };
  %1 = fn (%a: Tensor[(4, 16), float32], Primitive=1) {
    strided_slice(%a, begin=[1], end=[3], strides=[1], axes=[0])
  };
  %2 = fn (%a: Tensor[(2, 16), float32], Primitive=1) {
    strided_slice(%a, begin=[-1], end=[2], strides=[1], axes=[0])
  };
  %3 = fn (%a: Tensor[(4, 16), float32], Primitive=1) {
    strided_slice(%a, begin=[1], end=[3], strides=[1], axes=[1])
  };
  %4 = fn (%a: Tensor[(2, 16), float32], Primitive=1) {
    strided_slice(%a, begin=[0, 8], end=[1, 16], strides=[1, 1])
  };
  %5 = %0(%x);
  %6 = %1(%5);
  %7 = %2(%6);
  %8 = %0(%5);
  (%7, %3(%8), %1(%x), %4(%6))
}
"""


def test_a_stretch_of_a_computed_tensor_is_a_part_of_it() -> None:
    function = infer_types(parse(STRETCHES))["main"]
    plan = _agrees(function, False, parts=True)
    kinds = [step.kind for step in plan.steps]
    # Not the columns, not a part of a parameter, and not what begins in the middle of 64 bytes.
    assert kinds.count(StepKind.VIEW) == 2
    places = {plan.tensors[place.tensor].type.concrete_shape: place for place in plan.places}
    whole = plan.places_of(next(s.expr for s in plan.steps))[0]
    assert places[1, 16] == (places[1, 16].tensor, whole.buffer, whole.offset + 128, 64)
    # The tensor stays as long as its parts do: the second `exp` has another buffer.
    assert plan.lives[whole.tensor].last == len(plan.steps)
    assert len(plan.buffers) == 4
    assert plan.peak <= plan.arena <= plan.total
    for choices in (
        {"alignment": 32},
        {"addresses": True},
        {"reuse": False},
        {"schedule": list(SCHEDULES)[-1]},
    ):
        _agrees(function, False, parts=True, **choices)
    assert all(step.kind is StepKind.COMPUTE for step in plan_memory(function).steps)
