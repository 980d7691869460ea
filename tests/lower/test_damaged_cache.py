"""The cache of kernels after writers were killed, disks failed, and folders were put in place of files."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from relay_explorer import build, relay
from relay_explorer.lower.cache import pruning, store
from tests.lower import cache_writer as writer

X = np.linspace(-1, 1, 12, dtype="float32").reshape(3, 4)


def folder_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(store.VARIABLE, str(tmp_path))
    return tmp_path


def check_build() -> None:
    x = relay.var("x", shape=(3, 4))
    result = build(relay.Function([x], relay.exp(x)))
    np.testing.assert_allclose(result(X), np.exp(X), rtol=1e-5)


def test_a_writer_may_be_killed_at_any_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    killed = []
    for step in range(1, 100):
        cache = tmp_path / str(step)
        monkeypatch.setenv(store.VARIABLE, str(cache))
        command = [sys.executable, "-m", "tests.lower.cache_writer", str(step)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL, done.stderr
        killed.append(step)
        entry = store.get(writer.NAME)  # all of it, or nothing
        assert entry is None or Path(entry["path"]).read_bytes() == writer.LIBRARY
        again = store.put(writer.NAME, writer.LIBRARY, ".so", writer.ENTRY, writer.OBJECT)
        assert store.get(writer.NAME) == again
        pruning.prune(cache, 0, now=os.stat(again["path"]).st_mtime + 2 * pruning.RECENT_SECONDS)
        assert [path for path in cache.rglob("*") if path.is_file()] == []  # nothing half written stays
    assert len(killed) >= 8
    assert store.get(writer.NAME) is not None


def damage(path: Path, kind: str, chance: random.Random) -> None:
    """Replace a file, which may be loaded, by one that a failing disk might have left."""
    data = bytearray(path.read_bytes())
    at = chance.randrange(len(data))
    path.unlink()
    if kind == "folder":
        path.mkdir()
        (path / "within").write_text("in the way")
    elif kind == "cut":
        path.write_bytes(data[:at])
    elif kind == "bit":
        data[at] ^= 1 << chance.randrange(8)
        path.write_bytes(data)
    elif kind == "zeros":
        data[at : at + 4096] = bytes(len(data[at : at + 4096]))
        path.write_bytes(data)
    elif kind == "empty":
        path.write_bytes(b"")


@pytest.mark.parametrize("kind", ["cut", "bit", "zeros", "empty", "removed", "folder"])
def test_damaged_files_are_made_again(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = folder_of(tmp_path, monkeypatch)
    check_build()
    files = sorted(path for path in cache.rglob("*") if path.is_file())
    assert {path.suffix for path in files} >= {".json", ".so"}
    for number, path in enumerate(files):
        damage(path, kind, random.Random(number))
        check_build()
    assert all(path.is_file() for path in cache.glob("??/*.json"))
    assert all(path.is_file() for path in cache.glob("??/*.so"))


@pytest.mark.parametrize("kind", ["cut", "bit", "zeros", "empty", "removed", "folder"])
def test_no_damaged_entry_is_returned(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = folder_of(tmp_path, monkeypatch)
    chance = random.Random(kind)
    for _ in range(60):
        library = chance.randbytes(chance.randrange(1, 5000))
        whole = store.put(writer.NAME, library, ".so", writer.ENTRY)
        assert store.get(writer.NAME) == whole
        path = chance.choice([path for path in cache.rglob("*") if path.is_file()])
        before = path.read_bytes()
        damage(path, kind, chance)
        entry = store.get(writer.NAME)
        same = path.is_file() and path.read_bytes() == before
        assert entry is None or same or Path(entry["path"]).read_bytes() == library
        if not same and path.suffix == ".so" and path.name == whole["file"]:
            assert entry is None
        assert store.put(writer.NAME, library, ".so", writer.ENTRY) == whole
        assert store.get(writer.NAME) == whole
        shutil.rmtree(cache / writer.NAME[:2])


def test_a_file_in_place_of_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = folder_of(tmp_path, monkeypatch)
    check_build()
    for place in list(cache.iterdir()):
        shutil.rmtree(place)
        place.write_text("in the way")
    check_build()
