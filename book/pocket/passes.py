# %%
from pocket import printer, solver, visitor


def function_pass(rewrite):
    """Make a pass of a function that rewrites one function."""

    def transform(module):
        return visitor.map_functions(module, rewrite)

    transform.__name__ = rewrite.__name__
    return transform


# %%
def sequential(*passes, verbose=False):
    """Run passes in order, and check the types after each of them."""

    def pipeline(module):
        for step in passes:
            before, module = module, step(module)
            try:
                solver.infer_types(module)
            except (TypeError, ValueError) as error:
                error.add_note(f"after the pass {step.__name__}")
                raise
            if verbose and printer.show(module) != printer.show(before):
                print(f"-- {step.__name__}\n{printer.show(module)}")
        return module

    return pipeline
