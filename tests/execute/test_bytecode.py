"""The bytecode of small programs, and bytecode as text."""

from __future__ import annotations

import random

import pytest
from inline_snapshot import snapshot

from relay_explorer.execute.vm import compile_program, parse_program, program_text
from relay_explorer.execute.vm.matching import MAX_STATES, Look, decisions
from relay_explorer.execute.vm.text import function_text
from relay_explorer.ir import Match, ParseError
from relay_explorer.testing import generate
from relay_explorer.text import parse

LIST = "type List[A] { Cons(A, List[A]), Nil }\n"


def code(program: str) -> str:
    """Return the functions of a program, without heads and kernel numbers."""
    functions = compile_program(parse(program)).functions.values()
    return "\n".join([line for f in functions for line in function_text(f, remarks=False).splitlines()])


def test_a_recursion_over_a_list() -> None:
    """The accumulating call takes the place of its caller."""
    assert (
        code(
            LIST
            + """
            def @main(%l: List[Tensor[(2), float32]], %acc: Tensor[(2), float32]) -> Tensor[(2), float32] {
              match (%l) { Cons(%h, %t) => @main(%t, add(%acc, multiply(%h, 2f))), Nil => %acc }
            }"""
        )
        == snapshot("""\
fn @main(%l: List[Tensor[(2), float32]], %acc: Tensor[(2), float32]) -> Tensor[(2), float32], 0 captured, 6 registers:
   0  switch r0, List, {Cons -> 1, Nil -> 7}, -> none
   1  get_field r2, r0, 0
   2  get_field r3, r0, 1
   3  alloc_storage r4, 8
   4  alloc_tensor r5, r4, (2), float32
   5  invoke_packed k0, (r2, r1), (r5)
   6  tail_invoke @main, (r3, r5)
   7  ret r1""")  # noqa: E501
    )


def test_memory_is_used_again() -> None:
    """The third product lies where the first was; the last one is returned, and has memory of its own."""
    result = code(
        """
        def @main(%x: Tensor[(4, 4), float32], %w: Tensor[(4, 4), float32]) -> Tensor[(4, 4), float32] {
          let %a = nn.dense(%x, %w, units=None);
          let %b = nn.dense(%a, %w, units=None);
          let %c = nn.dense(%b, %w, units=None);
          nn.dense(%c, %w, units=None)
        }"""
    )
    assert (
        result.partition("\n")[2]
        == """\
   0  alloc_storage r2, 64
   1  alloc_tensor r3, r2, (4, 4), float32
   2  invoke_packed k0, (r0, r1), (r3)
   3  alloc_storage r4, 64
   4  alloc_tensor r5, r4, (4, 4), float32
   5  invoke_packed k0, (r3, r1), (r5)
   6  alloc_tensor r3, r2, (4, 4), float32
   7  invoke_packed k0, (r5, r1), (r3)
   8  alloc_storage r5, 64
   9  alloc_tensor r2, r5, (4, 4), float32
  10  invoke_packed k0, (r3, r1), (r2)
  11  ret r2"""
    )


def test_a_match_of_two_lists_makes_no_pair() -> None:
    result = code(
        LIST
        + """
        def @main(%a: List[int32], %b: List[int32]) -> int32 {
          match ((%a, %b)) {
            (Cons(%x, _), Cons(%y, _)) => add(%x, %y),
            (Nil, Cons(%y, _)) => %y,
            (%rest, Nil) => 0,
          }
        }"""
    )
    assert result.partition("\n")[2] == snapshot("""\
   0  switch r0, List, {Cons -> 1, Nil -> 2}, -> none
   1  switch r1, List, {Cons -> 3, Nil -> 11}, -> none
   2  switch r1, List, {Cons -> 9, Nil -> 11}, -> none
   3  get_field r2, r0, 0
   4  get_field r3, r1, 0
   5  alloc_storage r4, 4
   6  alloc_tensor r5, r4, (), int32
   7  invoke_packed k0, (r2, r3), (r5)
   8  ret r5
   9  get_field r5, r1, 0
  10  ret r5
  11  load_consti r5, 0, int32
  12  ret r5""")


def test_closures_cells_and_branches() -> None:
    """A closure that is called where it is made is called by its name, and takes what it captures."""
    result = code(
        """
        def @main(%n: int32, %r: ref(int32)) -> (int32, fn (int32) -> int32) {
          let %k = fn (%x: int32) { multiply(%x, %n) };
          let %done = ref_write(%r, %k(3));
          let %m = if (less(%n, 0)) { ref_read(%r) } else { 4 };
          (%m, %k)
        }"""
    )
    assert (
        result
        == """\
fn @main(%n: int32, %r: ref(int32)) -> (int32, fn (int32) -> int32), 0 captured, 5 registers:
   0  alloc_closure r2, @main.k, (r0)
   1  load_consti r3, 3, int32
   2  invoke r4, @main.k, (r3, r0)
   3  write_ref r1, r4
   4  alloc_storage r4, 1
   5  alloc_tensor r3, r4, (), bool
   6  invoke_packed k0, (r0), (r3)
   7  if r3, -> 10
   8  read_ref r3, r1
   9  goto -> 11
  10  load_consti r3, 4, int32
  11  alloc_tuple r4, (r3, r2)
  12  ret r4
fn @main.k(%x: int32) -> int32, 1 captured, 4 registers:
   0  alloc_storage r2, 4
   1  alloc_tensor r3, r2, (), int32
   2  invoke_packed k1, (r0, r1), (r3)
   3  ret r3"""
    )


