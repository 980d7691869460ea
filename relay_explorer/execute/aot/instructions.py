"""Translate each instruction to C: one function per instruction adds its lines to a FunctionWriter."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...ir.errors import RelayError
from ...ir.nest import leaf_types
from ..vm.bytecode import (
    AllocADT,
    AllocClosure,
    AllocStorage,
    AllocTensor,
    AllocTensorReg,
    AllocTuple,
    Fatal,
    GetField,
    Goto,
    If,
    Instruction,
    Invoke,
    InvokeClosure,
    InvokeHost,
    InvokePacked,
    LoadConst,
    LoadConsti,
    Move,
    NewRef,
    ReadRef,
    ReshapeTensor,
    Ret,
    ShapeFunc,
    Switch,
    TailInvoke,
    TailInvokeClosure,
    WriteRef,
)
from .computed import c_type, computed_call
from .functions import FunctionWriter
from .names import comment
from .shape_constraints import shape_constraints

MAX_BYTES = 1 << 62  # C's integers can hold it, and no memory is as large


def _move(w: FunctionWriter, i: Move, n: int) -> None:
    w.lines.append(f"  {{ Object *made = {w.values([i.source], n)[0]};")
    w.settle(i.to, n, [i.source])


def _load_const(w: FunctionWriter, i: LoadConst, n: int) -> None:
    if i.to in w.live[n + 1]:
        w.lines.append(f"  r[{i.to}] = &c{i.constant}.head;")


def _load_consti(w: FunctionWriter, i: LoadConsti, n: int) -> None:
    if i.to in w.live[n + 1]:
        w.lines.append(f"  r[{i.to}] = &{w.names.scalar(i.value, i.dtype)}.head;")


def _alloc_storage(w: FunctionWriter, i: AllocStorage, n: int) -> None:
    w.made(i.to, f"storage(m, {min(i.size, MAX_BYTES)}u)", n)


def _alloc_tensor(w: FunctionWriter, i: AllocTensor, n: int) -> None:
    shape = w.names.shape(i.shape)
    w.made(i.to, f"tensor_in(m, r[{i.storage}], {c_type(i.dtype)}, {len(i.shape)}, {shape})", n)


def _alloc_tensor_reg(w: FunctionWriter, i: AllocTensorReg, n: int) -> None:
    sizes = f"TENSOR_OF(r[{i.shape}])"
    w.made(i.to, f"tensor_of(m, {c_type(i.dtype)}, (int32_t){sizes}->shape[0], {sizes}->data, NULL)", n)


def _reshape(w: FunctionWriter, i: ReshapeTensor, n: int) -> None:
    w.made(i.to, f"reshaped(m, r[{i.source}], {len(i.shape)}, {w.names.shape(i.shape)})", n)


_C_OPERATORS = {"Add": "+", "Sub": "-", "Mul": "*"}
_C_FUNCTIONS = {
    "FloorDiv": "floor_div", "FloorMod": "floor_mod", "Div": "floor_div", "Mod": "floor_mod",
    "Min": "least", "Max": "greatest",
}  # fmt: skip


def _size(program: Any, arguments: Sequence[int]) -> str:
    """Write a size as a C expression (see `lower.codegen.symbolic_sizes` for its encoding, which nests at
    most 200 levels deep).
    """
    if isinstance(program, int):
        return f"INT64_C({program})"
    name, left, right = program
    if name == "in":
        return f"TENSOR_OF(r[{arguments[left]}])->shape[{right}]"
    a, b = _size(left, arguments), _size(right, arguments)
    if name in _C_OPERATORS:
        return f"({a} {_C_OPERATORS[name]} {b})"
    return f"{_C_FUNCTIONS[name]}({a}, {b})"


def _place(w: FunctionWriter, n: int) -> str:
    """Return the position of an instruction in the program's text, as a line of an error message; an empty
    string where it is unknown.
    """
    span = w.function.spans[n] if w.function.spans else None
    return "" if span is None else f"\\nnote: at {_escaped(str(span))}".replace("%", "%%")


def _check_agreements(w: FunctionWriter, i: ShapeFunc, n: int) -> None:
    """Emit checks that sizes which are known only at run time agree; the kernel does not check them."""
    code = w.names.program.kernels[i.kernel]
    for agreement in shape_constraints(code.function):
        places = agreement.places
        sizes = ", ".join(f"TENSOR_OF(r[{i.arguments[number]}])->shape[{axis}]" for number, axis in places)
        ones = ", ".join(str(int(place in agreement.ones)) for place in places)
        number = -1 if agreement.number is None else agreement.number
        w.lines.append(
            f"  {{ const int64_t s[] = {{{sizes}}}; static const char one[] = {{{ones}}};\n"
            f"    int64_t all = {number}; for (int k = 0; k < {len(places)}; k++) {{\n"
            "      if (one[k] && s[k] == 1) continue;\n"
            "      if (all < 0) all = s[k];\n"
            '      if (s[k] != all) return failed(m, "`%s` is called with inconsistent sizes: %lld and '
            f'%lld{_place(w, n)}", "{_escaped(code.name)}", (long long)all, (long long)s[k]); }} }}'
        )


def _shape_func(w: FunctionWriter, i: ShapeFunc, n: int) -> None:
    _check_agreements(w, i, n)
    programs = w.names.sizes[i.kernel]
    if programs is None:  # these sizes are static, though those of some arguments are not
        result_types = leaf_types(w.names.program.kernels[i.kernel].function.body.checked_type)
        assert result_types is not None
        programs = [list(t.concrete_shape) for t in result_types]
    allocated = []
    w.lines.append("  {")
    for k, (to, sizes) in enumerate(zip(i.to, programs)):
        if to not in w.live[n + 1]:
            continue
        values = ", ".join(_size(size, i.arguments) for size in sizes) or "0"
        w.lines.append(f"  const int64_t sizes{k}[] = {{{values}}};")
        w.lines.append(f"  Object *made{k} = shape_value(m, {len(sizes)}, sizes{k}); if (!made{k}) return 1;")
        allocated.append((to, k))
    w.clear(w.dying(n))
    w.lines.append("  " + " ".join(f"r[{to}] = made{k};" for to, k in allocated) + " }")


def _invoke_packed(w: FunctionWriter, i: InvokePacked, n: int) -> None:
    name = w.names.kernel(i.kernel)
    arguments = ", ".join(f"ARGUMENT(r[{register}])" for register in (*i.arguments, *i.results))
    count = len(i.arguments) + len(i.results)
    w.lines.append(f"  {{ const Argument a[] = {{{arguments}}};")
    w.lines.append(f"  if (run_kernel(m, {name}, {i.kernel}, a, {count})) return 1; }}")
    w.clear(w.dying(n))


def _invoke_host(w: FunctionWriter, i: InvokeHost, n: int) -> None:
    """Emit the call of a kernel that computes the sizes of its results and therefore allocates them
    itself.
    """
    code = w.names.program.kernels[i.kernel]
    computed = computed_call(code.function, i.arguments, w.names)
    if computed is None:
        raise RelayError(
            "the program cannot be compiled ahead of time: the size of the results of "
            f"`{code.name}` is known only once Python has computed them",
            w.function.spans[n] if w.function.spans else None,
            help=["the virtual machine runs it"],
        )
    call, count = computed
    place = _place(w, n).replace("%%", "%")
    w.lines.append(f"  {{ Object *made[{count}] = {{NULL}}; int64_t began = nanoseconds();")
    w.lines.append(f'  if ({call})) return add_location(m, "{place}");')
    noted = [*[f"r[{register}]" for register in i.arguments], *[f"made[{k}]" for k in range(count)]]
    tensors = ", ".join(f"ARGUMENT({value})" for value in noted)
    w.lines.append(f"  note_call(m, {i.kernel}, began, (const Argument[]){{{tensors}}}, {len(noted)});")
    w.clear(w.dying(n))
    assignments = [
        f"r[{to}] = made[{k}];" if to in w.live[n + 1] else f"drop(m, made[{k}]);"
        for k, to in enumerate(i.to)
    ]
    w.lines.append(f"  {' '.join(assignments)} }}")


def _alloc(w: FunctionWriter, to: int, kind: str, tag: int, registers: Sequence[int], n: int) -> None:
    w.lines.append(f"  {{ Object *made = parts(m, {kind}, {tag}, {len(registers)}); if (!made) return 1;")
    for k, value in enumerate(w.values(registers, n)):
        w.lines.append(f"  PART(made, {k}) = {value};")
    w.settle(to, n, registers)


def _alloc_tuple(w: FunctionWriter, i: AllocTuple, n: int) -> None:
    _alloc(w, i.to, "FIELDS", 0, i.parts, n)


def _alloc_adt(w: FunctionWriter, i: AllocADT, n: int) -> None:
    _alloc(w, i.to, "FIELDS", w.names.tags[i.type, i.constructor], i.parts, n)


def _alloc_closure(w: FunctionWriter, i: AllocClosure, n: int) -> None:
    _alloc(w, i.to, "CLOSURE", w.names.numbers[i.function], i.captured, n)


def _new_ref(w: FunctionWriter, i: NewRef, n: int) -> None:
    w.lines.append("  { Object *made = new_cell(m); if (!made) return 1;")
    w.lines.append(f"  PART(made, 0) = {w.values([i.value], n)[0]};")
    w.settle(i.to, n, [i.value])


def _get_field(w: FunctionWriter, i: GetField, n: int) -> None:
    w.lines.append(f"  {{ Object *made = keep(PART(r[{i.source}], {i.index}));")
    w.settle(i.to, n)


def _read_ref(w: FunctionWriter, i: ReadRef, n: int) -> None:
    w.lines.append(f"  {{ Object *made = keep(PART(r[{i.ref}], 0));")
    w.settle(i.to, n)


def _write_ref(w: FunctionWriter, i: WriteRef, n: int) -> None:
    # The cell may itself be the value, or be read last here, so its old content is dropped first.
    value = w.values([i.value], n)[0] if i.value != i.ref else f"keep(r[{i.ref}])"
    w.lines.append(f"  {{ Object **place = &PART(r[{i.ref}], 0), *before = *place; *place = {value};")
    w.lines.append("  drop(m, before); }")
    w.clear(r for r in w.dying(n) if r != i.value or i.value == i.ref)


def _if(w: FunctionWriter, i: If, n: int) -> None:
    w.lines.append(f"  if (!*(const uint8_t *)TENSOR_OF(r[{i.condition}])->data) "
                   f"{{ {w.edge(n, i.otherwise)}goto L{i.otherwise}; }}")  # fmt: skip
    if before := w.edge(n, n + 1):
        w.lines.append(f"  {before}")


def _switch(w: FunctionWriter, i: Switch, n: int) -> None:
    w.lines.append(f"  switch (r[{i.source}]->tag) {{")
    cases = list(i.cases)
    last = i.otherwise
    if last < 0:
        cases, last = cases[:-1], cases[-1][1]
    for constructor, target in cases:
        tag = w.names.tags[i.type, constructor]
        w.lines.append(f"  case {tag} /* {comment(constructor)} */: {w.edge(n, target)}goto L{target};")
    w.lines.append(f"  default: {w.edge(n, last)}goto L{last};")
    w.lines.append("  }")


def _goto(w: FunctionWriter, i: Goto, n: int) -> None:
    w.lines.append(f"  goto L{i.target};")


def _suspend(w: FunctionWriter, to: int, n: int) -> None:
    """Return to the machine's loop, and resume after that with the result of the call."""
    w.lines.append(f"  return 0; }}\nback{w.returns}:")
    if to in w.live[n + 1]:
        w.lines.append(f"  r[{to}] = m->result;")
    else:
        w.lines.append("  drop(m, m->result);")


