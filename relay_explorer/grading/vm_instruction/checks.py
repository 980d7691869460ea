"""The checks of the exercise `vm_instruction`: the effect of a new instruction, and code that uses it, which
must have the same meaning and be as short as possible.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any as Anything
from typing import NamedTuple

from ...execute.values import ConstructorValue, Value, show
from ...execute.vm import VMProgram, compile_module
from ...execute.vm.bytecode import GetField, Instruction, targets
from ...execute.vm.record import record_machine
from ...execute.vm.text import instruction_text
from ...ir.adt import Constructor
from ...typing import infer_types
from ..answer_values import integer, repr_of
from ..budget import limited
from ..check import CASE_SECONDS, Exercise, Property, Search, crashed
from ..feedback import Failure
from . import Extended, GetPath, Rules, changed, combined, follow
from .programs import Sample, Tree, sample, trees

RUNS = 6  # trees on which each program is run
_LONGEST = 900  # characters of a program or of code that are shown


# -- the instruction


class Look(NamedTuple):
    """Registers, and an instruction that reads one of them."""

    instruction: GetPath
    registers: tuple[Value, ...]

    def smaller(self) -> Iterator[Look]:
        """Yield simpler cases: without an unused register; with a shorter path."""
        it = self.instruction
        last = len(self.registers) - 1
        if last not in (it.to, it.source):
            yield Look(it, self.registers[:-1])
        for length in range(1, len(it.path)):
            yield Look(replace(it, path=it.path[:length]), self.registers)


def _judge_run(answer: Anything, look: Look) -> Failure | None:
    it, inputs = look.instruction, list(look.registers)
    right = list(inputs)
    follow(it, right)
    shown = "\n".join(f"  r{n}: {show(value)}" for n, value in enumerate(inputs))
    case = f"run({instruction_text(it)}, registers), with the registers\n{shown}"
    expected = f"r{it.to}: {show(right[it.to])}"
    after = list(inputs)
    outcome = limited(CASE_SECONDS, answer, it, after)
    if outcome.error is not None:
        failure = crashed(case, outcome, expected)
        hint_text = (
            "A field of a tuple is `value[index]`, one of a constructed value is `value.fields[index]`."
        )
        if "'GetPath'" in str(outcome.error):
            hint_text = "An instruction has `to`, `source` and `path`."
        elif "not tuple" in str(outcome.error):
            hint_text = "`path` has several indices: read one field, then a field of the result, and so on."
        wrong = isinstance(outcome.error, (TypeError, AttributeError))
        return replace(failure, hint=failure.hint or (hint_text if wrong else ""))
    hint_text = _run_hint(it, inputs, after, right, outcome.value)
    if not hint_text:
        return None
    got = "\n".join(f"r{n}: {show(value)}" for n, value in enumerate(after) if _differ(value, right, n))
    return Failure(case, expected, got or "other registers", hint_text, printed=outcome.printed)


def _differ(value: Value, right: Sequence[Value], number: int) -> bool:
    return number >= len(right) or value is not right[number]


def _run_hint(
    it: GetPath, inputs: list[Value], after: list[Value], right: list[Value], returned: object
) -> str:
    """Explain what is wrong with the registers; an empty string if nothing is."""
    if len(after) != len(right):
        return "A function keeps its number of registers: do not add or remove any."
    if all(one is other for one, other in zip(after, right)):
        return ""
    others = [n for n in range(len(right)) if n != it.to and after[n] is not right[n]]
    if others:
        return f"Only the register `to` may be written, but r{others[0]} has changed, too."
    if returned is right[it.to] and after[it.to] is inputs[it.to]:
        return "The value is returned, but no register contains it: store it in `registers[instruction.to]`."
    if after[it.to] is inputs[it.to]:
        return "The register `to` has not changed."
    for path, hint_text in (
        (it.path[:1], "That is the first field on the path. Continue from it to the end of `path`."),
        (it.path[::-1], "`path` goes from the outside in: its first index is a field of `source` itself."),
    ):
        registers = list(inputs)
        try:
            follow(replace(it, path=path), registers)
        except (AttributeError, IndexError):
            continue
        if registers[it.to] is after[it.to]:
            return hint_text
    return "Start with the register `source`, and read one field after another."


def _looks(kinds: tuple[str, ...], itself: bool = False) -> Callable[[random.Random, int], Iterator[Look]]:
    def cases(rng: random.Random, count: int) -> Iterator[Look]:
        for number in range(count):
            path = tuple([rng.randint(0, 1) for _ in range(1 + number % 4)])
            value = _nested(rng, len(path), kinds)
            registers: list[Value] = [_number(n) for n in range(2 + number % 3)]
            source = rng.randrange(len(registers))
            registers[source] = value
            to = source if itself and number % 2 else rng.randrange(len(registers))
            yield Look(GetPath(to, source, path), tuple(registers))

    return cases


def _nested(rng: random.Random, depth: int, kinds: tuple[str, ...]) -> Value:
    """Generate a value nested to this depth, of tuples or constructed values."""
    if depth == 0:
        return _number(rng.randint(0, 99))
    parts = [_nested(rng, depth - 1, kinds) for _ in range(2)]
    if rng.choice(kinds) == "tuple":
        return tuple(parts)
    return ConstructorValue(_constructors()["Two"], parts)


def _number(value: int) -> Value:
    import numpy as np

    return np.array(value, "int32")


# -- the code


def _judge_combine(answer: Anything, case: Sample) -> Failure | None:
    program = _compiled(case)
    result: dict[str, list[Instruction]] = {}
    for name, function in program.functions.items():
        description = _describe(name, function.code, case)
        right = combined(function.code)
        outcome = limited(CASE_SECONDS, answer, list(function.code))
        expected = _code(right)
        if outcome.error is not None:
            return crashed(description, outcome, expected, picture=_picture(program, case))
        code = outcome.value
        if not isinstance(code, (list, tuple)) or not all(isinstance(i, Instruction) for i in code):
            hint = "Return the new list of instructions. Is there a `return`?"
            return Failure(description, expected, repr_of(code, 300), hint, printed=outcome.printed)
        odd = next((hint for i in code if (hint := _odd(i))), "")
        if odd:
            return Failure(description, expected, repr_of(code, 300), odd, printed=outcome.printed)
        result[name] = list(code)
        hint = code_hint(list(function.code), list(code))
        if hint:
            new = _put(changed(program, combined), result)
            return Failure(
                description, expected, _code(code), hint, printed=outcome.printed, picture=_picture(new, case)
            )
    return _judge_runs(program, result, case)


def _odd(instruction: Instruction) -> str:
    """Explain what is wrong with an instruction that cannot even be printed."""
    registers: tuple[object, ...] = ()
    match instruction:
        case GetPath(to, source, path):
            if not isinstance(path, tuple) or not path or any(integer(index) is None for index in path):
                return "A path is a tuple of field indices: `(*path, index)` is one longer than `path`."
            registers = (to, source)
        case GetField(to, source, index):
            registers = (to, source, index)
    if any(integer(number) is None for number in registers):
        return (
            "An instruction contains numbers: `GetPath(to, source, path)`, with the register "
            "numbers `to` and `source`."
        )
    return ""


def code_hint(before: list[Instruction], after: list[Instruction]) -> str:
    """Explain the code by a common mistake; an empty string if it is right, or no mistake explains it."""
    if after == combined(before):
        return ""
    if after == before:
        return (
            "No instructions were combined. The intermediate register may differ from the "
            "last one, if its value is dead afterwards."
        )
    for number, instruction in enumerate(after):
        for target in targets(instruction):
            if not number < target < len(after):
                return (
                    f"Instruction {number} jumps to {target}, but the code now has "
                    f"{len(after)} instructions. Those after a combined pair have new "
                    "indices: update the jumps with `retarget`."
                )
    if any(isinstance(i, GetPath) and len(i.path) == 1 for i in after):
        return (
            "A `get_path` of one field does the same as `get_field`. Combine two "
            "instructions by extending the path of one with the index of the other: `(*path, "
            "index)`."
        )
    for rules, hint_text in _MISTAKES:
        if after == combined(before, rules):
            return hint_text
    return ""


_LATER = (
    "The intermediate value is still live: another instruction reads that register later. "
    "Look at `live_registers` for the instruction after the pair."
)
_ENTRY = (
    "A jump target cannot be combined with the instruction before it: a jump arrives there "
    "with an intermediate value from elsewhere, or skips the first part."
)
_NUMBERS = (
    "Instructions after a combined pair have new indices, but jumps still lead to the old "
    "ones: update them with `retarget`."
)
_MISTAKES = (
    (Rules(jumps=False), _NUMBERS), (Rules(middle=False), _LATER), (Rules(entries=False), _ENTRY),
    (Rules(middle=False, entries=False), _LATER), (Rules(jumps=False, middle=False), _LATER),
    (Rules(runs=False), "Two instructions were combined, but a third continues where they end: a path may "
     "have any length."),
    (
        Rules(same=False),
        "More can be combined: the intermediate register may differ from the last one, if "
        "its value is dead afterwards.",
    ),
)  # fmt: skip


def _judge_runs(
    program: VMProgram, replacement: dict[str, list[Instruction]], case: Sample
) -> Failure | None:
    """Check that the code of all functions together computes the same result, and is no longer than
    necessary.
    """
    main = program.functions["main"]
    description = _describe("main", main.code, case)
    right = combined(main.code)
    new = _put(changed(program, combined), replacement)
    inputs = list(_arguments(case))
    result: list[str] = []
    outcome = limited(CASE_SECONDS, _results, new, inputs, result)
    if outcome.error is not None:
        result.append(f"a failure: {outcome.error}")
    right_results: list[str] = []
    _results(program, inputs, right_results)
    for args, target, got in zip(inputs, right_results, result):
        if got != target:
            expected = f"{_code(right)}\nwhich gives {target} for {show(args[0])}"
            got = f"{_code(replacement['main'])}\nwhich gives {got:.300}"
            hint = (
                "The new code has a different meaning. Compare the first instruction that "
                "differs: which register has another value there?"
            )
            return Failure(description, expected, got, hint, picture=_picture(new, case, args))
    for name, code in replacement.items():
        fewest = len(combined(program.functions[name].code))
        if len(code) > fewest:
            got = _code(replacement["main"])
            hint = (
                f"More can be combined: {len(code)} instructions of `@{name}` are left, but {fewest} suffice."
            )
            return Failure(description, _code(right), got, hint, picture=_picture(new, case))
    return None


def _put(program: VMProgram, result: dict[str, list[Instruction]]) -> VMProgram:
    """Replace the program's code with the answer's, where there is one."""
    functions = {
        name: replace(f, code=tuple(result.get(name, f.code))) for name, f in program.functions.items()
    }
    return replace(program, functions=functions)


def _results(program: VMProgram, inputs: Sequence[Sequence[Value]], into: list[str]) -> None:
    """Run a program on each of the arguments."""
    machine = Extended(program, follow)
    for args in inputs:
        into.append(show(machine.call("main", list(args))))


# -- programs and values


@cache
def _compiled(case: Sample) -> VMProgram:
    return compile_module(infer_types(case.module()))  # no passes: they would only take time


@cache
def _constructors() -> dict[str, Constructor]:
    program = _compiled(Sample((), ()))
    (data,) = program.types
    return {result.name_hint: result for result in data.constructors}


def _arguments(case: Sample) -> Iterator[list[Value]]:
    rng = random.Random(str(case))
    pairs = iter(range(1, 9))
    p = tuple([tuple([tuple([_number(next(pairs)) for _ in range(2)]) for _ in range(2)]) for _ in range(2)])
    for tree in trees(rng, RUNS):
        yield [_item(tree), p]


def _item(tree: Tree) -> Value:
    """Convert a tree to the machine's value. Trees are at most five levels deep."""
    result = _constructors()
    if isinstance(tree, tuple):
        return ConstructorValue(result["Two"], [_item(part) for part in tree])
    return ConstructorValue(result["One"], [_number(tree)])


