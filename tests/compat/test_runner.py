"""Old scripts, modules, tests and notebooks run as they are, beside an installed TVM."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

SCRIPT = """
import sys
import tvm
import tvm.relay as R
from tvm import relay
from tvm.relay import transform
from tvm.ir import IRModule
from tvm.relay.testing import run_infer_type
import numpy as np

x = relay.var("x", relay.TensorType((1, 4), "float32"))
w = relay.const(np.ones((3, 4), "float32"))
net = relay.Function([x], relay.nn.relu(relay.nn.dense(x, w)))
mod = transform.InferType()(IRModule.from_expr(net))
print(mod["main"].ret_type, R is relay, sys.argv[1:])
print(run_infer_type(relay.exp(x)).checked_type)
result = relay.create_executor("debug", mod=mod).evaluate()(np.ones((1, 4), "float32"))
tvm.testing.assert_allclose(result.numpy(), np.full((1, 3), 4.0))
"""


def run(folder: Path, *arguments: str, python_path: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "relay_explorer.compat", *arguments],
        cwd=folder,
        env={"PYTHONPATH": str(python_path), "PATH": "/usr/bin:/bin", "HOME": str(folder)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_script_runs_unchanged(tmp_path: Path) -> None:
    (tmp_path / "old.py").write_text(SCRIPT)
    done = run(tmp_path, "old.py", "--steps", "3")
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "Tensor[(1, 3), float32] True ['--steps', '3']",
        "Tensor[(1, 4), float32]",
    ]
    assert done.returncode == 0


def test_a_script_finds_modules_beside_it_and_they_get_ours_too(tmp_path: Path) -> None:
    folder = tmp_path / "code"
    folder.mkdir()
    (folder / "layers.py").write_text("from tvm import relay\ndef act(x):\n    return relay.tanh(x)\n")
    (folder / "main.py").write_text(
        "import layers\nfrom tvm import relay\nprint(layers.act(relay.var('x', shape=(2,))).op.name)\n"
    )
    assert run(tmp_path, "code/main.py").stdout == "tanh\n"
    assert run(folder, "-m", "main").stdout == "tanh\n"


def test_a_failing_script_shows_its_own_frames_only(tmp_path: Path) -> None:
    (tmp_path / "old.py").write_text("import tvm\ntvm.build(None)\n")
    done = run(tmp_path, "old.py")
    assert done.returncode == 1
    assert done.stderr.splitlines()[:2] == [
        "Traceback (most recent call last):",
        '  File "old.py", line 2, in <module>',
    ]
    assert "runner.py" not in done.stderr
    assert (
        "AttributeError: tvm.build is not in relay_explorer's tvm: whole programs are compiled, by re"
        in done.stderr
    )


def test_the_status_of_a_script_is_kept(tmp_path: Path) -> None:
    (tmp_path / "old.py").write_text("import sys, tvm\nsys.exit(7)\n")
    assert run(tmp_path, "old.py").returncode == 7


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "usage: python -m relay_explorer.compat SCRIPT"),
        (("gone.py",), "error: gone.py cannot be read: No such file or directory"),
        (("--fast",), "error: there is no option --fast"),
    ],
)
def test_a_wrong_command_is_explained(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    done = run(tmp_path, *arguments)
    assert done.returncode == 2
    assert done.stderr.startswith(message)


INSTALLED = {
    "tvm/__init__.py": "import tvm.core\nfrom tvm import core\nNAME = 'installed ' + core.WHERE\n",
    "tvm/core.py": "WHERE = __name__\n\ndef later():\n    import tvm\n    return tvm.NAME\n",
}


def test_an_installed_tvm_stays_importable(tmp_path: Path) -> None:
    for name, text in INSTALLED.items():
        path = tmp_path / "site" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "old.py").write_text(
        "import importlib, sys\n"
        "sys.path.insert(0, 'site')\n"
        "import tvm\n"
        "from relay_explorer.compat import real_tvm\n"
        "real = real_tvm()\n"
        "print(real.NAME, '|', real.core.later(), '|', real_tvm('tvm.core').WHERE)\n"
        "import tvm as again\n"
        "print(again is tvm, tvm is not real, sys.modules['tvm'] is real)\n"
        "print(importlib.import_module('tvm.relay') is tvm.relay, hasattr(tvm, 'NAME'))\n"
    )
    done = run(tmp_path, "old.py")
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "installed tvm.core | installed tvm.core | tvm.core",
        "True True True",
        "True False",
    ]


def test_without_an_installed_tvm_real_tvm_says_so(tmp_path: Path) -> None:
    (tmp_path / "old.py").write_text(
        "import sys\n"
        "sys.modules['tvm'] = None  # as if there were none\n"
        "from relay_explorer.compat import real_tvm\n"
        "try:\n    real_tvm()\nexcept ImportError as error:\n    print(error)\n"
    )
    assert run(tmp_path, "old.py").stdout == "TVM is not installed here: pip install apache-tvm\n"


TESTS = """
import pytest
import tvm
import tvm.testing
from tvm import relay

kind = tvm.testing.parameter("debug", "vm")

def test_types():
    x = relay.var("x", shape=(2, 3))
    assert relay.testing.run_infer_type(relay.sum(x)).checked_type == relay.TensorType((), "float32")

@tvm.testing.uses_gpu
def test_targets(kind, target, dev):
    assert (target, str(dev)) == ("llvm", "cpu(0)")

def test_that_fails():
    with pytest.raises(tvm.TVMError):
        pass
"""


def test_test_files_run_with_the_plugin(tmp_path: Path) -> None:
    (tmp_path / "test_old.py").write_text(TESTS)
    done = run(tmp_path, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_old.py")
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1].startswith("1 failed, 3 passed")
    assert "test_old.py::test_that_fails" in done.stdout


def test_the_extension_serves_a_notebook_session(tmp_path: Path) -> None:
    (tmp_path / "cells.ipy").write_text(
        "%load_ext relay_explorer.compat\n"
        "from tvm import relay\n"
        "print(relay.nn.relu(relay.var('x', shape=(2,))).op.name)\n"
        "%unload_ext relay_explorer.compat\n"
        "import sys\n"
        "sys.modules['tvm'] = None\n"
        "try:\n    import tvm\nexcept ModuleNotFoundError as error:\n    print(error.name)\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "IPython", "--no-banner", "--quick", "cells.ipy"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stdout.splitlines() == ["nn.relu", "tvm"], done.stderr
