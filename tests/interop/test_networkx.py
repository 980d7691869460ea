"""Programs as graphs of networkx: what nodes and edges say, and what networkx computes from them."""

from __future__ import annotations

import importlib
import io
import random
import time
from typing import Any

import networkx as nx
import pytest

from relay_explorer import models, relay
from relay_explorer.analysis.dataflow_graph import DataflowGraph, PostDominators
from relay_explorer.interop import ENTRY, EXIT, from_networkx, to_networkx
from relay_explorer.interop.networks import KINDS
from relay_explorer.interop.plain import plain
from relay_explorer.ir import Call, Expr, Function, IRModule, RelayError, Var, structural_equal
from relay_explorer.ir.narrow import as_let
from relay_explorer.ir.op import OpPattern
from relay_explorer.testing import generate
from relay_explorer.transform.fuse_ops.groups import Fusion, Limits, Partition
from relay_explorer.typing import infer_types, record

SMALL = """
def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(4, 3), float32]) {
  let %y = nn.dense(%x, %w);
  %0 = tanh(%y);
  add(%0, %y)
}
"""
EVERYTHING = """
type Wrapped[A] { Wrap(A), Nothing }
def @down(%n: int32, %r: ref(float32)) -> float32 {
  if (greater(%n, 0)) {
    let %old = ref_read(%r);
    let %_ = ref_write(%r, multiply(%old, 2f));
    @down(subtract(%n, 1), %r)
  } else { ref_read(%r) }
}
def @main(%n: int32, %x: float32) {
  let %again = fn (%f: fn (float32) -> float32, %v: float32) { %f(%f(%v)) };
  let %cell = ref(%x);
  %0 = (%x, @down(%n, %cell));
  match (Wrap(%0.1)) {
    Wrap(%inner) => %again(fn (%v: float32) { tanh(%v) }, %inner),
    Nothing => %0.0
  }
}
"""


def named(graph: Any) -> dict[str, int]:
    """Return the keys of the nodes by their printed names; a variable counts, not its value."""
    return {name: node for node, name in graph.nodes(data="name")}


class TestText:
    """`text=True`: graphs for files."""

    @pytest.mark.parametrize("kind", list(KINDS))
    def test_a_file_holds_every_graph(self, kind: str) -> None:
        module = models.load("tree_lstm")
        graph, whole = to_networkx(module, kind, text=True), to_networkx(module, kind)
        file = io.BytesIO()
        nx.write_graphml(graph, file)
        file.seek(0)
        key = int if graph.has_node(0) else str
        read = nx.read_graphml(file, node_type=key, force_multigraph=graph.is_multigraph())
        assert dict(read.nodes(data=True)) == dict(graph.nodes(data=True))
        assert set(read.edges) == set(whole.edges)
        lost = {name for n, data in whole.nodes(data=True) for name in data.keys() - graph.nodes[n].keys()}
        assert lost <= {"expr", "exprs"}

    def test_attributes_are_text(self) -> None:
        x, w = relay.var("x", shape=(1, 1, 4, 4)), relay.var("w", shape=(1, 1, 3, 3))
        conv = relay.IRModule.from_expr(relay.nn.conv2d(x, w, padding=(1, 1)))
        (node,) = [data for _, data in to_networkx(conv, text=True).nodes(data=True) if "op" in data]
        assert node["attrs"].startswith("strides=(1, 1), padding=(1, 1, 1, 1), dilation=(1, 1)")
        assert node["scope"] == "@main"
        assert node["flops"] == 288

    def test_names_are_text_for_xml(self) -> None:
        x = relay.var("a\x00b", shape=(2,))
        graph = to_networkx(relay.Function([x], relay.exp(x)))
        graph.nodes[0]["label"] = "a\x00<b>"
        assert plain(graph).nodes[0]["label"] == "a <b>"