def _invoke(w: FunctionWriter, i: Invoke, n: int) -> None:
    w.returns += 1
    w.lines.append(f"  {{ m->frames[m->depth - 1].at = {w.returns};")
    w.lines.append(f"  Object **a = enter(m, &functions[{w.names.numbers[i.function]}]); if (!a) return 1;")
    w.lines.append("  r = registers(m, 2);")
    for k, value in enumerate(w.values(i.arguments, n)):
        w.lines.append(f"  a[{k}] = {value};")
    _suspend(w, i.to, n)


def _check_number(w: FunctionWriter, closure: int, count: int) -> None:
    """Emit a check of the number of arguments: a function from outside may differ from its declared type
    where that contained a type variable.
    """
    w.lines.append(
        f"  if (FUNCTIONS_GO_OUT && arity_of(r[{closure}]) != {count}) return failed(m, "
        f'"the function expects %u arguments, got {count}", (unsigned)arity_of(r[{closure}]));'
    )


def _invoke_closure(w: FunctionWriter, i: InvokeClosure, n: int) -> None:
    w.returns += 1
    w.lines.append(f"  {{ m->frames[m->depth - 1].at = {w.returns};")
    _check_number(w, i.closure, len(i.arguments))
    w.lines.append(f"  Object *callee = keep(r[{i.closure}]), **a = enter(m, &functions[callee->tag]);")
    w.lines.append("  if (!a) { drop(m, callee); return 1; }")
    w.lines.append("  r = registers(m, 2);")
    for k, value in enumerate(w.values(i.arguments, n)):
        w.lines.append(f"  a[{k}] = {value};")
    if i.closure in w.dying(n) and i.closure not in i.arguments:
        w.clear([i.closure])
    w.lines.append(f"  captured(m, callee, a + {len(i.arguments)});")
    _suspend(w, i.to, n)


