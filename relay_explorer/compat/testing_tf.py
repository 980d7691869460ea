"""`tvm.relay.testing.tf`: what tests of the importer of TensorFlow expect. TensorFlow is imported by them."""

from __future__ import annotations

from typing import Any

_COLLECTION = "https://github.com/dmlc/web-data/raw/main/tensorflow/models/"

__all__ = ["AddShapesToGraphDef", "ProcessGraphDefParam", "convert_to_list", "get_workload", "vmobj_to_list"]


def convert_to_list(x: Any) -> list[Any]:
    """Return a list as it is, and anything else as the only element of one."""
    return x if isinstance(x, list) else [x]


def vmobj_to_list(o: Any) -> list[Any]:
    """Return the arrays in a result of the virtual machine or the interpreter, in order, as NumPy arrays."""
    if hasattr(o, "constructor"):
        name = o.constructor.name_hint
        if name == "Nil":
            return []
        if name == "Cons":
            return [*vmobj_to_list(o.fields[0]), *vmobj_to_list(o.fields[1])]
        if "tensor_nil" in name:
            return [0]
        return [vmobj_to_list(field)[0] for field in o.fields]
    if hasattr(o, "numpy"):
        return [o.numpy()]
    return [array for field in o for array in vmobj_to_list(field)]


def ProcessGraphDefParam(graph_def: Any) -> Any:  # noqa: N802  # as in TVM
    """Return a GraphDef that has all attributes of its operators, those that files leave out too."""
    import tensorflow  # type: ignore[import-untyped]  # only tests have it

    checked = type(graph_def)()
    checked.ParseFromString(graph_def.SerializeToString())
    with tensorflow.Graph().as_default() as graph:
        tensorflow.compat.v1.import_graph_def(checked, name="")
    return graph.as_graph_def()


def AddShapesToGraphDef(session: Any, out_node: Any) -> Any:  # noqa: N802  # as in TVM
    """Return the graph of a session with its variables as constants, and with the shapes of its results."""
    from tensorflow.compat.v1 import graph_util  # type: ignore[import-untyped]  # only tests have it

    graph_def = session.graph.as_graph_def(add_shapes=True)
    return graph_util.convert_variables_to_constants(session, graph_def, convert_to_list(out_node))


def get_workload(model_path: str, model_sub_path: str | None = None) -> Any:
    """Return the GraphDef of a model of TVM's collection, or of an address, which must have been fetched
    before: see `tvm.contrib.download`. `model_sub_path` is the file within an archive, which is read without
    unpacking it, or beside a file that is no archive.
    """
    import os
    import tarfile

    from tensorflow.compat.v1 import GraphDef

    from .download import download_testdata

    is_address = model_path.startswith(("http://", "https://"))
    url = model_path if is_address else _COLLECTION + model_path
    name = os.path.basename(model_path) if is_address else model_path
    path = download_testdata(url, name, module=["tf", "official" if is_address else "models"])
    if model_sub_path is not None and tarfile.is_tarfile(path):
        with tarfile.open(path) as archive:
            members = {os.path.normpath(member.name): member for member in archive if member.isfile()}
            member = members.get(os.path.normpath(model_sub_path))
            content = archive.extractfile(member) if member is not None else None
            if content is None:
                raise FileNotFoundError(f"{path} has no file {model_sub_path}, but {', '.join(members)}")
            return GraphDef.FromString(content.read())
    if model_sub_path is not None:
        path = os.path.join(os.path.dirname(path), model_sub_path)
    with open(path, "rb") as file:
        return GraphDef.FromString(file.read())
