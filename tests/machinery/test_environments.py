"""The environments: exact pins, extras that Colab's versions satisfy, and tests with those versions."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def pins(name: str) -> dict[str, str]:
    """Return the versions that a requirements file pins."""
    result = {}
    for line in (ROOT / name).read_text("utf-8").splitlines():
        requirement = line.split("#")[0].strip()
        if requirement and not requirement.startswith("-r"):
            package, _, version = requirement.partition("==")
            result[package.lower()] = version
    return result


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt"])
def test_every_requirement_is_exact(name: str) -> None:
    loose = [package for package, version in pins(name).items() if not re.fullmatch(r"[\w.+!]+", version)]
    assert not loose


def test_colab_satisfies_what_a_notebook_needs() -> None:
    """Installing the package in Colab changes no version of what the runtime has."""
    colab = pins("requirements-colab.txt")
    extras = PROJECT["optional-dependencies"]
    needed = ("numeric", "widget", "notebook", "compile", "graphs", "plot")
    expected = [Requirement(line) for extra in needed for line in extras[extra]]
    expected += [Requirement(line) for line in PROJECT["dependencies"]]
    for requirement in expected:
        if requirement.name != "relay_explorer":
            assert colab[requirement.name] in requirement.specifier, requirement


def test_one_tvm_everywhere() -> None:
    """Its pins stand in three files, because each is read by a tool of its own."""
    exact = {Requirement(line).name: line for line in PROJECT["optional-dependencies"]["compile"]}
    for name in ("apache-tvm", "apache-tvm-ffi"):
        assert {f"{name}=={pins(file)[name]}" for file in ("requirements.txt", "requirements-colab.txt")} == {
            exact[name]
        }


CELL = re.compile(r"^```\{code-cell\} python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def test_the_book_lock_has_what_the_pages_import() -> None:
    imported: set[str] = set()
    for page in (ROOT / "book").glob("*.md"):
        for cell in CELL.findall(page.read_text("utf-8")):
            imported |= set(re.findall(r"^\s*(?:from|import) (\w+)", cell, re.MULTILINE))
    distributions = packages_distributions()
    lock = {package.replace("_", "-") for package in pins("requirements.txt")}
    ours = {"relay_explorer", "pocket", "tests"}
    missing = {
        name
        for name in imported - sys.stdlib_module_names - ours
        if not lock & {d.lower().replace("_", "-") for d in distributions.get(name, [])}
    }
    assert "numpy" in imported
    assert missing == set()


def test_the_book_lock_satisfies_the_extras() -> None:
    lock = pins("requirements.txt")
    extras = PROJECT["optional-dependencies"]
    for line in [*extras["book"], *extras["graphs"], *extras["plot"], *PROJECT["dependencies"]]:
        requirement = Requirement(line)
        if requirement.name != "relay_explorer":
            assert lock[requirement.name.lower()] in requirement.specifier, requirement


def test_main_environment_is_the_oldest_python_that_is_promised() -> None:
    assert PROJECT["requires-python"] == ">=3.11"
    assert sys.version_info[:2] == (3, 11), (
        "`make test` runs on Python 3.11; Colab's 3.13 has an environment of its own"
    )


def run_in_colab(part: str) -> None:
    """Run the part of `make test-colab` that a selection of pytest's markers names."""
    run_make("test-colab", f"COLAB_PART={part}")


def run_make(*arguments: str) -> None:
    """Run a target of the Makefile that runs tests; fail where it fails, or where none passed."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    done = subprocess.run(
        ["make", "--no-print-directory", "-s", *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    assert re.search(r"\d+ passed", done.stdout)


@pytest.mark.slow
def test_importers_with_the_frameworks_themselves() -> None:
    """TensorFlow, Keras 2 and the data of ONNX's node tests, which the main environment does not have."""
    run_make("test-frameworks")


@pytest.mark.slow
def test_with_the_versions_of_colab() -> None:
    """The core and the widgets, on Python 3.13 with what Colab has; notebooks have a file of their own."""
    run_in_colab("not notebook")