def _tail_invoke(w: FunctionWriter, i: TailInvoke, n: int) -> None:
    values = w.values(i.arguments, n)
    declarations = "".join(f"Object *a{k} = {value}; " for k, value in enumerate(values))
    w.lines.append(f"  {{ {declarations}")
    if i.function == w.function.name:
        w.lines.append("  " + " ".join(f"r[{k}] = a{k};" for k in range(len(values))) + " goto start; }")
        return
    failed = "".join(f"drop(m, a{k}); " for k in range(len(values)))
    w.lines.append(f"  r = replace(m, &functions[{w.names.numbers[i.function]}]); "
                   f"if (!r) {{ {failed}return 1; }}")  # fmt: skip
    w.lines.append("  " + " ".join(f"r[{k}] = a{k};" for k in range(len(values))) + " return 0; }")


def _tail_invoke_closure(w: FunctionWriter, i: TailInvokeClosure, n: int) -> None:
    values = w.values(i.arguments, n)
    declarations = "".join(f"Object *a{k} = {value}; " for k, value in enumerate(values))
    failed = "".join(f"drop(m, a{k}); " for k in range(len(values)))
    closure = f"take(&r[{i.closure}])" if i.closure not in i.arguments else f"keep(r[{i.closure}])"
    callee = f"Object *callee = {closure};"
    order = f"{callee} {declarations}" if i.closure in i.arguments else f"{declarations}{callee}"
    w.lines.append("  {")
    _check_number(w, i.closure, len(i.arguments))
    w.lines.append(f"  {order}")
    w.lines.append("  r = replace(m, &functions[callee->tag]);")
    w.lines.append(f"  if (!r) {{ {failed}drop(m, callee); return 1; }}")
    w.lines.append("  " + " ".join(f"r[{k}] = a{k};" for k in range(len(values))))
    w.lines.append(f"  captured(m, callee, r + {len(values)}); return 0; }}")