class TestDataFlow:
    def test_says_what_a_node_is(self) -> None:
        module = relay.parse(SMALL, "small.relay")
        graph = to_networkx(module)
        assert isinstance(graph, nx.MultiDiGraph)
        body = as_let(module["main"].body)
        dense = graph.nodes[graph.graph["node_of"][body.value]]
        assert dense.pop("expr") is body.value
        assert dense == {
            "kind": "Call", "name": "%y", "label": "%y = nn.dense", "family": "matmul", "function": "@main",
            "scope": ("@main",), "op": "nn.dense", "attrs": {"units": None, "out_dtype": ""},
            "pattern": "OUT_ELEMWISE_FUSABLE", "flops": 48, "bytes": 104, "type": "Tensor[(2, 4), float32]",
            "short_type": "(2, 4) f32", "size": 32, "span": "small.relay:3:12",
        }  # fmt: skip
        uses = [data for _, _, data in graph.in_edges(graph.graph["node_of"][body.value], data=True)]
        assert uses == [
            {"operand": 0, "role": "argument", "name": "data"},
            {"operand": 1, "role": "argument", "name": "weight"},
        ]
        assert [name for _, name in graph.nodes(data="defines") if name] == ["main"]

    def test_keys_are_in_the_order_of_evaluation(self) -> None:
        graph = to_networkx(relay.parse(SMALL))
        assert list(graph) == sorted(graph) == list(nx.lexicographical_topological_sort(graph))
        assert [name for _, name in graph.nodes(data="label")] == [
            "%x", "%w", "%y = nn.dense", "%y", "%0 = tanh", "add", "let", "@main = fn",
        ]  # fmt: skip

    def test_joins_variables_with_their_values_on_request(self) -> None:
        module = relay.parse(SMALL)
        joined = to_networkx(module, lets=False)
        graph_form = relay.transform.ToGraphNormalForm()(module)
        assert nx.is_isomorphic(joined, to_networkx(graph_form))
        assert structural_equal(from_networkx(joined), graph_form)

    def test_knows_every_kind_of_expression(self) -> None:
        graph = to_networkx(relay.parse(EVERYTHING))
        kinds = {kind for _, kind in graph.nodes(data="kind")}
        assert kinds == {
            "Call", "Constant", "Function", "GlobalVar", "If", "Let", "Match", "RefCreate", "RefRead",
            "RefWrite", "Tuple", "TupleGetItem", "Var",
        }  # fmt: skip
        roles = {role for *_, role in graph.edges(data="role")}
        assert roles == {
            "argument", "body", "callee", "clause", "condition", "data", "false", "field", "pattern",
            "reference", "true", "tuple", "value",
        }  # fmt: skip
        (write,) = [n for n, kind in graph.nodes(data="kind") if kind == "RefWrite"]
        assert graph.nodes[write]["scope"] == ("@down", "if: true")
        inner = named(graph)["%inner"]
        assert graph.nodes[inner]["scope"] == ("@main", "match: Wrap(%inner)")
        assert graph.nodes[inner]["type"] == "float32"

    def test_shows_a_program_that_is_not_well_typed(self) -> None:
        ill = relay.parse("def @main(%x: Tensor[(2), float32], %y: Tensor[(3), float32]) { add(%x, %y) }")
        graph = to_networkx(ill)
        assert [node.get("type") for _, node in graph.nodes(data=True)] == [
            "Tensor[(2), float32]", "Tensor[(3), float32]", None, None,
        ]  # fmt: skip

    def test_draws_a_function_and_an_expression(self) -> None:
        module = relay.parse(SMALL)
        function = module["main"]
        assert nx.is_isomorphic(to_networkx(function), to_networkx(module))
        assert to_networkx(function.body).graph["node_of"][function.body] == len(to_networkx(module)) - 2

    def test_ten_thousand_nodes_in_seconds(self) -> None:
        x = relay.var("x", shape=(4,))
        y: Expr = x
        for _ in range(5_000):
            y = relay.add(relay.tanh(y), x)
        function = relay.Function([x], y)
        for kind in ("fusion", "constraints", "dataflow"):
            start = time.process_time()
            deep = to_networkx(function, kind)
            assert len(deep) > 9_000
            assert time.process_time() - start < 20
        assert nx.dag_longest_path_length(deep, weight=None) > 10_000
        assert from_networkx(deep) is function
        mirrored = deep.reverse()  # networkx copies every attribute, and must not copy expressions
        assert all(expr is deep.nodes[node]["expr"] for node, expr in mirrored.nodes(data="expr"))