def _picture(program: VMProgram, case: Sample, args: Sequence[Value] | None = None) -> Callable[[], Anything]:
    """Return a function that draws the machine explorer of a run of the new code."""

    def draw() -> Anything:
        from ...explorer import Explorer
        from ...views.machine.view import look, run_view

        inputs = list(args) if args is not None else next(_arguments(case))
        run = record_machine(Extended(program, follow), inputs, limit=300, budget=20_000, text=look)
        return Explorer(run_view(run, case.module(), "Your code, run"), "your-code-machine")

    return draw


def _describe(name: str, code: Sequence[Instruction], case: Sample) -> str:
    return f"combine(code), for the code of `@{name}`:\n{_code(code)}\nof the program\n{_text(case)}"


def _text(case: Sample) -> str:
    """Return the text of a program's `@main`: the rest is the same in all."""
    text = case.text()
    return _cut(text[text.index("def @main") :])


def _code(code: Sequence[Instruction]) -> str:
    return _cut("\n".join(f"{n:4}  {instruction_text(i)}" for n, i in enumerate(code)))


def _cut(text: str) -> str:
    return text if len(text) < _LONGEST else text[:_LONGEST] + "…"


# -- test cases


def _programs(*kinds: str) -> Callable[[random.Random, int], Iterator[Sample]]:
    def cases(rng: random.Random, count: int) -> Iterator[Sample]:
        for number in range(count):
            yield sample(rng, number % 9, *kinds)

    return cases


