# %%
from collections import namedtuple
from textwrap import indent

from pocket import ir

Block = namedtuple("Block", ["names", "lines"])


def name_of(expr, block):
    """Name a variable, or number another expression: %x, %x1, %0, %1."""
    if expr not in block.names:
        stem, taken = getattr(expr, "name", ""), set(block.names.values())
        numbers = ["" if stem else 0, *range(1, len(taken) + 1)]
        names = (f"%{stem}{number}" for number in numbers)
        block.names[expr] = next(n for n in names if n not in taken)
    return block.names[expr]


def declare(var, block):
    """Write a variable where it is bound, with its type."""
    return name_of(var, block) + (f": {var.type}" if var.type else "")


# %%
SHORT = ir.Var, ir.Constant, ir.Op, ir.GlobalVar, ir.TupleGetItem


def operand(expr, block):
    """Write an operand: short ones in place, others on their own line."""
    text = write(expr, block)
    is_data = isinstance(getattr(expr, "callee", expr), ir.Constructor)
    if isinstance(expr, SHORT) or is_data or expr in block.names:
        return text
    block.lines.append(f"{name_of(expr, block)} = {text};")
    return block.names[expr]


def write_lines(body, names):
    """Write an expression after the lines for its operands."""
    block = Block(dict(names), [])
    result = write(body, block)
    return "\n".join([*block.lines, result]).replace("'", '"')


def write_block(body, block):
    return f"{{\n{indent(write_lines(body, block.names), '  ')}\n}}"


# %%
SUFFIX = {"float32": "f", "float64": "f64", "int64": "i64"}


def write(expr, block):
    """Write an expression; lines for its operands come before it."""
    if isinstance(expr, ir.Var) or expr in block.names:
        return name_of(expr, block)
    match expr:
        case ir.Constant(value) if value.ndim:
            return f"const({value.shape}, {value.dtype})"
        case ir.Constant(value):
            return f"{value}{SUFFIX.get(str(value.dtype), '')}"
        case ir.Op(name) | ir.Constructor(name):
            return name
        case ir.GlobalVar(name):
            return f"@{name}"
        case ir.TupleGetItem(value, index):
            return f"{operand(value, block)}.{index}"
        case ir.Tuple(fields):
            parts = [operand(field, block) for field in fields]
            return f"({', '.join(parts)}{',' * (len(parts) == 1)})"
        case ir.Call(callee, args, attrs):
            parts = [operand(arg, block) for arg in args]
            parts += [f"{name}={value!r}" for name, value in attrs.items()]
            return f"{operand(callee, block)}({', '.join(parts)})"
        case ir.Let(var, value, body):
            line = f"let {declare(var, block)} = {write(value, block)};"
            block.lines.append(line)
            return write(body, block)
        case ir.If(test, yes, no):
            head = f"if ({operand(test, block)}) {write_block(yes, block)}"
            return f"{head} else {write_block(no, block)}"
        case ir.Match(data, clauses):
            head = f"match ({operand(data, block)}) {{\n"
            return head + "".join([write(c, block) for c in clauses]) + "}"
        case ir.Clause(pattern, body):
            head = f"{write(pattern, block)} =>"
            return indent(f"{head} {write_block(body, block)},\n", "  ")
        case ir.Function(params, body, result, type_params, primitive):
            parts = [declare(param, block) for param in params]
            parts += ["Primitive=1"] * primitive
            head = f"fn {list(type_params) or ''}({', '.join(parts)})"
            head += f" -> {result}" if result else ""
            return f"{head} {write_block(body, block)}"


# %%
def show(program):
    """Return a module, a function or another expression as text."""
    if not isinstance(program, ir.Module):
        return write_lines(program, {})
    texts = []
    for parts in program.datatypes.values():
        cases = [f"{c.name}{c.field_types or ''}" for c in parts]
        texts.append(f"type {parts[0].datatype} {{ {', '.join(cases)} }}")
    for name, function in program.functions.items():
        text = write_lines(function, {}).removeprefix("fn ")
        texts.append(f"def @{name}{text}")
    return "\n\n".join(texts)
