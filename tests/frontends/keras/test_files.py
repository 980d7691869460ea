"""Keras files: read without running what is in them; damaged and hostile ones are refused."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from relay_explorer.frontends.base.errors import ModelFileError
from relay_explorer.frontends.keras import from_keras
from tests.frontends.keras.models import computed, keras, layers, run, sample

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")


def model() -> Any:
    x = keras.Input((6, 6, 3), name="x")
    y = layers.BatchNormalization()(layers.Conv2D(4, 3, activation="relu")(x))
    return keras.Model(x, layers.Dense(2)(layers.LSTM(3)(layers.Reshape((16, 4))(y))))


@pytest.mark.parametrize("suffix", [".keras", ".h5"])
def test_reads_files(tmp_path: Path, suffix: str) -> None:
    saved = model()
    path = tmp_path / f"model{suffix}"
    saved.save(path)
    mod, params = from_keras(path, layout="NHWC")
    inputs = sample(saved, 1)
    np.testing.assert_allclose(run(mod, params, inputs)[0], computed(saved, inputs)[0], rtol=1e-4, atol=1e-5)


def test_a_lambda_in_a_file_is_not_run(tmp_path: Path) -> None:
    x = keras.Input((2,))
    for suffix in (".keras", ".h5"):
        path = tmp_path / f"code{suffix}"
        keras.Model(x, layers.Lambda(lambda v: v * 2)(x)).save(path)
        with pytest.raises(ModelFileError, match="Lambda"):
            from_keras(path)


def rewritten(path: Path, change: Any) -> Path:
    """Write the archive again with its configuration changed."""
    with zipfile.ZipFile(path) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    config = json.loads(contents["config.json"])
    change(config)
    contents["config.json"] = json.dumps(config).encode()
    result = path.with_name("changed.keras")
    with zipfile.ZipFile(result, "w") as archive:
        for name, data in contents.items():
            archive.writestr(name, data)
    return result


@pytest.mark.parametrize(("module", "name"), [
    ("os", "system"), ("keras.layers", "TorchModuleWrapper"), ("keras.layers", "TFSMLayer"), (None, "Lambda"),
    ("subprocess", "Dense"),
])  # fmt: skip
def test_names_of_code_in_a_configuration_are_refused(tmp_path: Path, module: str | None, name: str) -> None:
    path = tmp_path / "model.keras"
    model().save(path)

    def change(config: Any) -> None:
        config["config"]["layers"][1].update(module=module, class_name=name)

    with pytest.raises(ModelFileError, match=name):
        from_keras(rewritten(path, change))


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.keras"
    model().save(path)
    contents = path.read_bytes()
    for length in (0, 5, 200, len(contents) // 2, len(contents) - 30):
        path.write_bytes(contents[:length])
        with pytest.raises(ModelFileError):
            from_keras(path)
    path.write_bytes(b"PK\x03\x04 no archive")
    with pytest.raises(ModelFileError, match="damaged archive"):
        from_keras(path)
    with pytest.raises(ModelFileError, match="cannot be read"):
        from_keras(tmp_path / "none.keras")


def test_an_archive_that_expands_beyond_reason_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.keras"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("config.json", b"{}")
        archive.writestr("model.weights.h5", bytes(64 << 20))
    with pytest.raises(ModelFileError, match="zip bomb"):
        from_keras(path)


def test_weights_in_another_file_are_refused(tmp_path: Path) -> None:
    import h5py  # type: ignore[import-untyped]

    path = tmp_path / "model.h5"
    model().save(path)
    with h5py.File(path, "a") as file:
        file["model_weights/elsewhere"] = h5py.ExternalLink("/etc/passwd", "/")
    with pytest.raises(ModelFileError, match="link"):
        from_keras(path)
    model().save(path)
    with h5py.File(path, "a") as file:
        file.create_dataset("huge", (1 << 40,), "f4", chunks=(1 << 20,))
    with pytest.raises(ModelFileError, match="expands"):
        from_keras(path)
