"""Write the operator reference as MyST Markdown, from the operators' declarations.

All text in a declaration is escaped, because users may declare operators, too. It appears exactly as it was
written.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from relay_explorer.ir.attrs import KIND_WORDS, REQUIRED, Field
from relay_explorer.ir.expr import Call, Constant, Function
from relay_explorer.ir.module import IRModule
from relay_explorer.ir.op import PATTERN_NAMES, Op, Relation, no_flops
from relay_explorer.ir.walk import free_vars
from relay_explorer.models.operator_calls import CALLS
from relay_explorer.ops import NAMESPACES, builders
from relay_explorer.ops.anchors import anchor
from relay_explorer.ops.canonical import canonical_form
from relay_explorer.ops.left_out import LEFT_OUT
from relay_explorer.ops.operator import FAMILIES
from relay_explorer.typing import infer_types

TITLES = {
    "arithmetic": "Arithmetic",
    "activation": "Activations",
    "comparison": "Comparison and logic",
    "reduction": "Reductions",
    "matmul": "Matrix products",
    "convolution": "Convolutions",
    "pooling": "Pooling",
    "normalization": "Normalization",
    "shape": "Shapes and layouts",
    "index": "Indexing and sorting",
    "creation": "New tensors",
    "image": "Images and detection",
    "training": "Training",
    "quantization": "Quantized tensors",
    "other": "Other operators",
}
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|$~&!^@:])")


def plain(text: str) -> str:
    """Escape text for Markdown, as one line."""
    return _SPECIAL.sub(r"\\\1", re.sub(r"\s+", " ", text))


def prose(text: str) -> str:
    """Convert a docstring's text to Markdown: parts between backquotes become code, all else is escaped."""
    parts = re.split(r"(`[^`]+`)", " ".join(text.split()))
    return "".join([code(part[1:-1]) if number % 2 else plain(part) for number, part in enumerate(parts)])


def code(text: str) -> str:
    """Format text as inline code; as HTML if Markdown's code spans cannot contain it, as in a table."""
    if text.strip() == text and text and not re.search(r"[`|\\\n]", text):
        return f"`{text}`"
    return f"<code>{''.join([c if c.isalnum() else f'&#{ord(c)};' for c in text])}</code>"


def fenced(text: str, language: str = "text") -> list[str]:
    """Return the lines of a code block, with a fence that does not occur in the text."""
    fence = "`" * max([3, *[len(run) + 1 for run in re.findall(r"`+", text)]])
    return [f"{fence}{{code-block}} {language}", *text.splitlines(), fence, ""]


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a Markdown table; the cells are already Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return [*(f"| {' | '.join(cells)} |" for cells in lines), ""]


def _builders() -> dict[str, Callable[..., Any]]:
    """Map the name under which `relay` exports each builder to the builder."""
    by_name: dict[str, Callable[..., Any]] = {}
    for namespace in NAMESPACES:
        for name, build in builders(namespace).items():
            by_name[f"{namespace}.{name}" if namespace else name] = build
    return by_name


def _builder_of(op: Op, known: dict[str, Callable[..., Any]]) -> str:
    """Return the name of the function that builds calls of `op`. Forms for computed shapes share the builder
    of the static operator; operators on blocked layouts have their own.
    """
    name = op.name.replace("contrib_", "").removeprefix("dyn.")
    for full in (name, op.name.lower()):
        if full in known:
            return full
    return next(full for full in known if full.rpartition(".")[2] == name.rpartition(".")[2])


def _signature(name: str, build: Callable[..., Any]) -> str:
    parts = []
    for parameter in inspect.signature(build).parameters.values():
        star = "*" if parameter.kind is parameter.VAR_POSITIONAL else ""
        default = "" if parameter.default is parameter.empty else f"={_shown(parameter.default)}"
        parts.append(f"{star}{parameter.name}{default}")
    function = f"relay.{re.sub(r'^qnn[.]', 'qnn.op.', name)}"
    line = f"{function}({', '.join(parts)})"
    if len(line) <= 80:
        return line
    return "\n".join([f"{function}(", *_filled(parts), ")"])