class TestDominators:
    @pytest.mark.parametrize("seed", range(8))
    def test_the_trees_are_those_of_networkx(self, seed: int) -> None:
        module = generate(seed, size=80).module
        flow = to_networkx(module)
        starts = [node for node in flow if flow.in_degree(node) == 0]
        ends = [node for node in flow if flow.out_degree(node) == 0]
        forward, backward = nx.DiGraph(flow), nx.DiGraph(flow).reverse()
        forward.add_edges_from((ENTRY, node) for node in starts)
        backward.add_edges_from((EXIT, node) for node in ends)
        for kind, graph, root in (("dominators", forward, ENTRY), ("post-dominators", backward, EXIT)):
            tree = to_networkx(module, kind)
            assert nx.is_arborescence(tree)
            immediate = nx.immediate_dominators(graph, root)
            assert {n: d for d, n in tree.edges} == {n: d for n, d in immediate.items() if n != root}

    @pytest.mark.parametrize("name", ["lenet", "squeezenet", "tree_lstm"])
    def test_fusion_has_the_post_dominators_of_networkx(self, name: str) -> None:
        graph = to_networkx(models.load(name), "fusion")
        immediate = nx.immediate_dominators(graph.reverse(), EXIT)
        assert {node: end for node, end in graph.nodes(data="post_dominator") if node != EXIT} == {
            node: end for node, end in immediate.items() if node != EXIT
        }


class TestFusion:
    def test_groups_are_the_kernels_of_the_pass(self) -> None:
        module = relay.transform.SimplifyInference()(models.load("lenet"))
        graph = to_networkx(module, "fusion")
        kernels = {graph.nodes[n]["group"] for n, op in graph.nodes(data="op") if op is not None}
        fused = relay.transform.FuseOps()(module)
        calls: list[Call] = []
        relay.analysis.post_order_visit(
            fused["main"].body,
            lambda e: calls.append(e) if isinstance(e, Call) and isinstance(e.op, Function) else None,
        )
        assert len(kernels) == len(calls) > 5

    def test_follows_the_context_and_another_fuser(self) -> None:
        module = models.load("mlp")
        operators = [n for n, op in to_networkx(module).nodes(data="op") if op is not None]
        with relay.transform.PassContext(opt_level=0):
            apart = to_networkx(module, "fusion")
        own = to_networkx(Fusion(module, lambda function, flow: Partition(flow, Limits(0))))
        for graph in (apart, own):
            assert all(graph.nodes[node]["group"] == node for node in operators)

    def test_uses_have_patterns(self) -> None:
        typed = infer_types(models.load("lenet"))
        flow = DataflowGraph(typed["main"])
        graph = to_networkx(typed, "fusion")
        key = graph.graph["node_of"]
        assert {(a, b, OpPattern[p]) for a, b, p in graph.edges(data="pattern") if b != EXIT} == {
            (key[n.expr], key[user.expr], pattern) for n in flow.nodes for user, pattern in n.uses
        }
        assert len(PostDominators(flow).parent) == len(graph) - 1

    def test_needs_types(self) -> None:
        ill = relay.parse("def @main(%x: Tensor[(2), float32], %y: Tensor[(3), float32]) { add(%x, %y) }")
        with pytest.raises(RelayError, match="fusion needs types, and @main is not well typed"):
            to_networkx(ill, "fusion")


def test_call_graph() -> None:
    module = models.load("tree_lstm")
    graph = to_networkx(module, "calls")
    assert sorted(graph.edges) == [
        ("encode", "encode"), ("encode", "pair"), ("encode", "word"), ("main", "encode"),
    ]  # fmt: skip
    assert graph.nodes["pair"]["expr"] is module["pair"]
    assert graph.nodes["pair"]["flops"] > graph.nodes["main"]["flops"] > 0
    assert graph.nodes["word"]["span"] == "tree_lstm.relay:9:1"


