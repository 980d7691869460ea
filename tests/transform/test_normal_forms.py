"""A-normal form and graph normal form: short programs, the reference's answers, and random programs."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent

import pytest

from relay_explorer.analysis import check_basic_block_normal_form
from relay_explorer.analysis.effects import effects
from relay_explorer.execute import Interpreter
from relay_explorer.ir import (
    Call,
    Expr,
    Function,
    GlobalVar,
    If,
    IRModule,
    Let,
    Match,
    Op,
    Tuple,
    Var,
    children,
    const,
    difference,
    post_order,
    scalar_type,
    structural_equal,
    var,
)  # fmt: skip
from relay_explorer.ir.adt import Constructor
from relay_explorer.ir.errors import RelayError
from relay_explorer.testing import generate
from relay_explorer.text import parse
from relay_explorer.transform import (
    InferType,
    Pass,
    PassContext,
    Sequential,
    ToANormalForm,
    ToBasicBlockNormalForm,
    ToGraphNormalForm,
    ToTree,
    to_a_normal_form,
    to_basic_block_normal_form,
    to_graph_normal_form,
)  # fmt: skip
from relay_explorer.transform.normal_forms.to_tree import tree_size
from relay_explorer.typing import infer_types
from tests.property.test_evaluation import same, value_of

CASES = json.loads((Path(__file__).parents[1] / "data" / "conformance.json").read_text())
WITH_ANSWERS = [name for name, case in CASES.items() if case.get("passes")]


def after(passes: list[Pass], text: str) -> str:
    """Return the program after the passes, as rows of text."""
    return Sequential(passes)(parse(text)).astext().partition("\n")[2].strip()


def check(passes: list[Pass], text: str, expected: str) -> None:
    assert after(passes, text) == dedent(expected).strip()


# -- A-normal form


def test_a_shared_value_becomes_one_variable() -> None:
    check([ToANormalForm()], "def @main(%a: float32) { %0 = exp(%a); add(multiply(%0, %0), 2f) }", """
    def @main(%a: float32) {
      let %x = exp(%a);
      let %x1 = multiply(%x, %x);
      let %x2 = 2f;
      let %x3 = add(%x1, %x2);
      %x3
    }
    """)  # fmt: skip


def test_names_stay_and_a_let_has_a_value_too() -> None:
    check([ToANormalForm()], "def @main(%a: float32) { let %b = exp(%a); tanh(%b) }", """
    def @main(%a: float32) {
      let %b = exp(%a);
      let %x = tanh(%b);
      let %x1 = %x;
      %x1
    }
    """)  # fmt: skip


def test_a_binding_stands_in_the_innermost_scope_that_covers_its_uses() -> None:
    """What one branch uses is bound in it; what both use, before the `if`."""
    a, c = var("a", scalar_type("float32")), var("c", scalar_type("bool"))
    both, one = Call(Op.get("exp"), [a]), Call(Op.get("tanh"), [a])
    module = IRModule.from_expr(
        Function([a, c], If(c, Call(Op.get("add"), [both, one]), Call(Op.get("negative"), [both])))
    )
    assert ToANormalForm()(module).astext().partition("\n")[2] == (
        "def @main(%a: float32, %c: bool) {\n"
        "  let %x = exp(%a);\n"
        "  let %x1 = if (%c) {\n"
        "    let %x2 = tanh(%a);\n"
        "    let %x3 = add(%x, %x2);\n"
        "    %x3\n"
        "  } else {\n"
        "    let %x4 = negative(%x);\n"
        "    %x4\n"
        "  };\n"
        "  %x1\n"
        "}\n"
    )


def test_a_constant_of_both_branches_is_bound_before_them() -> None:
    one, c = const(1.0), var("c", scalar_type("bool"))
    normal = to_a_normal_form(Function([c], If(c, Call(Op.get("exp"), [one]), one)))
    assert isinstance(normal, Function)
    assert isinstance(normal.body, Let)
    assert normal.body.value is one


def test_a_functions_body_is_a_scope() -> None:
    text = "def @main(%a: float32) { let %f = fn (%b: float32) { exp(tanh(%b)) }; %f(%a) }"
    check([ToANormalForm()], text, """
    def @main(%a: float32) {
      let %f = fn (%b: float32) {
        let %x = tanh(%b);
        let %x1 = exp(%x);
        %x1
      };
      let %x2 = %f(%a);
      let %x3 = %x2;
      %x3
    }
    """)  # fmt: skip


def test_clauses_are_scopes() -> None:
    check([ToANormalForm()], """
    type Maybe { Just(float32), Nothing }
    def @main(%m: Maybe) { match (%m) { Just(%v) => { exp(exp(%v)) }, Nothing => { 0f } } }
    """, """
    type Maybe {
      Just(float32),
      Nothing,
    }

    def @main(%m: Maybe) {
      let %x = match (%m) {
        Just(%v) => {
          let %x1 = exp(%v);
          let %x2 = exp(%x1);
          %x2
        },
        Nothing => {
          let %x3 = 0f;
          %x3
        },
      };
      %x
    }
    """)  # fmt: skip


def test_effects_keep_their_order() -> None:
    check([ToANormalForm()], """
    def @main() { let %r = ref(0); %0 = (ref_write(%r, 1), ref_read(%r)); %0 }
    """, """
    def @main() {
      let %x = 0;
      let %r = ref(%x);
      let %x1 = 1;
      let %x2 = ref_write(%r, %x1);
      let %x3 = ref_read(%r);
      let %x4 = (%x2, %x3);
      let %x5 = %x4;
      %x5
    }
    """)  # fmt: skip


def test_a_let_of_a_name_is_kept() -> None:
    check([ToANormalForm()], "def @main(%a: float32) { let %b = %a; %b }", """
    def @main(%a: float32) {
      let %b = %a;
      let %x = %b;
      %x
    }
    """)  # fmt: skip


def test_what_a_backend_made_is_left_alone() -> None:
    text = "def @main(%a: float32) { let %f = fn (%b: float32, Primitive=1) { exp(exp(%b)) }; %f(%a) }"
    assert "fn (%b: float32, Primitive=1) {\n    %0 = exp(%b);\n    exp(%0)\n  }" in after(
        [ToANormalForm()], text
    )


# -- graph normal form


def test_a_variable_becomes_the_node_itself() -> None:
    text = "def @main(%a: float32) { let %b = exp(%a); let %c = %b; add(%b, %c) }"
    function = ToGraphNormalForm()(parse(text))["main"]
    assert isinstance(function.body, Call)
    assert function.body.args[0] is function.body.args[1]
    check([ToGraphNormalForm()], text, """
    def @main(%a: float32) {
      %0 = exp(%a);
      add(%0, %0)
    }
    """)  # fmt: skip


def test_what_nobody_uses_is_gone() -> None:
    check([ToGraphNormalForm()], "def @main(%a: float32) { let %b = exp(%a); tanh(%a) }", """
    def @main(%a: float32) {
      tanh(%a)
    }
    """)  # fmt: skip


def test_a_function_that_calls_itself_keeps_its_name() -> None:
    text = """def @main(%n: int32) {
      let %f = fn (%i: int32) -> int32 { if (less(%i, 1)) { 0 } else { add(%f(subtract(%i, 1)), %i) } };
      add(%f(%n), %f(2))
    }"""
    module = ToGraphNormalForm()(parse(text))
    (let,) = [node for node in post_order(module["main"]) if isinstance(node, Let)]
    assert let.body is let.var
    assert Interpreter(module).call("main", [_number(4)]) == 13


def test_effects_stay_where_they_are() -> None:
    """An unused write stays, and what is read does not move behind it."""
    check([ToGraphNormalForm()], """
    def @main() {
      let %r = ref(0); let %one = 1; let %old = ref_read(%r); let %u = ref_write(%r, %one);
      (%old, ref_read(%r))
    }
    """, """
    def @main() {
      let %r = ref(0);
      let %old = ref_read(%r);
      let %u = ref_write(%r, 1);
      %0 = ref_read(%r);
      (%old, %0)
    }
    """)  # fmt: skip


def test_a_call_may_have_an_effect_where_there_are_references() -> None:
    text = """
    def @bump(%r: ref(int32)) -> () {{ {body} }}
    def @main(%r: ref(int32)) {{ let %u = @bump(%r); %r }}
    """
    assert "let %u" in after([ToGraphNormalForm()], text.format(body="ref_write(%r, 1)"))
    assert "let %u" not in after([ToGraphNormalForm()], text.format(body="()"))


def _number(value: int) -> object:
    import numpy

    return numpy.array(value, "int32")


# -- nothing shared


def test_every_use_gets_a_copy() -> None:
    check([ToTree()], "def @main(%a: float32) { %0 = exp(%a); multiply(%0, %0) }", """
    def @main(%a: float32) {
      %0 = exp(%a);
      %1 = exp(%a);
      multiply(%0, %1)
    }
    """)  # fmt: skip


def test_copies_of_functions_bind_variables_of_their_own() -> None:
    a = var("a", scalar_type("float32"))
    f = Function([a], Call(Op.get("exp"), [a]))
    module = ToTree()(IRModule.from_expr(Tuple([f, f])))
    pair = module["main"].body
    assert isinstance(pair, Tuple)
    first, second = pair.fields
    assert isinstance(first, Function)
    assert isinstance(second, Function)
    assert isinstance(second.body, Call)
    assert first.params[0] is not second.params[0]
    assert second.body.args[0] is second.params[0]


def test_too_large_a_tree_is_refused() -> None:
    steps = "".join(f"%{k + 1} = add(%{k}, %{k});" for k in range(40)).replace("%0", "%x")
    with pytest.raises(RelayError, match=r"expanded into a tree, `@main` has 1,099,511,627,776 expressions"):
        ToTree()(parse("def @main(%x: float32) {" + steps + "%40 }"))


# -- all


@pytest.mark.parametrize("name", WITH_ANSWERS)
@pytest.mark.parametrize(
    ("expected", "passes"),
    [
        ("ToANormalForm", [ToANormalForm()]),
        ("ToGraphNormalForm", [ToANormalForm(), ToGraphNormalForm()]),
        ("ToGraphNormalForm", [ToGraphNormalForm()]),
    ],
    ids=["a-normal", "there and back", "graph"],
)
def test_as_the_reference_answered(name: str, expected: str, passes: list[Pass]) -> None:
    case = CASES[name]
    if expected not in case["passes"]:
        assert case["passes"], "the reference failed on this program"
        return
    with PassContext(opt_level=4):
        result = Sequential([InferType(), *passes, InferType()])(parse(case["text"]))
    answer = infer_types(parse(case["passes"][expected]))
    assert structural_equal(result, answer, map_free_vars=True), difference(result, answer)


def is_a_normal(expr: Expr) -> bool:
    """Whether the operands of everything are names."""
    names = (Var, GlobalVar, Op, Constructor)
    for node in post_order(expr):
        operands: tuple[Expr, ...] = ()
        bodies: tuple[Expr, ...] = ()
        match node:
            case Function(body=body):
                bodies = (body,)
            case Let(value=value, body=body):
                bodies = (body,)
                if isinstance(value, Let):
                    return False
            case If() | Match():
                operands, bodies = children(node)[:1], children(node)[1:]
            case _:
                operands = children(node)
        allowed = all(isinstance(o, names) for o in operands)
        if not allowed or not all(isinstance(b, (*names, Let)) for b in bodies):
            return False
    return True


@pytest.mark.parametrize("start", range(0, 300, 50))
def test_random_programs_keep_their_meaning(start: int) -> None:
    """With references, closures and recursion: the same values, and a module that is not changed."""
    for seed in range(start, start + 50):
        module = generate(30_000 + seed, size=10 + seed % 40, closed=True).module
        before, text = value_of(module), module.astext()
        normal = ToANormalForm()(module)
        graph, back = ToGraphNormalForm()(module), ToGraphNormalForm()(normal)
        assert all(is_a_normal(f) for f in normal.functions.values())
        acting = effects(module)
        small = all(tree_size(f, acting) < 5_000 for f in graph.functions.values())
        for changed in (normal, graph, back, *([ToTree()(graph)] if small else [])):
            assert same(before, value_of(changed)), f"{text}\nbecomes\n{changed.astext()}"
            infer_types(changed)
        assert module.astext() == text


def test_the_normal_form_is_its_own() -> None:
    """Apart from the names that every `let` of a normal form gets in TVM's form, nothing is added."""
    for seed in range(40):
        module = ToGraphNormalForm()(generate(31_000 + seed, size=30, closed=True).module)
        again = ToGraphNormalForm()(module)
        assert structural_equal(module, again), difference(module, again)