def _filled(parts: Sequence[str]) -> list[str]:
    """Fill lines of at most 72 characters with parameters."""
    lines = ["   "]
    for part in parts:
        if len(lines[-1]) + len(part) > 72 and lines[-1].strip():
            lines.append("   ")
        lines[-1] += f" {part},"
    return lines


def _shown(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


def _law(relation: Relation, inputs: Sequence[str]) -> str:
    """Format the relation's formula with the arguments' names: `out = data ∗ weight`."""
    names = {str(number): name for number, name in enumerate(inputs)}
    formula = re.sub(r"\{(\w+)\}", lambda match: names.get(match[1], match[1]), relation.formula)
    return prose(formula[:1].upper() + formula[1:] if formula.startswith("a ") else formula)


def _words(relation: Relation) -> str:
    """Return the description of inputs and outputs in the docstring of the rule, or of the function that
    created it; "" if there is none.
    """
    rule = relation.rule
    maker = getattr(inspect.getmodule(rule), rule.__qualname__.partition(".")[0], None)
    for source in (rule, maker if maker is not rule else None):
        text = inspect.getdoc(source) if source is not None else None
        for paragraph in text.split("\n\n") if text else ():
            types = paragraph.removeprefix("Relate the types: ")
            types = types[:1].upper() + types[1:]
            if types.startswith(("Input", "Output")):
                return prose(types)
    return ""


def _cost_words(op: Op) -> str:
    """Describe how the operations are counted, from the docstring of `flops`."""
    if op.flops is no_flops:
        return "none; it only moves data"
    maker = getattr(inspect.getmodule(op.flops), op.flops.__qualname__.partition(".")[0], None)
    for source in (op.flops, maker):
        text = inspect.getdoc(source) if source is not None else None
        if text:
            first = text.split("\n\n")[0].rstrip(".").removeprefix("Count ")
            return prose(first[:1].lower() + first[1:])
    return ""


def _typed(call: Call) -> tuple[str, int]:
    """Return a call as a program with inferred types, and the number of its floating-point operations."""
    module = infer_types(IRModule.from_expr(Function(free_vars(call), call)))
    main = module["main"]
    assert isinstance(main, Function)
    body = main.body
    assert isinstance(body, Call)
    assert isinstance(body.op, Op)
    work = body.op.flops(body.attrs, [arg.checked_type for arg in body.args], body.checked_type)
    text = re.sub(r" /\* ty=.*? \*/", "", str(module).split("#[metadata]")[0])  # the first line has the types
    return _constants(call) + _folded(text.strip()), work


def _compiled_as(call: Call) -> str:
    """Return the program of a call's canonical form, or "" where the operator has a kernel of its own."""
    module = infer_types(IRModule.from_expr(Function(free_vars(call), call)))
    main = module["main"]
    assert isinstance(main, Function)
    assert isinstance(main.body, Call)
    form = canonical_form(main.body)
    if form is None:
        return ""
    text = str(infer_types(IRModule.from_expr(Function(main.params, form)))).split("#[metadata]")[0]
    return _folded(re.sub(r" /\* ty=.*? \*/", "", text).strip())


def _constants(call: Call) -> str:
    """Return comments with the values of the constants in the program's metadata, which is not shown."""
    tensors = {id(arg): arg.data for arg in call.args if isinstance(arg, Constant) and arg.data.shape}
    lines = []
    for number, data in enumerate(tensors.values()):
        values = list(map(str, data.values()))
        shown = ", ".join(values[:6]) + (", …" if len(values) > 6 else "")
        lines.append(f"// meta[relay.Constant][{number}] is [{shown}], of {data.dtype}\n")
    return "".join(lines)


def _folded(program: str) -> str:
    """Put each parameter of a program on its own line if the first line is long."""
    head, _, rest = program.partition("\n")
    if len(head) > 80:
        head = re.sub(r"^def @main\((.+)\) -> ", r"def @main(\n  \1\n) -> ", head)
        head = re.sub(r", (%\w+: )", r",\n  \1", head)
    return f"{head}\n{rest}"


def _attribute(field: Field) -> list[str]:
    default = (
        "*required*" if field.default is REQUIRED else code(_shown(field.default).replace(" ", "\u00a0"))
    )
    return [code(field.name), plain(KIND_WORDS.get(field.kind, field.kind)), default, prose(field.doc)]


def _without_verb(sentence: str) -> str:
    """Remove the first word, so that "Computes …" and "Compute …" compare as equal."""
    return sentence.rstrip(".").partition(" ")[2]


def entry(op: Op, call: Call, known: dict[str, Callable[..., Any]]) -> list[str]:
    """Return the entry of one operator: a heading with its anchor, and everything it declares."""
    inputs = op.inputs or ("fields",)
    name = _builder_of(op, known)
    example, work = _typed(call)
    words, cost = _words(op.relation), _cost_words(op)
    lines = [f"({anchor(op.name)})=", f"## {plain(op.name)}", "", plain(op.description), ""]
    lines += ["```{math}", op.formula, "```", ""]
    lines += fenced(_signature(name, known[name]), "python")
    note = inspect.getdoc(known[name]) or ""
    summary = " ".join(note.split()).rstrip(".")
    if summary and _without_verb(summary) != _without_verb(op.description):
        lines += [prose(summary) + ".", ""]
    arguments = "any number of tensors, or a tuple" if op.inputs is None else ", ".join(map(code, inputs))
    facts = f"Inputs: {arguments or 'none'}. Level {op.level}. Pattern: {PATTERN_NAMES[op.pattern]}."
    lines += [f"{facts} Operations: {cost}." if cost else facts, ""]
    if op.attrs_class is not None and op.attrs_class._fields:
        rows = [_attribute(field) for field in op.attrs_class._fields.values()]
        lines += table(["Attribute", "Kind", "Default", "Meaning"], rows)
    lines += [f"**Type.** {_law(op.relation, inputs)}{'. ' + words if words else '.'}", ""]
    lines += fenced(example)
    if work:
        lines += [f"{work:,} floating-point operations in this example.", ""]
    if program := _compiled_as(call):
        lines += ["**Canonical form.** The compiler replaces this call by plain operators:", ""]
        lines += fenced(program)
    if op.lenient_in_tvm:
        laxer = prose(op.lenient_in_tvm[:1].lower() + op.lenient_in_tvm[1:])
        lines += [f"**Stricter than TVM.** TVM 0.14's relation was laxer: {laxer}", ""]
    return lines


def _operators(family: str) -> list[Op]:
    ops = [Op.get(name) for name in Op.list_op_names()]
    return [op for op in ops if op.family == family]


def _examples() -> dict[str, Call]:
    """Map each operator's name to the first example call of it."""
    calls: dict[str, Call] = {}
    for call in CALLS:
        assert isinstance(call.op, Op)
        calls.setdefault(call.op.name, call)
    return calls


def _link(op: Op) -> str:
    """Return a link to an operator, whose name may break after a dot or an underscore."""
    name = re.sub(r"([._])", r"\\\1<wbr>", op.name)
    return f"[{name}](#{anchor(op.name)})"


def family_page(family: str) -> str:
    """Return the page of a family: the names of its operators, then an entry for each."""
    ops, examples, known = _operators(family), _examples(), _builders()
    lines = [f"# {TITLES[family]}", "", " · ".join(map(_link, ops)), ""]
    for op in ops:
        lines += entry(op, examples[op.name], known)
    return "\n".join(lines)


def index_table() -> str:
    """Return the table of all operators, with their families, levels and fusion patterns."""
    rows = [
        [_link(op), f"[{TITLES[op.family]}](operators_{op.family})", str(op.level), PATTERN_NAMES[op.pattern]]
        for op in map(Op.get, Op.list_op_names())
    ]
    return "\n".join(table(["Operator", "Family", "Level", "Pattern"], rows))


def families_table() -> str:
    """Return the table of the families, with the number of operators in each."""
    rows = [[f"[{TITLES[family]}](operators_{family})", str(len(_operators(family)))] for family in FAMILIES]
    return "\n".join(table(["Family", "Operators"], rows))


def left_out_list() -> str:
    """Return the list of TVM's operators that the package omits, grouped by the reason."""
    by_reason: dict[str, list[str]] = {}
    for name, why in LEFT_OUT.items():
        by_reason.setdefault(why, []).append(code(f"{name}…" if name.endswith(".") else name))
    return "\n".join([f"* {', '.join(names)}: {plain(why)}." for why, names in by_reason.items()])
