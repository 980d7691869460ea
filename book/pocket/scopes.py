# %%
from collections import defaultdict
from dataclasses import replace

from pocket import ir


def post_order(root, order=None):
    """Number the nodes of a program, operands first, each once."""
    order = {} if order is None else order
    if root not in order:
        for child in ir.children(root):
            post_order(child, order)
        order[root] = len(order)
    return order


# %%
def free_vars(root):
    """Return the variables that are used but not bound, in order."""
    order = post_order(root)
    binders = [b for expr in order for b in ir.children(expr, binders=True)]
    bound = {part for binder in binders for part in post_order(binder)}
    return [e for e in order if isinstance(e, ir.Var) and e not in bound]


# %%
def child_scope(scope, expr, child):
    """Return the scope of a child: a body or a branch has its own."""
    branch = isinstance(expr, ir.If) and child is not expr.condition
    block = branch or isinstance(expr, (ir.Function, ir.Clause))
    return (*scope, (expr, child)) if block else scope


# %%
def find_scopes(root):
    """Return the innermost scope around all uses of each expression."""
    scope_of = {root: ()}
    for expr in reversed(post_order(root)):
        for child in ir.children(expr):
            scope = child_scope(scope_of[expr], expr, child)
            old = scope_of.get(child, scope)
            while scope != old[: len(scope)]:
                scope = scope[:-1]  # up to the scope that encloses both
            scope_of[child] = scope
    return scope_of


# %%
def map_children(node, change):
    """Rebuild a node from its changed children, if any has changed."""

    def new(value):
        if isinstance(value, tuple):
            return tuple([new(part) for part in value])
        return change(value) if isinstance(value, ir.Node) else value

    old = {n: v for n, v in vars(node).items() if n not in ir.UNEVALUATED}
    fields = {name: new(value) for name, value in old.items()}
    return node if fields == old else replace(node, **fields)


# %%
ATOMS = (ir.Var, ir.Op, ir.GlobalVar, ir.Constructor)


def to_anf(root):
    """Bind every intermediate value by a `let`, once for all its uses."""
    scopes, names, bindings = find_scopes(root), {}, defaultdict(list)

    def name(expr, var=None):
        """Return the variable that stands for an expression."""
        if isinstance(expr, ir.Let):
            names[expr.var] = name(expr.value, expr.var)
            return name(expr.body)
        if expr not in names:
            new = map_children(expr, lambda child: operand(child, expr))
            names[expr] = new  # unless it gets a variable
            if not isinstance(expr, (*ATOMS, ir.Clause)):
                names[expr] = var or ir.Var("x")
                bindings[scopes[expr]].append((names[expr], new))
        return names[expr]

    def operand(child, expr):
        """Return the name of a child, or its block if it has one."""
        scope = child_scope(scopes[expr], expr, child)
        return name(child) if scope == scopes[expr] else block(child, scope)

    def block(body, scope):
        """Wrap the result of a block in the bindings of its scope."""
        result = name(body)
        for var, value in reversed(bindings[scope]):
            result = ir.Let(var, value, result)
        return result

    result = block(root, ())
    return result.value if isinstance(root, ir.Function) else result