def _properties(
    judge: Callable[[Anything, Anything], Failure | None],
    *rows: tuple[str, str, Callable[[random.Random, int], Iterator[Anything]]],
) -> tuple[Property, ...]:
    def one(name: str, says: str, cases: Callable[[random.Random, int], Iterator[Anything]]) -> Property:
        def test(answer: Anything, rng: random.Random, count: int) -> Failure | None:
            search: Search[Anything] = Search(lambda case: judge(answer, case), lambda case: case.smaller())
            return search(cases(rng, count))

        return Property(name, says, test)

    return tuple(one(*row) for row in rows)


EXERCISE = {
    "run": Exercise(
        "run",
        "run(instruction, registers)",
        _properties(
            _judge_run,
            ("tuples", "`run` follows a path through nested tuples", _looks(("tuple",))),
            ("data", "it follows a path through constructed values, too", _looks(("tuple", "data"))),
            ("registers", "it writes one register, and no other", _looks(("tuple", "data"), itself=True)),
        ),
    ),
    "combine": Exercise(
        "combine",
        "combine(code)",
        _properties(
            _judge_combine,
            ("straight", "a field of a field is one instruction", _programs()),
            ("shared", "values that are needed later are still computed", _programs("shared")),
            ("jumps", "jumps have the same targets as before", _programs("match", "shared")),
            ("entries", "a jump target is not absorbed into a path", _programs("match", "choice", "shared")),
        ),
    ),
}  # fmt: skip