def test_where_an_expression_came_from_is_known() -> None:
    module = parse("def @main(%a: float32) { add(exp(%a), 1f) }")
    call = module["main"].body
    normal = ToANormalForm()(module)["main"]
    values = [node.value for node in post_order(normal) if isinstance(node, Let)]
    assert any(call in value.origin for value in values)


def test_a_hundred_thousand_levels() -> None:
    expr: Expr = var("x", scalar_type("float32"))
    root = expr
    for _ in range(100_000):
        expr = Call(Op.get("negative"), [expr])
    normal = to_a_normal_form(Function([root], expr))  # type: ignore[list-item]  # a variable
    graph = to_graph_normal_form(normal)
    assert isinstance(graph, Function)
    depth = 0
    expr = graph.body
    while isinstance(expr, Call):
        depth, expr = depth + 1, expr.args[0]
    assert depth == 100_000


def test_tuples_of_the_same_node() -> None:
    shared = Call(Op.get("exp"), [var("x", scalar_type("float32"))])
    normal = to_a_normal_form(Tuple([shared, shared]))
    assert isinstance(normal, Let)
    assert isinstance(normal.body, Let)


# -- Basic-block normal form


def test_what_branches_share_is_bound_before_them_and_constants_stay() -> None:
    text = """
    def @main(%x: float32) {
      %0 = add(%x, 1f);
      %1 = equal(%x, 2f);
      if (%1) { multiply(%0, 2f) } else { multiply(%0, 1f) }
    }
    """
    assert not check_basic_block_normal_form(parse(text)["main"])
    check([ToBasicBlockNormalForm()], text, """
    def @main(%x: float32) {
      let %x1 = add(%x, 1f);
      %0 = equal(%x, 2f);
      if (%0) {
        multiply(%x1, 2f)
      } else {
        multiply(%x1, 1f)
      }
    }
    """)  # fmt: skip
    assert check_basic_block_normal_form(ToBasicBlockNormalForm()(parse(text))["main"])


def test_a_constant_that_several_blocks_use_stays_where_it_is() -> None:
    x, one = var("x", shape=()), const(1.0)
    body = If(Call(Op.get("less"), [x, one]), x + one, x * one)
    function = Function([x], body)
    assert check_basic_block_normal_form(function)
    assert to_basic_block_normal_form(function) is function


def test_what_a_let_names_may_be_used_anywhere() -> None:
    sound = parse("def @main(%c: bool, %x: float32) { let %y = exp(%x); if (%c) { %y } else { log(%y) } }")
    assert check_basic_block_normal_form(sound["main"])
