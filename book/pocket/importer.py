# %%
from pocket import ir


def linear(x, weight, bias):
    product = ir.call("nn.dense", x, weight)
    return ir.call("nn.bias_add", product, bias, axis=-1)


def layer_norm(x, shape, weight, bias, epsilon=1e-5, *options):
    attrs = {"axis": tuple(range(-len(shape), 0)), "keepdims": True}
    centered = ir.call("subtract", x, ir.call("mean", x, **attrs))
    square = ir.call("multiply", centered, centered)
    variance = ir.call("mean", square, **attrs)
    deviation = ir.call("sqrt", ir.call("add", variance, number(epsilon)))
    scaled = ir.call("divide", centered, deviation)
    return ir.call("add", ir.call("multiply", scaled, weight), bias)


# %%
import numpy as np


def number(value):
    return ir.Constant(np.array(value, "float32"))


def mean(x, axis, keepdims=False):
    return ir.call("mean", x, axis=tuple(axis), keepdims=keepdims)


CONVERTERS = {
    "aten.linear.default": linear,
    "aten.layer_norm.default": layer_norm,
    "aten.mean.dim": mean,
    "aten.relu.default": lambda x: ir.call("nn.relu", x),
    "aten.tanh.default": lambda x: ir.call("tanh", x),
    "aten.flatten.using_ints": lambda x: ir.call(
        "reshape", x, newshape=(-1,)
    ),
    "aten.softmax.int": lambda x, axis: ir.call("nn.softmax", x, axis=axis),
}


# %%
def import_program(program, converters=CONVERTERS):
    """Convert a program that torch.export has recorded."""
    nodes = program.graph.nodes
    used = {str(n.target) for n in nodes if n.op == "call_function"}
    if missing := used - converters.keys():
        names = ", ".join(sorted(missing))
        raise NotImplementedError(f"there is no converter for {names}")
    weights = program.graph_signature.inputs_to_parameters
    known, params = {}, []
    for node in nodes:
        args = [
            known[arg] if isinstance(arg, type(node)) else arg
            for arg in node.args
        ]
        if node.op == "placeholder" and node.name in weights:
            value = program.state_dict[weights[node.name]]
            known[node] = ir.Constant(value.detach().numpy())
        elif node.op == "placeholder":
            known[node] = ir.Var(node.name)
            params.append(known[node])
        elif node.op == "call_function":
            known[node] = converters[str(node.target)](*args)
    (result,) = node.args[0]  # the last node returns the results
    return ir.Module({"main": ir.Function(tuple(params), known[result])})
