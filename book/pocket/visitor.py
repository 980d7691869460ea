# %%
from dataclasses import replace

from pocket.scopes import map_children, post_order


def find_all(root, kind):
    """Return the expressions of one kind, operands first, each once."""
    return [expr for expr in post_order(root) if isinstance(expr, kind)]


# %%
def rewrite(root, change):
    """Rebuild a program, operands first; `change` sees each new node."""
    new = {}
    for expr in post_order(root):
        new[expr] = change(map_children(expr, new.get))
    return new[root]


def substitute(root, values):
    """Replace variables by expressions."""
    return rewrite(root, lambda expr: values.get(expr, expr))


# %%
def map_functions(module, change):
    """Apply a change to every function of a module."""
    functions = module.functions.items()
    new = {name: change(function) for name, function in functions}
    return replace(module, functions=new)