class TestConstraints:
    TEXT = """
    def @main(%x: Tensor[(3, 4), float32]) {
      let %f = fn (%a) { add(tanh(%a), %a) };
      let %g = fn (%b, %c) { multiply(%b, %c) };
      %f(exp(%x))
    }
    """

    def test_is_bipartite(self) -> None:
        graph = to_networkx(record(models.load("lenet")))
        sides = nx.get_node_attributes(graph, "bipartite")
        assert all(sides[a] != sides[b] for a, b in graph.edges())
        relations = [data for _, data in graph.nodes(data=True) if data["kind"] == "relation"]
        assert len(relations) == 18
        assert all(data["solved"] for _, data in graph.nodes(data=True))
        assert {data["expr"].op.name for data in relations} == {data["op"] for data in relations}

    def test_a_part_without_any_known_type_stays_unsolved(self) -> None:
        graph = to_networkx(relay.parse(self.TEXT, "f.relay"), "constraints")
        assert "does not say enough" in graph.graph["error"]
        stuck = [
            sorted(graph.nodes[n]["name"] for n in part if n.startswith("t"))
            for part in nx.weakly_connected_components(graph)
            if any(n.startswith("r") for n in part) and not any(graph.nodes[n].get("known") for n in part)
        ]
        assert stuck == [["%b", "%c", "multiply"]]
        assert not any(graph.nodes[n]["solved"] for n in graph if graph.nodes[n]["name"] in ("%b", "%c"))

    def test_a_class_has_the_expressions_of_one_type(self) -> None:
        module = relay.parse(self.TEXT.replace("%g = fn (%b, %c) { multiply(%b, %c) }", "%g = %x"), "f.relay")
        graph = to_networkx(record(module))
        (node,) = [data for _, data in graph.nodes(data=True) if data["name"] == "%a, %0, %1"]
        assert node["type"] == "Tensor[(3, 4), float32]"
        assert node["members"] == (2, 3, 5)
        assert [getattr(expr, "name_hint", "") for expr in node["exprs"]] == ["a", "", ""]
        assert node["span"] == "f.relay:3:20"


