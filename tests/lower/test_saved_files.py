"""Saved programs that were changed since: refused when they are loaded, before anything of them is used."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from relay_explorer import build, load, relay
from relay_explorer.ir.errors import RelayError

X = np.ones((3, 4), "float32")


@pytest.fixture(scope="module", params=["graph", "vm"])
def saved(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    constant = relay.const(np.arange(4, dtype="float32"))
    x = relay.var("x", shape=(3, 4))
    shifted = relay.add(x, constant)
    body = relay.Tuple([relay.exp(shifted), relay.sum(shifted, axis=1)])
    path = tmp_path_factory.mktemp("saved") / "program.rx"
    build(relay.Function([x], body), executor=request.param).save(path)
    return path


def changed(saved: Path, path: Path, change: Callable[[str, bytes], bytes | None]) -> list[str]:
    """Write the archive with members changed, as a sound ZIP file; return the names of those that were."""
    names = []
    with zipfile.ZipFile(saved) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            after = change(name, data)
            if after != data:
                names.append(name)
            if after is not None:
                new.writestr(name, after)
    return names


def test_it_loads_unchanged(saved: Path, tmp_path: Path) -> None:
    path = tmp_path / "copy.rx"
    assert changed(saved, path, lambda name, data: data) == []
    first, second = load(path)(X)
    np.testing.assert_allclose(first, np.exp(X + np.arange(4)), rtol=1e-5)
    np.testing.assert_allclose(second, (X + np.arange(4)).sum(1), rtol=1e-5)


@pytest.mark.parametrize("part", ["kernels/", "constants/", "program.json", "digests.json"])
@pytest.mark.parametrize("damage", ["shortened", "empty", "flipped", "removed"])
def test_a_damaged_member_is_refused(saved: Path, tmp_path: Path, part: str, damage: str) -> None:
    def change(name: str, data: bytes) -> bytes | None:
        if not name.startswith(part):
            return data
        middle = len(data) // 2
        return {
            "shortened": data[:middle],
            "empty": b"",
            "flipped": data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :],
            "removed": None,
        }[damage]

    path = tmp_path / "damaged.rx"
    assert changed(saved, path, change)
    with pytest.raises(RelayError, match=r"is damaged|is not a complete program that this package saved"):
        load(path)


@pytest.mark.parametrize(
    "key", ["slots", "steps", "inputs", "result", "kernels", "bytecode", "target", "text"]
)
@pytest.mark.parametrize("value", [None, [], 5, "x"])
def test_an_edited_description_is_refused(saved: Path, tmp_path: Path, key: str, value: object) -> None:
    def change(name: str, data: bytes) -> bytes:
        return json.dumps({**json.loads(data), key: value}).encode() if name == "program.json" else data

    path = tmp_path / "edited.rx"
    changed(saved, path, change)
    with pytest.raises(RelayError, match=r"program\.json in it has changed since it was saved"):
        load(path)


def test_another_format_is_named(saved: Path, tmp_path: Path) -> None:
    def change(name: str, data: bytes) -> bytes:
        return json.dumps({**json.loads(data), "format": 1}).encode() if name == "program.json" else data

    path = tmp_path / "old.rx"
    changed(saved, path, change)
    with pytest.raises(RelayError, match=r"was saved by version .* in another format"):
        load(path)