def test_sizes_that_are_not_known() -> None:
    result = str(
        compile_program(
            parse(
                """
                def @main(%x: Tensor[(?, 2), float32]) {
                  let %p = split(nn.relu(%x), indices_or_sections=2, axis=1);
                  (%p.1, argwhere(%x))
                }"""
            )
        )
    )
    assert "kernel k1 argwhere on the host:\n  fn (%p0: Tensor[(?, 2), float32], Primitive=1)" in result
    shown = [line.partition("#")[0].rstrip() for line in result[result.index("fn @main") :].splitlines()[1:]]
    assert shown == [
        "   0  shape_func (r1, r2), k0, (r0)",
        "   1  alloc_tensor_reg r3, r1, float32",
        "   2  alloc_tensor_reg r1, r2, float32",
        "   3  invoke_packed k0, (r0), (r3, r1)",
        "   4  invoke_host (r3), k1, (r0)",
        "   5  alloc_tuple r2, (r1, r3)",
        "   6  ret r2",
    ]


def test_every_instruction_says_where_it_comes_from() -> None:
    program = compile_program(parse("def @main(%x: Tensor[(2), float32]) {\n  tanh(%x)\n}", "here.relay"))
    main = program.functions["main"]
    assert {str(span) for span in main.spans} == {"here.relay:2:3"}
    assert "0  alloc_storage r1, 8                                     # here.relay:2:3" in str(program)


@pytest.mark.parametrize("seed", range(12))
def test_text_is_read_back(seed: int) -> None:
    program = compile_program(generate(seed, size=50).module, opt_level=seed % 4)
    text = program_text(program, remarks=False)
    again = parse_program(program_text(program), program.constants)
    assert (again.functions, again.kernels) == (program.functions, program.kernels)
    assert program_text(again) == text


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("ret r1", "jump r1", "there is no instruction `jump`"),
        ("ret r1", "ret c1", "expected `r` and a number, found `c1`"),
        ("ret r1", "ret r1, r2", "`ret` has 1 parts, but more are given"),
        ("ret r1", "ret", "expected a place, found the end of the line"),
        ("1  ret", "3  ret", "this is instruction 1: its line begins with that number"),
        ("ret r1", "ret r1 ;", "'; ' cannot be read".replace(" '", "'")),
        ("fn @main", "fun @main", "a part begins with `type`, `const`, `kernel` or `fn @`"),
        ("2 registers", "registers", "a function is `fn @name(%x: type) -> type, 0 captured, 1 registers:`"),
        ("= 1.5", "= x", "these are not values for the constant: could not convert string to float: 'x'"),
        (" = 1.5", "", "the data of the constant c0 are not in the text: give `constants`"),
        ("const c0", "const c1", "a constant is `const c0: float32 (2, 3) = …`"),
    ],
)
def test_what_is_no_bytecode(old: str, new: str, said: str) -> None:
    text = """\
const c0: float32 () = 1.5

fn @main() -> float32, 0 captured, 2 registers:
   0  load_const r1, c0
   1  ret r1
"""
    assert program_text(parse_program(text)) == text
    assert old in text
    with pytest.raises(ParseError) as caught:
        parse_program(text.replace(old, new))
    assert caught.value.message == said
    assert caught.value.span is not None


@pytest.mark.parametrize(("width", "one_by_one"), [(6, False), (18, True)])
def test_a_match_decides_as_its_clauses_do(width: int, one_by_one: bool) -> None:
    """Rows of a table that no order of tests suits: with many of them, clauses are tried one by one."""
    rng = random.Random(0)
    ways = ("Up", "Down", "Left", "Right")
    rows = [[rng.choice((*ways, "_", "_", "_", "_", "_", "_")) for _ in range(width)] for _ in range(width)]
    rows.append(["_"] * width)
    params = ", ".join(f"%x{k}: Way" for k in range(width))
    values = ", ".join(f"%x{k}" for k in range(width))
    clauses = ", ".join(f"({', '.join(row)}) => {k}" for k, row in enumerate(rows))
    text = (
        f"type Way {{ Up, Down, Left, Right }}\ndef @main({params}) {{ match (({values})) {{ {clauses} }} }}"
    )
    match = parse(text)["main"].body
    assert isinstance(match, Match)
    start, plan = decisions([clause.lhs for clause in match.clauses], {"Way": ways})
    assert (len(plan) > MAX_STATES) == one_by_one
    assert len(plan) < 3 * MAX_STATES
    for _ in range(300):
        given = [rng.choice(ways) for _ in range(width)]
        state = start
        while isinstance(result := plan[state], Look):
            after = dict(result.cases).get(given[result.path[0]], result.otherwise)
            assert after is not None
            state = after
        fits = [all(part in ("_", value) for part, value in zip(row, given)) for row in rows]
        assert result.clause == fits.index(True)