def _ret(w: FunctionWriter, i: Ret, n: int) -> None:
    w.lines.append(f"  return returned(m, take(&r[{i.result}]));")


def _fatal(w: FunctionWriter, i: Fatal, n: int) -> None:
    rest = "".join(
        f"\\n{word}: {_escaped(text)}" for word, text in (("note", i.note), ("help", i.help)) if text
    )
    place = _place(w, n).replace("%%", "%")
    w.lines.append(f'  return failed(m, "%s", "no clause matches the value{place}{rest}");')


def _escaped(text: str) -> str:
    return "".join(c if c.isprintable() and c not in '"\\?' else f"\\{ord(c):03o}" if ord(c) < 256 else c
                   for c in text)  # fmt: skip


WRITERS: Mapping[type[Instruction], Callable[[FunctionWriter, Any, int], None]] = {
    Move: _move, LoadConst: _load_const, LoadConsti: _load_consti, AllocStorage: _alloc_storage,
    AllocTensor: _alloc_tensor, AllocTensorReg: _alloc_tensor_reg, ReshapeTensor: _reshape,
    ShapeFunc: _shape_func, InvokePacked: _invoke_packed, InvokeHost: _invoke_host,
    AllocTuple: _alloc_tuple, AllocADT: _alloc_adt, AllocClosure: _alloc_closure, GetField: _get_field,
    Switch: _switch, If: _if, Goto: _goto, Invoke: _invoke, InvokeClosure: _invoke_closure,
    TailInvoke: _tail_invoke, TailInvokeClosure: _tail_invoke_closure, NewRef: _new_ref, ReadRef: _read_ref,
    WriteRef: _write_ref, Ret: _ret, Fatal: _fatal,
}  # fmt: skip
