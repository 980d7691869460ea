"""Write bytecode as text, and parse it.

    type List[A] { Cons(A, List[A]), Nil, }

    const c0: float32 (2) = 1.0, 2.0

    kernel k0 add:
      fn (%p0: Tensor[(2), float32], %p1: Tensor[(2), float32]) …

    fn @main(%x: Tensor[(2), float32]) -> Tensor[(2), float32], 0 captured, 4 registers:
       0  load_const r1, c0
       1  alloc_storage r2, 8
       2  alloc_tensor r3, r2, (2), float32
       3  invoke_packed k0, (r0, r1), (r3)
       4  ret r3

`->` precedes the number of the instruction that control continues with. `#` begins a remark. Constants of
more than MAX_VALUES elements are written without their data.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

from ...ir.adt import TypeData
from ...ir.errors import ParseError
from ...ir.module import IRModule
from ...ir.ndarray import NDArray
from ...ir.span import Source, Span
from ...text import parse, show
from .bytecode import INSTRUCTIONS, Instruction, KernelCode, VMFunction, VMProgram

MAX_VALUES = 16

_PLAIN = re.compile(r"[A-Za-z_][\w.$]*")
_TOKEN = re.compile(
    r"""\s*(?:(?P<string>"(?:[^"\\]|\\.)*")|(?P<name>@(?:[A-Za-z_][\w.$]*|"(?:[^"\\]|\\.)*"))"""
    r"""|(?P<place>[rck]\d+\b)|(?P<number>-?\d+\b)|(?P<word>[A-Za-z_][\w.$]*)|(?P<sign>->|[(){},:])|(?P<end>\#.*)?$)"""
)


# -- writing


def program_text(program: VMProgram, remarks: bool = True) -> str:
    """Write a program as text; `remarks` state where each instruction stands in the source program."""
    parts = [type_text(data) for data in program.types]
    parts += [f"const c{n}: {_constant(data)}" for n, data in enumerate(program.constants)]
    parts += [
        f"kernel k{n} {_name(k.name)}{' on the host' if k.host else ''}:\n{_indented(k.text)}"
        for n, k in enumerate(program.kernels)
    ]
    parts += [function_text(function, remarks) for function in program.functions.values()]
    return "\n\n".join(parts) + "\n"


def function_text(function: VMFunction, remarks: bool = True) -> str:
    """Write a function as text."""
    params = ", ".join(f"%{_name(p)}: {t}" for p, t in zip(function.params, function.types))
    head = (
        f"fn @{_name(function.name)}({params}) -> {function.types[-1]}, {function.captured} captured, "
        f"{function.registers} registers:"
    )
    spans = function.spans if remarks and len(function.spans) == len(function.code) else ()
    lines = []
    for number, instruction in enumerate(function.code):
        line = f"{number:4}  {instruction_text(instruction)}"
        span = spans[number] if spans else None
        lines.append(f"{line:60}  # {span}" if span is not None else line)
    return "\n".join([head, *lines])


def instruction_text(instruction: Instruction) -> str:
    """Write an instruction as text: its name, and its operands in order."""
    parts = [_WRITERS[part.type](getattr(instruction, part.name)) for part in fields(instruction)]
    return f"{instruction.mnemonic} {', '.join(parts)}"


def type_text(data: TypeData) -> str:
    """Write a data type as Relay declares it."""
    return show(IRModule({}, {data.header: data})).strip()


def _registers(registers: Sequence[int]) -> str:
    return f"({', '.join(f'r{r}' for r in registers)})"


def _name(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else json.dumps(name)


def _cases(cases: Sequence[tuple[str, int]]) -> str:
    return f"{{{', '.join(f'{_name(name)} -> {target}' for name, target in cases)}}}"


_WRITERS: dict[Any, Callable[[Any], str]] = {
    "Register": lambda r: f"r{r}",
    "Registers": _registers,
    "Results": _registers,
    "Constant": lambda c: f"c{c}",
    "Kernel": lambda k: f"k{k}",
    "Target": lambda t: f"-> {t}" if t >= 0 else "-> none",
    "Name": lambda name: f"@{_name(name)}",
    "Shape": lambda shape: f"({', '.join(map(str, shape))})",
    "Cases": _cases,
    "str": _name,
    "int": str,
}


def _constant(data: NDArray) -> str:
    head = f"{data.dtype} ({', '.join(map(str, data.shape))})"
    values = data.values() if len(data.data) <= MAX_VALUES * 8 else []
    return f"{head} = {', '.join(map(repr, values))}" if 0 < len(values) <= MAX_VALUES else head


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())


