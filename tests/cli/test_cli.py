"""The command `relay-explorer`."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from relay_explorer import _project, models
from relay_explorer.cli import main, progress
from relay_explorer.ir.equal import structural_equal
from relay_explorer.text import parse
from relay_explorer.transform import FuseOps, PassContext, SimplifyInference
from relay_explorer.views.registry import views
from tests.support.views.check import check

PROGRAM = "def @main(%x: Tensor[(2), float32]) { tanh(%x) }\n"
Output = pytest.CaptureFixture[str]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_model(here: Path, capsys: Output) -> None:
    assert main(["explore", "mlp", "--view", "types", "-o", "out.html"]) == 0
    assert capsys.readouterr().out == "out.html: " + _summary("out.html")
    assert "<title>mlp</title>" in (here / "out.html").read_text("utf-8")


def test_the_readme_lists_the_views() -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
    listed = re.findall(r'^\| `"(\w+)"` \|', readme, re.MULTILINE)
    assert sorted(listed) == sorted(views())


def test_a_pipeline_has_usual_passes(here: Path, capsys: Output) -> None:
    assert main(["explore", "mlp", "--view", "pipeline", "-o", "out.html"]) == 0
    assert capsys.readouterr().out.startswith("out.html: 6 passes, 2 of which change")


def _summary(path: str) -> str:
    text = Path(path).read_text("utf-8")
    data = text.split('<script type="application/json">')[1].split("</script>")[0]
    return str(json.loads(data)["summary"]) + "\n"


def test_the_output_has_a_name_of_its_own(here: Path, capsys: Output) -> None:
    (here / "my net.relay").write_text(PROGRAM)
    assert main(["explore", "my net.relay"]) == 0
    assert main(["explore", "my net.relay", "--json", "--view", "types"]) == 0
    assert {p.name for p in here.iterdir()} == {"my net.relay", "my-net-ir.html", "my-net-types.json"}
    assert check(json.loads((here / "my-net-types.json").read_text("utf-8"))) == []
    assert capsys.readouterr().out.startswith("my-net-ir.html: @main: 1 call, ")


def test_standard_input_and_output(monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(PROGRAM.encode())))
    assert main(["explore", "-", "--json", "-o", "-", "--title", "piped"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "piped"


def test_a_file_goes_before_a_model(here: Path) -> None:
    (here / "mlp").write_text(PROGRAM)
    assert main(["explore", "mlp", "--json", "-o", "view.json"]) == 0
    assert json.loads((here / "view.json").read_text("utf-8"))["totals"]["calls"] == 1


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (
            ["explore", "nothing"],
            "error: there is neither a file nor a model called `nothing`\n"
            f"help: the models are {', '.join(models.names())}\n",
        ),
        (["explore", "nothing.relay"], "error: there is no file `nothing.relay`\n"),
        (
            ["explore", "."],
            "error: `.` is a folder\n"
            "help: give a file, or the folder of a TensorFlow SavedModel, in which there is a "
            "saved_model.pb\n",
        ),
        (
            ["explore", "mlp", "-o", "no/such/folder.html"],
            "error: no/such/folder.html: No such file or directory\n",
        ),
    ],
)
def test_what_cannot_be_used(here: Path, capsys: Output, arguments: list[str], error: str) -> None:
    assert main(arguments) == 1
    assert capsys.readouterr().err == error


@pytest.mark.parametrize("content", [b"def @main(%x", b"\x7fELF\x00\x01\xff\xfe", b"%" * 100, b"\xff" * 50])
def test_a_bad_program_is_a_diagnostic_with_its_place(here: Path, capsys: Output, content: bytes) -> None:
    (here / "bad.relay").write_bytes(content)
    assert main(["explore", "bad.relay"]) == 1
    observed = capsys.readouterr()
    assert observed.out == ""
    assert "bad.relay" in observed.err
    assert "error: " in observed.err
    assert "Traceback" not in observed.err
    assert [p.name for p in here.iterdir()] == ["bad.relay"]


def test_fifty_megabytes_are_refused_quickly(here: Path, capsys: Output) -> None:
    (here / "large.relay").write_bytes(b"/* " + b"x" * 50_000_000 + b" */")
    assert main(["explore", "large.relay"]) == 1
    assert "16" in capsys.readouterr().err


def test_an_ill_typed_program_is_shown(here: Path, capsys: Output) -> None:
    (here / "ill.relay").write_text(
        "def @main(%x: Tensor[(2), float32], %y: Tensor[(3), float32]) { add(%x, %y) }"
    )
    assert main(["explore", "ill.relay", "--view", "types"]) == 0
    assert "ill-types.html: The program is rejected: " in capsys.readouterr().out


def test_an_option_that_the_view_does_not_have_is_refused(here: Path, capsys: Output) -> None:
    assert main(["explore", "mlp", "--view", "types", "--arg", "1"]) == 1
    assert capsys.readouterr().err == (
        "error: the view `types` has no option --arg\n"
        "help: views that have it: ir, evaluation, lowering, machine, sharing\n"
    )
    assert main(["explore", "mlp", "--view", "fusion", "--measure"]) == 1
    assert "views that have it: ir, lowering" in capsys.readouterr().err


def test_a_run_and_its_arguments(here: Path, capsys: Output) -> None:
    (here / "scale.relay").write_text("def @main(%k: float32, %p: (int32, int32)) { (%k * 2f, %p.1) }")
    arguments = ["explore", "scale.relay", "--view", "evaluation", "--arg", "1.5", "--arg", "(3, 4)"]
    assert main(arguments) == 0
    assert "scale-evaluation.html: @main returns (3, 4): " in capsys.readouterr().out
    assert main(arguments[:-2]) == 1
    assert capsys.readouterr().err == (
        "error: `@main` expects 2 arguments, got 1 --arg\n"
        "help: its parameters are %k, %p: give --arg once for each, in this order\n"
    )
    assert main([*arguments[:-1], "(3"]) == 1
    assert "%p:1:" in capsys.readouterr().err
    assert main(["explore", "lenet", "--view", "sharing", "--json"]) == 0
    assert "lenet-sharing.json: Evaluations of the same computation: " in capsys.readouterr().out
    assert main(["explore", "lenet", "--view", "memory", "--json"]) == 0
    assert "lenet-memory.json: 17 values in 4 buffers: at most 37.6 kB" in capsys.readouterr().out


def test_the_models_are_listed(capsys: Output) -> None:
    assert main(["models"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == models.names()


@pytest.mark.parametrize("arguments", [["explore"], ["explore", "mlp", "--view", "kernels"], ["nonsense"]])
def test_a_wrong_command_line(arguments: list[str], capsys: Output) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(arguments)
    assert exit_.value.code == 2
    assert "usage: relay-explorer" in capsys.readouterr().err


def test_without_a_command_there_is_help(capsys: Output) -> None:
    assert main([]) == 0
    assert "explore" in capsys.readouterr().out


def test_version_from_a_shell() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "relay_explorer", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"relay-explorer {_project.VERSION}\n"


def test_a_reader_that_hangs_up() -> None:
    """As in `relay-explorer explore - -o - | head -0`: the reader is gone before the first byte."""
    command = [sys.executable, "-m", "relay_explorer", "explore", "-", "-o", "-"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.close()
        running.stdin.write(PROGRAM.encode())
        running.stdin.close()
        assert running.stderr.read() == b""
    assert running.returncode == 1


def test_passes_from_the_command_line(here: Path, capsys: Output) -> None:
    assert main(["opt", "mlp", "--passes", "SimplifyInference, FuseOps(max_depth=2)"]) == 0
    text = capsys.readouterr().out
    with PassContext(opt_level=4):
        expected = FuseOps(max_depth=2)(SimplifyInference()(models.load("mlp")))
    assert structural_equal(parse(text), expected)
    (here / "fused.relay").write_text(text)
    assert main(["opt", "fused.relay", "--passes", "DefuseOps", "-o", "plain.relay"]) == 0
    assert capsys.readouterr().out == ""
    assert "Primitive" not in (here / "plain.relay").read_text("utf-8")


def test_a_pass_that_is_named_runs_at_any_level(capsys: Output) -> None:
    assert main(["opt", "mlp", "--passes", "CanonicalizeOps"]) == 0
    assert "bias_add" not in capsys.readouterr().out


def test_passes_that_are_misspelt(capsys: Output) -> None:
    assert main(["opt", "mlp", "--passes", "FuseOps(max_dept=4)"]) == 1
    assert capsys.readouterr().err == (
        "<passes>:1:9: error: FuseOps has no option `max_dept`\n"
        "   1 | FuseOps(max_dept=4)\n"
        "     |         ^^^^^^^^^^\n"
        "help: did you mean max_depth?\n"
    )
    assert main(["opt", "nosuch", "--passes", "FuseOps"]) == 1
    with pytest.raises(SystemExit) as stopped:
        main(["opt", "mlp"])
    assert stopped.value.code == 2


def test_passes_are_listed_and_explained(capsys: Output) -> None:
    assert main(["passes"]) == 0
    assert "FuseOps(fuse_opt_level=-1, max_depth=None)\n    " in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["opt", "--help"])
    assert (
        'relay-explorer opt lenet --passes "SimplifyInference, FuseOps(max_depth=4)"'
        in capsys.readouterr().out
    )


@pytest.mark.parametrize("command", ["explore", "run", "compile", "profile", "opt", "completion"])
def test_the_help_of_a_command_has_examples(capsys: Output, command: str) -> None:
    with pytest.raises(SystemExit) as stopped:
        main([command, "--help"])
    assert stopped.value.code == 0
    assert (
        f"examples:\n  {'source' if command == 'completion' else 'relay-explorer'}" in capsys.readouterr().out
    )


def test_the_help_names_every_executor_and_target(capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "1000")
    for command, default in (
        ("run", "graph, or vm if"),
        ("compile", "aot for a .so, otherwise graph, or vm if"),
    ):
        with pytest.raises(SystemExit):
            main([command, "--help"])
        text = capsys.readouterr().out
        assert f"(default: {default} the program needs it)" in text
        assert ("interpreter (" in text) == (command == "run")
        assert "cpu (this machine), cuda, arm64, raspberry-pi-4, raspberry-pi-5, phone, or" in text


def complete(line: str) -> list[str]:
    """What bash offers for the last word of a command line."""
    words = line.split(" ")
    script = (
        'eval "$(python -m relay_explorer completion bash)"; '
        f"COMP_WORDS=({' '.join(words[:-1])} {words[-1] or chr(39) * 2}); COMP_CWORD={len(words) - 1}; "
        '_relay_explorer; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, check=True, env=environment, cwd="/"
    )
    return done.stdout.split()


def test_bash_completes_commands_options_values_and_models() -> None:
    assert complete("relay-explorer co") == ["compile", "completion"]
    assert complete("relay-explorer explore --vi") == ["--view"]
    assert complete("relay-explorer explore --view so") == ["source"]
    assert complete("relay-explorer compile --executor ") == ["graph", "vm", "aot"]
    assert "lenet" in complete("relay-explorer run len")
    assert complete("relay-explorer explore /us") == ["/usr"]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_scripts_for_other_shells_name_every_command(capsys: Output, shell: str) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    for command in ("explore", "run", "compile", "profile", "opt", "passes", "models", "completion"):
        assert command in script


def test_progress_is_shown_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            """Say that this is a terminal."""
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress, "DELAY_SECONDS", 0)
    with progress.waiting("importing net.onnx"):
        time.sleep(0.3)
    assert "importing net.onnx … 0 s" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\x1b[K")
    file = io.StringIO()
    monkeypatch.setattr(sys, "stderr", file)
    with progress.waiting("importing net.onnx"):
        time.sleep(0.05)
    assert file.getvalue() == ""


def test_an_interrupted_command_ends_with_the_status_of_shells(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(models, "load", interrupted)
    assert main(["explore", "mlp"]) == 130
