"""Pipelines as text: what is read, what is refused and how, and that every pipeline can be read back."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay_explorer import explore, models, transform
from relay_explorer.ir.equal import structural_equal
from relay_explorer.ir.errors import PassOptionError, RelayError
from relay_explorer.transform import (
    AnnotateTarget,
    CombineParallelDense,
    ConvertLayout,
    DeadCodeElimination,
    EtaExpand,
    FoldConstant,
    FoldScaleAxis,
    FuseOps,
    InferType,
    Pass,
    PassContext,
    RemoveUnusedFunctions,
    Sequential,
    SimplifyInference,
    ToMixedPrecision,
    list_passes,
    parse_pipeline,
)
from relay_explorer.transform.infrastructure.text import MAX_LENGTH

CLEANING = "SimplifyInference, FoldConstant, DeadCodeElimination(inline_once=True)"
TEXTS = st.text(min_size=1, max_size=8)
LAYOUTS = st.dictionaries(
    st.sampled_from(["nn.conv2d", "nn.max_pool2d"]), st.lists(st.sampled_from(["NHWC", "OIHW", "default"]))
)
SINGLE = st.one_of(
    st.sampled_from([SimplifyInference(), FoldConstant(), InferType(), FoldScaleAxis()]),
    st.builds(FuseOps, st.integers(-1, 4), st.none() | st.integers(1, 300)),
    st.builds(DeadCodeElimination, st.booleans(), st.booleans()),
    st.builds(EtaExpand, st.booleans(), st.booleans(), st.booleans()),
    st.builds(CombineParallelDense, st.integers(1, 9), st.booleans()),
    st.builds(ConvertLayout, LAYOUTS),
    st.builds(AnnotateTarget, TEXTS | st.lists(TEXTS), st.booleans()),
    st.builds(RemoveUnusedFunctions, st.lists(TEXTS)),
    st.builds(ToMixedPrecision, st.sampled_from(["float16", "bfloat16"]), st.integers(0, 2)),
)
PASSES: st.SearchStrategy[Pass] = st.recursive(
    SINGLE,
    lambda inner: st.builds(
        Sequential,
        st.lists(inner, max_size=3),
        st.integers(0, 4),
        st.just("sequential") | TEXTS,
        st.lists(st.just("InferType"), max_size=1),
    ),
    max_leaves=6,
)
PIPELINES = st.builds(Sequential, st.lists(PASSES, max_size=4))


def test_names_options_and_commas() -> None:
    assert parse_pipeline("SimplifyInference, FuseOps(max_depth=4)") == Sequential(
        [SimplifyInference(), FuseOps(max_depth=4)]
    )
    assert parse_pipeline("FuseOps") == Sequential([FuseOps()])
    assert parse_pipeline("FuseOps()") == Sequential([FuseOps()])
    assert parse_pipeline(" FuseOps ( 2 , 3 ) , ") == Sequential([FuseOps(2, 3)])
    assert parse_pipeline("InferType,  # types first\n\n    FuseOps(\n  2)\n") == Sequential(
        [InferType(), FuseOps(2)]
    )
    assert parse_pipeline("ConvertLayout({'nn.conv2d': ['NHWC', 'default']})") == Sequential(
        [ConvertLayout({"nn.conv2d": ["NHWC", "default"]})]
    )


def test_a_sequential_takes_text() -> None:
    assert Sequential(CLEANING) == parse_pipeline(CLEANING)
    assert Sequential(CLEANING, name="clean").passes == parse_pipeline(CLEANING).passes
    assert str(Sequential(CLEANING)) == CLEANING


def test_pipelines_in_pipelines() -> None:
    text = "FuseOps, Sequential([InferType, FoldConstant], name='inner')"
    pipeline = Sequential([FuseOps(), Sequential([InferType(), FoldConstant()], name="inner")])
    assert parse_pipeline(text) == pipeline
    assert str(pipeline) == text
    assert str(Sequential()) == "Sequential([])"
    assert str(Sequential([Sequential()])) == "Sequential([Sequential([])])"


@given(PIPELINES)
def test_a_pipeline_can_be_read_back(pipeline: Sequential) -> None:
    assert parse_pipeline(str(pipeline)) == pipeline
    assert str(parse_pipeline(str(pipeline))) == str(pipeline)


@given(st.text(alphabet="FuseOps(,)=[]{}'\"\\ \n*:.#1\x00é", max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(RelayError):
        assert isinstance(parse_pipeline(text), Sequential)


@pytest.mark.parametrize(
    ("text", "message", "help", "column"),
    [
        ("FuseOp", "there is no pass called `FuseOp`", "did you mean FuseOps or DefuseOps?", 1),
        ("InferType, fuseops", "there is no pass called `fuseops`", "did you mean FuseOps or DefuseOps?", 12),
        ("FuseOps(max_dept=4)", "FuseOps has no option `max_dept`", "did you mean max_depth?", 9),
        ("FuseOps(speed=4)", "FuseOps has no option `speed`",
         "the options of FuseOps are fuse_opt_level, max_depth", 9),
        ("InferType(1)", "InferType: too many positional arguments", "InferType takes no options", 1),
        ("MergeComposite", "MergeComposite: missing a required argument: 'pattern_table'",
         "the options of MergeComposite are pattern_table", 1),
        ("FuseOps(max_depth=len('ab'))", "`len('ab')` is not a literal", "options are numbers, strings", 19),
        ("FuseOps(max_depth=x)", "`x` is not a literal", "options are numbers, strings", 19),
        ("FuseOps(**{'max_depth': 1})", "`**` is not allowed in a pipeline", "a pipeline is", 11),
        ("transform.FuseOps()", "`transform.FuseOps()` is not a pass", "a pipeline is written like", 1),
        ("'FuseOps'", "`'FuseOps'` is not a pass", "a pipeline is written like", 1),
        ("FuseOps; InferType", "the text is not a pipeline", "a pipeline is written like", 8),
        ("FuseOps(", "the text is not a pipeline", "a pipeline is written like", None),
        ("FuseOps)", "the text is not a pipeline", "a pipeline is written like", None),
        ("InferType,\nFuseOps(2]", "the text is not a pipeline", "a pipeline is written like", 10),
        ("", "the pipeline names no pass", "a pipeline is written like", None),
        (" \n ", "the pipeline names no pass", "a pipeline is written like", None),
    ],
)  # fmt: skip
def test_what_is_refused(text: str, message: str, help: str, column: int | None) -> None:
    with pytest.raises(RelayError) as caught:
        parse_pipeline(text)
    assert caught.value.message == message
    assert caught.value.help[0].startswith(help)
    assert (caught.value.span and caught.value.span.column) == column


def test_a_wrong_value_has_a_place() -> None:
    with pytest.raises(PassOptionError) as caught:
        parse_pipeline('InferType,\nFuseOps("high")')
    assert str(caught.value) == (
        "<passes>:2:1: error: FuseOps: the option `fuse_opt_level` must be an integer of at least -1, "
        "not 'high' (type str)\n"
        '   2 | FuseOps("high")\n'
        "     | ^^^^^^^^^^^^^^^"
    )


def test_nothing_is_evaluated(capsys: pytest.CaptureFixture[str]) -> None:
    for text in (
        "FuseOps(max_depth=print('run'))",
        "print('run')",
        "[print('run')]",
        "FuseOps), print('run'",
    ):
        with pytest.raises(RelayError):
            parse_pipeline(text)
    assert capsys.readouterr().out == ""


def test_long_and_deep_texts() -> None:
    with pytest.raises(RelayError, match="characters"):
        parse_pipeline("InferType," * MAX_LENGTH)
    with pytest.raises(RelayError):
        parse_pipeline("FuseOps(" + "[" * 20_000 + "]" * 20_000 + ")")
    assert len(parse_pipeline("InferType," * 1_000).passes) == 1_000


def test_explore_takes_text() -> None:
    lenet = models.load("lenet")
    shown = explore(lenet, view="pipeline", passes=CLEANING, against="FuseOps", name="text")
    given_ = explore(lenet, view="pipeline", passes=Sequential(CLEANING).passes, against=[FuseOps()])
    names = [stage.name for stage in shown.view.stages]  # type: ignore[attr-defined]
    assert names == [stage.name for stage in given_.view.stages]  # type: ignore[attr-defined]
    assert names[1:] == ["SimplifyInference", "FoldConstant", "DeadCodeElimination", "FuseOps"]


def test_a_text_does_what_the_passes_do() -> None:
    lenet = models.load("lenet")
    with PassContext(opt_level=3):
        assert structural_equal(
            Sequential("SimplifyInference, FoldScaleAxis, FuseOps(max_depth=2)")(lenet),
            Sequential([SimplifyInference(), FoldScaleAxis(), FuseOps(-1, 2)])(lenet),
        )


def test_the_list_of_passes() -> None:
    usages = {entry.usage.partition("(")[0]: entry for entry in list_passes()}
    assert usages["FuseOps"].usage == "FuseOps(fuse_opt_level=-1, max_depth=None)"
    assert usages["InferType"].usage == "InferType"
    ours = [entry for name, entry in usages.items() if name in transform.__all__]
    assert len(ours) > 45
    assert all(entry.summary.endswith(".") for entry in ours)
