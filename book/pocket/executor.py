# %%
import ctypes
from math import ceil, prod

import numpy as np
from pocket import c_code, cse, dce, folding, fusion, ir, loops, memory
from pocket import passes, scopes, solver
from pocket.interpreter import REFERENCE
from pocket.visitor import find_all, map_functions, rewrite


def has_formulas(function):
    """Return whether a function is a kernel that C can be written for."""
    types = function.return_type, *(p.type for p in function.params)
    floats = all(getattr(t, "dtype", "") == "float32" for t in types)
    names = {operator.name for operator in find_all(function, ir.Op)}
    return function.primitive and floats and names <= loops.FORMULAS.keys()


def compile_kernels(kernels):
    """Compile functions as one library; return the machine code of each."""
    sources = [c_code.c_function(name, f) for name, f in kernels.items()]
    library = c_code.compile_c("\n".join(sources))
    return {name: getattr(library, name) for name in kernels}


# %%
def launcher(function, code):
    """Return the implementation of an operator that launches a kernel."""
    shapes = [param.type.shape for param in function.params]
    shape, count = function.return_type.shape, len(shapes)

    def launch(*args, offset=0):
        arrays = [np.asarray(x, "float32", order="C") for x in args[:count]]
        if [array.shape for array in arrays] != shapes:
            raise ValueError(f"a kernel needs tensors of {shapes}")
        result = np.ndarray(shape, "float32", *args[count:], offset=offset)
        code(*[ctypes.c_void_p(a.ctypes.data) for a in (*arrays, result)])
        return result

    return launch


REFERENCE["arena"] = lambda size: np.empty(size, "uint8")


# %%
def link(module):
    """Replace calls of kernels by operators that launch machine code."""
    functions, operators = module.functions.items(), {}
    kernels = {name: f for name, f in functions if has_formulas(f)}
    for name, code in compile_kernels(kernels).items():
        operator = operators[name] = ir.Op(f"{name}.{len(REFERENCE)}")
        REFERENCE[operator.name] = launcher(kernels[name], code)
        lines = ceil(prod(kernels[name].return_type.shape) / 16)
        memory.LAUNCHES[operator] = 64 * lines  # a cache line has 64 bytes

    def new(expr):
        match expr:
            case ir.GlobalVar(name):
                return operators.get(name, expr)
            case ir.Function() | ir.If() | ir.Clause():
                return scopes.map_children(expr, memory.use_arena)
        return expr

    return map_functions(module, lambda f: rewrite(scopes.to_anf(f), new))


# %%
def optimize(module):
    """Run the reader's passes, the last of which is fusion."""
    steps = folding.fold_constants, dce.remove_dead, cse.share_common
    module = passes.sequential(*map(passes.function_pass, steps))(module)
    return fusion.fuse(module, solver.infer_types(module))


def build(module):
    """Compile a program; the interpreter runs the result."""
    return link(optimize(module))
