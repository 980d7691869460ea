# %%
from pocket import ir
from pocket.scopes import post_order
from pocket.visitor import find_all, rewrite


def find_live(function):
    """Return what the result depends on, directly or by variables."""
    bound = {let.var: let.value for let in find_all(function, ir.Let)}
    live = {function}
    for expr in reversed(post_order(function)):
        if expr in live:
            is_let = isinstance(expr, ir.Let)
            parts = [expr.body] if is_let else ir.children(expr)
            live.update(parts, [bound.get(part, part) for part in parts])
    return live


# %%
def remove_dead(function):
    """Remove every `let` whose variable the result does not need."""
    live = find_live(function)

    def sweep(expr):
        dead = isinstance(expr, ir.Let) and expr.var not in live
        return expr.body if dead else expr

    return rewrite(function, sweep)
