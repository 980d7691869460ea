"""Compile Relay to bytecode.

The program has been optimized and fused before (`vm.prepare`), so that its operators are inside primitive
functions. The rest is arranged by `execute.code`, as for the interpreter: every value is computed in the
innermost block that contains its uses, after its operands, and therefore in the interpreter's order of
effects. Nested functions become functions of their own, which take captured values after their arguments; a
function that captures nothing, and one that calls itself, are called by name.
"""

from __future__ import annotations

from ...ir.adt import Constructor
from ...ir.annotate import set_checked_type
from ...ir.expr import Call, Constant, Expr, Function, GlobalVar, Let, Var
from ...ir.module import IRModule
from ...ir.ndarray import NDArray
from ...ir.op import Op
from ...ir.walk import post_order
from ...text import astext
from ..code import Code, compile_function
from .bytecode import KernelCode, VMFunction, VMProgram
from .function import FunctionCompiler, Known
from .tensors import is_open

HOST = "host"  # the lowering of operators whose result's size depends on data


def compile_module(module: IRModule) -> VMProgram:
    """Compile a module whose types have been inferred and whose operators are inside primitive functions (any
    other operator becomes a kernel of its own). Raise a RelayError where it uses a function that is not
    defined.
    """
    return ModuleCompiler(module).compile()


class ModuleCompiler:
    """The state that the functions of one program share: kernels, constants, names, and the functions still
    to be compiled.
    """

    def __init__(self, module: IRModule) -> None:
        self.module = module
        self.functions: dict[str, VMFunction] = {}
        self.kernels: dict[str, int] = {}  # by text
        self.kernel_codes: list[KernelCode] = []
        self.kernel_of: dict[int, tuple[int, Function]] = {}
        self.constants: list[NDArray] = []
        self.constant_of: dict[int, int] = {}
        self.pending: list[tuple[str, Code, dict[int, Known], tuple[int, ...]]] = []
        self.names: set[str] = {var.name_hint for var in module.functions}
        self.wrappers: dict[object, str] = {}
        self.let_names: dict[int, str] = {}  # of functions that are bound to variables
        self.constructors = {
            var.name_hint: [c.name_hint for c in data.constructors]
            for var, data in module.type_definitions.items()
        }

    def compile(self) -> VMProgram:
        for var, function in reversed(self.module.functions.items()):
            self._add(var.name_hint, function)
        while self.pending:
            compiler = FunctionCompiler(self, *self.pending.pop())
            self.functions[compiler.name] = compiler.compile()
        own = [var.name_hint for var in self.module.functions]
        functions = {name: self.functions[name] for name in dict.fromkeys([*own, *self.functions])}
        types = tuple(self.module.type_definitions.values())
        return VMProgram(functions, tuple(self.kernel_codes), tuple(self.constants), types)

    def _add(self, name: str, function: Function) -> None:
        for node in post_order(function):
            if isinstance(node, Let) and isinstance(node.value, Function):
                self.let_names[id(node.value)] = node.var.name_hint
        self.functions[name] = _NOTHING
        self.pending.append((name, compile_function(function), {}, ()))

    def global_name(self, var: GlobalVar) -> str:
        """Return the name of a function of the module; raise a ModuleError where there is none."""
        target = self.module.get_global_var(var.name_hint)
        if target.name_hint not in self.functions:  # a library has just added it
            self._add(target.name_hint, self.module[target])
        return target.name_hint

    def is_host(self, kernel: int) -> bool:
        return self.kernel_codes[kernel].host

    def fresh(self, base: str) -> str:
        """Return a name that no function has."""
        name, number = base, 1
        while name in self.names:
            number += 1
            name = f"{base}_{number}"
        self.names.add(name)
        return name

    def constant(self, node: Constant) -> int:
        if id(node.data) not in self.constant_of:
            self.constant_of[id(node.data)] = len(self.constants)
            self.constants.append(node.data)
        return self.constant_of[id(node.data)]

    def kernel(self, function: Function) -> int:
        """Return the number of a primitive function's kernel; equal functions share one."""
        if id(function) not in self.kernel_of:
            bare = Function(function.params, function.body, function.ret_type, None, {"Primitive": 1})
            text = astext(bare, annotate=_nothing).partition("\n")[2].strip()  # without the version line
            if text not in self.kernels:
                calls = [n for n in post_order(function.body) if isinstance(n, Call)]
                names = [n.op.name.rpartition(".")[2] for n in calls if isinstance(n.op, Op)]
                host = any(map(computes_size, calls)) or is_open(function)
                self.kernels[text] = len(self.kernels)
                self.kernel_codes.append(KernelCode("_".join(names)[:60] or "copy", text, host, function))
            self.kernel_of[id(function)] = self.kernels[text], function
        return self.kernel_of[id(function)][0]

    def wrapper(self, callee: Op | Constructor | Function) -> str:
        """Return the name of a function that wraps an operator, constructor or kernel that is used as a
        value.
        """
        if callee not in self.wrappers:
            if isinstance(callee, Function):
                params = [Var(p.name_hint, p.checked_type) for p in callee.params]
            else:
                inputs = (
                    callee.inputs or () if isinstance(callee, Constructor) else callee.inputs or ("data",)
                )
                params = [Var(f"x{k}") for k in range(len(inputs))]
            attrs = callee.attrs_class() if isinstance(callee, Op) and callee.attrs_class else None
            body = Call(callee, params, attrs)
            if isinstance(callee, Function):
                set_checked_type(body, callee.body.checked_type)
            base = "kernel" if isinstance(callee, Function) else callee.name
            name = self.wrappers[callee] = self.fresh(base)
            self.functions[name] = _NOTHING
            self.pending.append((name, compile_function(Function(params, body)), {}, ()))
        return self.wrappers[callee]


_NOTHING = VMFunction("", (), (), 0, 0, ())


def computes_size(call: Call) -> bool:
    """Whether the sizes of an operator's result depend on data."""
    if not isinstance(call.op, Op):
        return False
    if call.op.name == "collapse_sum_to":
        return call.attrs is None or call.attrs["shape"] is None
    return call.op.lowering == HOST


def _nothing(expr: Expr) -> str:
    """Return no annotation: the types inside a kernel follow from those of its parameters."""
    return ""