class TestBack:
    @pytest.mark.parametrize("seed", range(16))
    def test_relabelled_programs_come_back(self, seed: int) -> None:
        module = generate(seed, size=60).module
        graph = nx.relabel_nodes(to_networkx(module), lambda node: f"node {node}")
        same = from_networkx(graph)
        assert isinstance(same, IRModule)
        assert all(same[var] is function for var, function in module.functions.items())

        rng = random.Random(seed)
        for _, data in graph.nodes(data=True):
            if "attrs" in data and rng.random() < 0.6:
                del data["expr"]  # so the call is built again from its operator and its attributes
        assert structural_equal(from_networkx(graph), module)

    def test_a_part_becomes_a_function(self) -> None:
        graph = to_networkx(models.load("lenet"))
        dense = [node for node, op in graph.nodes(data="op") if op == "nn.dense"]
        end = nx.ancestors(graph, dense[1]) | {dense[1]}
        part = from_networkx(graph.subgraph(end - nx.ancestors(graph, dense[0])))
        assert isinstance(part, Function)
        assert [str(param.checked_type) for param in part.params] == [
            "Tensor[(1, 400), float32]", "Tensor[(120, 400), float32]", "Tensor[(120), float32]",
            "Tensor[(84, 120), float32]",
        ]  # fmt: skip
        typed = infer_types(IRModule.from_expr(part))
        assert str(typed["main"].ret_type or typed["main"].body.checked_type) == "Tensor[(1, 84), float32]"

    def test_new_and_rewired_nodes(self) -> None:
        graph = to_networkx(relay.parse(SMALL), lets=False)
        by = named(graph)
        graph.add_node("clip", op="clip", attrs={"a_min": 0.0, "a_max": 6.0})
        graph.add_edge(by["%0"], "clip", operand=0)
        (add,) = [node for node, op in graph.nodes(data="op") if op == "add"]
        graph.remove_edge(by["%0"], add)
        graph.add_edge("clip", add, operand=0)
        graph.nodes[by["%0"]]["op"] = "exp"
        assert structural_equal(
            from_networkx(graph),
            relay.parse("""
            def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(4, 3), float32]) {
              %0 = nn.dense(%x, %w);
              add(clip(exp(%0), a_min=0f, a_max=6f), %0)
            }"""),
        )

    def test_a_variable_whose_let_was_cut_off_is_its_value(self) -> None:
        graph = to_networkx(relay.parse(SMALL))
        outer = [node for node, kind in graph.nodes(data="kind") if kind in ("Let", "Function")]
        graph.remove_nodes_from(outer)
        x, w = relay.var("x", shape=(2, 3)), relay.var("w", shape=(4, 3))
        y = relay.nn.dense(x, w)
        assert structural_equal(from_networkx(graph), relay.Function([x, w], relay.tanh(y) + y))

    def test_says_what_is_wrong(self) -> None:
        def broken(change: Any) -> str:
            graph = to_networkx(relay.parse(SMALL), lets=False)
            change(graph, named(graph))
            with pytest.raises(RelayError) as raised:
                from_networkx(graph)
            return str(raised.value).splitlines()[0]

        dense, add = 2, 5
        assert broken(lambda g, by: g.remove_edge(by["%0"], add)) == (
            "from_string:5:3: error: node 5 (add): operand 0 has no edge"
        )
        assert broken(lambda g, by: g.add_edge(by["%x"], add, operand=1)) == (
            "from_string:5:3: error: node 5 (add): operand 1 has two edges"
        )
        assert broken(lambda g, by: g.add_edge(by["%x"], add)) == (
            "from_string:5:3: error: node 5 (add): an edge from %x has no attribute `operand`"
        )
        assert broken(lambda g, by: g.add_edge(add, "new", operand=0)) == (
            "error: node 'new' (new): it has neither an expression (`expr`) nor an operator (`op`)"
        )

        def loop(g: Any, by: dict[str, int]) -> None:
            g.remove_edge(dense, by["%0"])
            g.add_edge(add, by["%0"], operand=0)

        assert broken(loop) == "error: the edges form a cycle, or lead from one: %0 = tanh, add, @main = fn"

        def mismatch(g: Any, by: dict[str, int]) -> None:
            g.remove_edge(dense, add)
            g.add_edge(by["%w"], add, operand=1)

        assert "add" in broken(mismatch)
        with pytest.raises(RelayError, match="this is a graph of kind 'calls'"):
            from_networkx(to_networkx(models.load("mlp"), "calls"))

    def test_a_variable_outside_its_scope_is_an_error(self) -> None:
        graph = to_networkx(relay.parse(EVERYTHING))
        by = named(graph)
        (data,) = [a for a, _, role in graph.edges(data="role") if role == "data"]
        (argument,) = [(a, k) for a, _, k in graph.in_edges(data, keys=True)]
        graph.remove_edge(argument[0], data, argument[1])
        graph.add_edge(by["%inner"], data, operand=0)
        with pytest.raises(RelayError):
            from_networkx(graph)


def test_rejects_what_it_does_not_know() -> None:
    with pytest.raises(RelayError, match="there is no kind of graph 'callz'"):
        to_networkx(models.load("mlp"), "callz")
    with pytest.raises(TypeError, match=r"to_networkx takes a module, .* not int"):
        to_networkx(3)  # type: ignore[arg-type]
    with pytest.raises(RelayError, match="a call graph needs a module, not a Var"):
        to_networkx(Var("x"), "calls")


def test_a_missing_package_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    load = importlib.import_module

    def absent(name: str, package: str | None = None) -> Any:
        if name == "networkx":
            raise ModuleNotFoundError("No module named 'networkx'", name="networkx")
        return load(name, package)

    monkeypatch.setattr("relay_explorer.interop.require.importlib.import_module", absent)
    with pytest.raises(ImportError, match=r'this needs networkx: pip install "relay_explorer\[graphs\]'):
        to_networkx(models.load("mlp"))
