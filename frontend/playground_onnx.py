# Run by playground.mjs in Pyodide, where the package is in /src, and in /onnx the importer of ONNX files with what it needs: packs
# the modules of /onnx that are used into `archive`, compiled by the same Python that the page has. `libraries` are the modules
# of the standard library that they import.
import importlib
import sys
import zipfile
from importlib import _bootstrap_external
from io import BytesIO
from pathlib import Path

sys.path.insert(0, "/src")
from relay_explorer.playground import messages  # noqa: E402
from relay_explorer.playground.worker import start  # noqa: E402

FOLDER = "/onnx"
answer, _ = start()
messages.install(FOLDER)
for path in sorted(Path(FOLDER, "relay_explorer").rglob("*.py")):
    importlib.import_module(".".join(path.relative_to(FOLDER).with_suffix("").parts).removesuffix(".__init__"))

# Opening a model imports the rest.
from onnx import ModelProto, TensorProto  # noqa: E402

from relay_explorer.playground.session import Session  # noqa: E402

model = ModelProto()
model.opset_import.add(version=17)
for value, name in ((model.graph.input.add(), "x"), (model.graph.output.add(), "y")):
    value.name = name
    value.type.tensor_type.elem_type = TensorProto.FLOAT
    value.type.tensor_type.shape.dim.add(dim_value=1)
model.graph.node.add(op_type="Relu", input=["x"], output=["y"])
reply = Session().open("model.onnx", model.SerializeToString())
assert "nn.relu" in reply, reply

buffer = BytesIO()
with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as packed:
    loaded = [getattr(module, "__file__", None) or "" for module in list(sys.modules.values())]
    for file in sorted({file for file in loaded if file.startswith(f"{FOLDER}/")}):
        name = str(Path(file).relative_to(FOLDER).with_suffix(".pyc"))
        code = compile(Path(file).read_bytes(), name, "exec", dont_inherit=True)
        # The same date each time, so that the same sources make the same archive.
        packed.writestr(zipfile.ZipInfo(name), bytes(_bootstrap_external._code_to_timestamp_pyc(code)))
archive = buffer.getvalue()
libraries = " ".join(sorted(name for name in sys.modules if name.partition(".")[0] in sys.stdlib_module_names))