# -- reading


def parse_program(text: str, constants: Sequence[NDArray] = ()) -> VMProgram:
    """Parse a program. `constants` are the program's, where the text lacks their data. A ParseError names the
    line that is wrong.
    """
    return _Reader(text, constants).program()


class _Reader:
    """Parses a program line by line: a part begins at a line that is not indented."""

    def __init__(self, text: str, constants: Sequence[NDArray]) -> None:
        self.source = Source("bytecode", text)
        self.lines = text.splitlines()
        self.given = constants
        self.at = 0
        self.tokens: list[tuple[str, str]] = []

    def program(self) -> VMProgram:
        functions: dict[str, VMFunction] = {}
        kernels: list[KernelCode] = []
        constants: list[NDArray] = []
        types: list[str] = []
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if not line.strip() or line.startswith("#"):
                self.at += 1
            elif line.startswith("type "):
                types.append(self._until_blank())
            elif line.startswith("const "):
                constants.append(self._constant(len(constants)))
            elif line.startswith("kernel "):
                kernels.append(self._kernel())
            elif line.startswith("fn @"):
                function = self._function()
                functions[function.name] = function
            else:
                raise self._wrong("a part begins with `type`, `const`, `kernel` or `fn @`")
        declared = parse("\n".join(types)).type_definitions if types else {}
        return VMProgram(functions, tuple(kernels), tuple(constants), tuple(declared.values()))

    def _wrong(self, message: str) -> ParseError:
        number = min(self.at, len(self.lines) - 1) + 1
        length = len(self.source.line(number))
        return ParseError(message, Span(self.source, number, number, 1, length + 1))

    def _until_blank(self) -> str:
        """Read the lines up to an empty one, or to one that begins a new part."""
        first = self.at
        self.at += 1
        while self.at < len(self.lines) and (self.lines[self.at][:1] in (" ", "}")):
            self.at += 1
        return "\n".join(self.lines[first : self.at])

    def _constant(self, number: int) -> NDArray:
        match = re.fullmatch(r"const c(\d+): (\w+) \(([\d, ]*)\)(?: = (.*))?", self.lines[self.at])
        if match is None or int(match[1]) != number:
            raise self._wrong(f"a constant is `const c{number}: float32 (2, 3) = …`")
        self.at += 1
        shape = tuple([int(size) for size in match[3].split(",") if size.strip()])
        if match[4] is None:
            if number >= len(self.given):
                self.at -= 1
                raise self._wrong(f"the data of the constant c{number} are not in the text: give `constants`")
            return self.given[number]
        read: Callable[[str], Any] = (
            (lambda word: word == "True") if match[2] == "bool" else float if "float" in match[2] else int
        )
        try:
            return NDArray.from_list([read(word.strip()) for word in match[4].split(",")], shape, match[2])
        except ValueError as problem:
            self.at -= 1
            raise self._wrong(f"these are not values for the constant: {problem}") from None

    def _kernel(self) -> KernelCode:
        match = re.fullmatch(r'kernel k\d+ ([A-Za-z_][\w.$]*|"[^"]*")( on the host)?:', self.lines[self.at])
        if match is None:
            raise self._wrong("a kernel is `kernel k0 name:`, and its function in the lines below")
        text = "\n".join([line[2:] for line in self._until_blank().splitlines()[1:]])
        name = json.loads(match[1]) if match[1].startswith('"') else match[1]
        return KernelCode(name, text, match[2] is not None)

    # -- functions

    def _function(self) -> VMFunction:
        line = self.lines[self.at]
        head = re.match(r'fn @([\w.$]+|"(?:[^"\\]|\\.)*")\(', line)
        end = _closing(line, head.end()) if head is not None else -1
        match = (
            re.fullmatch(r"\) -> (.*), (\d+) captured, (\d+) registers:", line[end:]) if end >= 0 else None
        )
        if head is None or match is None:
            raise self._wrong("a function is `fn @name(%x: type) -> type, 0 captured, 1 registers:`")
        names, types = self._params(line[head.end() : end])
        self.at += 1
        code: list[Instruction] = []
        while self.at < len(self.lines) and self.lines[self.at][:1] == " ":
            code.append(self._instruction(len(code)))
            self.at += 1
        name = json.loads(head[1]) if head[1].startswith('"') else head[1]
        return VMFunction(name, tuple(names), (*types, match[1]), int(match[2]), int(match[3]), tuple(code))

    def _params(self, text: str) -> tuple[list[str], list[str]]:
        """Parse names and types: a parameter begins with `%` after a comma outside of brackets."""
        names, types = [], []
        for part in re.split(r", (?=%)", text) if text else []:
            name, _, type_ = part[1:].partition(": ") if part[1:2] != '"' else (*_quoted(part[1:]),)
            names.append(json.loads(name) if name.startswith('"') else name)
            types.append(type_)
        return names, types

    def _instruction(self, number: int) -> Instruction:
        self.tokens = list(reversed(self._split(self.lines[self.at])))
        if self._next("number") != str(number):
            raise self._wrong(f"this is instruction {number}: its line begins with that number")
        mnemonic = self._next("word")
        kind = INSTRUCTIONS.get(mnemonic)
        if kind is None:
            raise self._wrong(f"there is no instruction `{mnemonic}`")
        values = []
        for k, part in enumerate(fields(kind)):
            if k:
                self._expect(",")
            values.append(self._value(str(part.type)))
        if self.tokens:
            raise self._wrong(f"`{mnemonic}` has {len(values)} parts, but more are given")
        return kind(*values)

    def _split(self, line: str) -> list[tuple[str, str]]:
        tokens, at = [], 0
        while at < len(line):
            token = _TOKEN.match(line, at)
            if token is None:
                raise self._wrong(f"{line[at : at + 20].strip()!r} cannot be read")
            if token.lastgroup in (None, "end"):
                break
            tokens.append((str(token.lastgroup), token[str(token.lastgroup)]))
            at = token.end()
        return tokens

    def _next(self, kind: str) -> str:
        actual, text = self.tokens.pop() if self.tokens else ("end", "the end of the line")
        if actual != kind:
            raise self._wrong(f"expected a {kind}, found {text}")
        return text

    def _expect(self, sign: str) -> None:
        token = self._next("sign")
        if token != sign:
            raise self._wrong(f"expected `{sign}`, found `{token}`")

    def _value(self, kind: str) -> Any:
        match kind:
            case "Register" | "Constant" | "Kernel":
                return self._place(kind[0].lower())
            case "Registers" | "Results":
                return tuple(self._list("(", ")", lambda: self._place("r")))
            case "Shape":
                return tuple(self._list("(", ")", lambda: int(self._next("number"))))
            case "Cases":
                return tuple(self._list("{", "}", lambda: (self._word(), self._target())))
            case "Target":
                return self._target()
            case "Name":
                name = self._next("name")[1:]
                return json.loads(name) if name.startswith('"') else name
            case "int":
                return int(self._next("number"))
        return self._word()

    def _place(self, letter: str) -> int:
        text = self._next("place")
        if text[0] != letter:
            raise self._wrong(f"expected `{letter}` and a number, found `{text}`")
        return int(text[1:])

    def _target(self) -> int:
        self._expect("->")
        if self.tokens and self.tokens[-1] == ("word", "none"):
            self.tokens.pop()
            return -1
        return int(self._next("number"))

    def _word(self) -> str:
        if self.tokens and self.tokens[-1][0] == "string":
            return str(json.loads(self._next("string")))
        if self.tokens and self.tokens[-1][0] == "place":  # a constructor may be called `r1`
            return self._next("place")
        return self._next("word")

    def _list(self, opening: str, closing: str, read: Callable[[], Any]) -> list[Any]:
        self._expect(opening)
        items: list[Any] = []
        while self.tokens and self.tokens[-1] != ("sign", closing):
            if items:
                self._expect(",")
            items.append(read())
        self._expect(closing)
        return items


def _closing(text: str, at: int) -> int:
    """Return the index of the bracket that closes the one open at `at`; -1 where none does. Brackets in
    quoted names do not count.
    """
    depth = 0
    for sign in re.finditer(r'"(?:[^"\\]|\\.)*"|[()]', text[at:]):
        depth += {"(": 1, ")": -1}.get(sign[0], 0)
        if depth < 0:
            return at + sign.start()
    return -1


def _quoted(text: str) -> tuple[str, str, str]:
    """Split off a quoted name, and return it with the text that follows the colon after it."""
    match = re.match(r'"(?:[^"\\]|\\.)*"', text)
    assert match is not None
    return match[0], ": ", text[match.end() + 2 :]
