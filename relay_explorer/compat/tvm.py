"""The namespace of `tvm`, as far as Relay code used it: `from relay_explorer.compat import tvm`.

    from relay_explorer.compat import tvm
    from relay_explorer.compat.tvm import relay

`_PLACES` lists where the names of each module are defined. For a name that is missing, the error says what
replaces it.
"""

from __future__ import annotations

import sys as _sys
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from . import adt_values as _adt_values
from . import below as _below
from . import frontend as _frontend
from . import legacy_methods as _legacy_methods
from . import namespace as _namespace
from . import qnn_legalize as _qnn_legalize
from . import typed_numbers as _typed_numbers
from . import virtual_devices as _virtual_devices

_WORKLOADS = (
    "dcgan", "densenet", "dqn", "inception_v3", "lstm", "mlp", "mobilenet", "resnet", "resnet_3d",
    "squeezenet", "synthetic", "vgg",
)  # fmt: skip

_PLACES: dict[str, tuple[str, ...]] = {
    "tvm.error": (
        "ir.errors:RelayError as TVMError", "ir.errors:RelayError as DiagnosticError",
        "ir.errors:RelayError as InternalError", "ir.errors:RelayError as OpError",
        "ir.errors:UnknownOperatorError as OpNotImplemented",
        "ir.errors:AttributeSchemaError as OpAttributeInvalid",
        "ir.errors:AttributeSchemaError as OpAttributeRequired",
        "ir.errors:AttributeSchemaError as OpAttributeUnImplemented", "ir.errors",
    ),
    "tvm._ffi": (),
    "tvm._ffi.base": ("ir.errors:RelayError as TVMError",),
    "tvm.ir": (
        "compat.with_fields:structural_equal", "ir",
        "compat.serialize:save_json", "compat.serialize:load_json", "compat.tir:PrimExpr",
        "ir.expr:Expr as RelayExpr",
        "ir.types:TypeConstraint", "ir.types:RefType as RelayRefType", "ir.expr:Function as BaseFunc",
        "compat.containers", "compat.nodes:make_node", "compat.nodes:EnvFunc",
        "compat.op_attributes:register_op_attr", "compat.older:Node", "ir.expr:Expr as BaseExpr",
        "ir.affine_type",
    ),
    "tvm.ir.adt": ("ir.adt",),
    "tvm.ir.affine_type": ("ir.affine_type",),
    "tvm.ir.attrs": ("ir.attrs",),
    "tvm.ir.base": (
        "ir.span", "compat.nodes:make_node", "compat.nodes:EnvFunc", "ir.equal",
        "compat.serialize:save_json", "compat.serialize:load_json",
    ),
    "tvm.ir.diagnostics": ("compat.diagnostics",),
    "tvm.ir.container": ("compat.containers",),
    "tvm.ir.expr": (
        "ir.expr:GlobalVar", "ir.expr:Expr as RelayExpr", "compat.tir:PrimExpr",
    ),
    "tvm.ir.instrument": ("compat.instruments",),
    "tvm.instrument": ("compat.instruments",),
    "tvm.ir.module": ("ir.module:IRModule",),
    "tvm.ir.op": ("ir.op:Op", "compat.op_attributes:register_op_attr"),
    "tvm.ir.tensor_type": ("ir.types:TensorType",),
    "tvm.ir.transform": (
        "transform:Pass as FunctionPass", "transform:Pass as ModulePass", "transform", "compat.older:PrintIR",
    ),
    "tvm.ir.type": ("ir.types", "ir.types:RefType as RelayRefType"),
    "tvm.ir.type_relation": ("ir.types:TypeCall", "ir.types:TypeRelation"),
    "tvm.nd": (
        "compat.arrays", "compat.devices:cpu", "compat.devices:cuda", "compat.devices:gpu",
        "compat.devices:device", "compat.devices:device as context",
    ),
    "tvm.parser": ("compat.parsing",),
    "tvm.runtime": (
        "compat.arrays", "compat.parameters:save_param_dict", "compat.parameters:load_param_dict",
        "compat.tir:convert", "compat.tir:const", "compat.tir:String", "compat.devices",
        "compat.containers:ShapeTuple", "compat.older:Object", "compat.older:DataType",
        "compat.older:enabled", "compat.libraries:load_module", "compat.libraries:Library as Module",
    ),
    "tvm.runtime.module": ("compat.libraries:load_module", "compat.libraries:Library as Module"),
    "tvm.module": ("compat.libraries:load_module as load",),
    "tvm.runtime.container": (
        "compat.containers:ShapeTuple", "compat.tir:String", "compat.adt_values",
    ),
    "tvm.runtime.ndarray": ("compat.arrays", "compat.devices"),
    "tvm.runtime.params": ("compat.parameters",),
    "tvm.target": (
        "compat.devices:Target", "compat.devices:VirtualDevice", "compat.devices:create", "compat.targets",
    ),
    "tvm.te": (
        "compat.tir:var", "compat.tir:size_var", "compat.tir:const", "compat.tir_sizes",
        "compat.forwarded.te",
    ),
    "tvm.te.hybrid": (),
    "tvm.testing": ("compat.testing",),
    "tvm.testing.plugin": ("compat.testing_plugin",),
    "tvm.tir": (
        "compat.tir", "compat.tir_sizes", "ir.types:Any",
        "ops.layouts.layout:Layout", "ops.layouts.layout:layout",
    ),
    "tvm.tir.expr": ("compat.tir", "compat.tir_sizes", "ir.types:Any"),
    "tvm.transform": (
        "transform:Pass as FunctionPass", "transform:Pass as ModulePass", "transform", "compat.older:PrintIR",
    ),
    "tvm.contrib": (),
    "tvm.contrib.relay_viz": ("compat.relay_viz", "compat.relay_viz.dot", "compat.relay_viz.terminal"),
    "tvm.contrib.relay_viz.dot": ("compat.relay_viz.dot",),
    "tvm.contrib.relay_viz.interface": ("compat.relay_viz.interface",),
    "tvm.contrib.relay_viz.node_edge_gen": ("compat.relay_viz.interface",),
    "tvm.contrib.relay_viz.terminal": ("compat.relay_viz.terminal",),
    **_below.PLACES,
    "tvm.relay": (
        "compat.parsing", "compat.build:build", "transform:optimize", "relay",
        "compat.serialize:load_json", "compat.serialize:save_json",
        "compat.parameters:save_param_dict", "compat.parameters:load_param_dict",
        "compat.older:shape_var as ShapeVar", "compat.older:build_config", "compat.diagnostics:SpanCheck",
        "compat.older:function_with_fields as FunctionWithFields", "compat.with_fields",
        "ir.module:IRModule as Module", "ir.expr:Expr as ExprWithOp", "ir.expr:Expr as RelayExpr",
        "ir.expr:Expr as RelayNode", "ir.types:RefType as RelayRefType",
        "ir.identity:Id", "ir.types:is_dynamic",
        "execute.results:RefValue", "execute.results:ConstructorValue",
    ),
    "tvm.relay.adt": ("ir.adt", "ir.module:IRModule"),
    "tvm.relay.analysis": ("analysis", "relay:TypeVar"),
    "tvm.relay.analysis._ffi_api": ("compat.type_solver:_test_type_solver",),
    "tvm.relay.backend": ("compat.build_choices",),
    "tvm.relay.backend.runtime": ("compat.build_choices",),
    "tvm.relay.backend.te_compiler": ("compat.te_compiler",),
    "tvm.relay.backend.interpreter": (
        "execute.results:ConstructorValue", "execute.results:RefValue", "execute:Executor",
    ),
    "tvm.relay.base": ("ir.span", "ir.expr:Expr as RelayNode"),
    "tvm.relay.build_module": (
        "relay.build_module", "compat.build:build", "transform:optimize", "compat.older:build_config",
    ),
    "tvm.relay.data_dep_optimization": (),
    "tvm.relay.dataflow_pattern": ("dataflow_pattern",),
    "tvm.relay.expr": (
        "ir.expr", "compat.with_fields", "ir.bind:bind", "ir.tuple_wrapper:TupleWrapper",
        "ir.expr:Expr as RelayExpr", "ir.expr:Expr as RelayNode", "ir.expr:Expr as ExprWithOp",
    ),
    "tvm.relay.expr_functor": ("ir.visitor", "ir.bind:bind"),
    **_frontend.PLACES,
    "tvm.relay.function": ("ir.expr:Function", "compat.older:function_with_fields as FunctionWithFields"),
    "tvm.relay.module": ("ir.module:IRModule as Module",),
    "tvm.relay.loops": ("ir.loops",),
    "tvm.relay.op": ("relay.op", "ir.op", "compat.op_attributes"),
    "tvm.relay.op._make": ("relay.op", "compat.op_make:variance as _variance"),
    "tvm.relay.op.contrib": (),
    "tvm.relay.op.contrib.register": ("compat.pattern_tables",),
    "tvm.relay.op.image": ("relay.image",),
    "tvm.relay.op.nn": ("relay.nn",),
    "tvm.relay.op.random": ("relay.random",),
    "tvm.relay.op.annotation": ("relay.annotation",),
    "tvm.relay.annotation": ("relay.annotation",),
    "tvm.relay.op.vision": ("relay.vision",),
    "tvm.relay.op.op_attrs": ("compat.attribute_classes",),
    "tvm.relay.op.op": ("ir.op", "relay.op:get", "compat.op_attributes"),
    "tvm.relay.op.reduce": ("relay.op",),
    "tvm.relay.op.tensor": ("relay.op",),
    "tvm.relay.op.transform": ("relay.op",),
    "tvm.relay.param_dict": ("compat.parameters",),
    "tvm.relay.parser": ("compat.parsing",),
    "tvm.relay.prelude": ("prelude",),
    "tvm.relay.qnn": (),
    "tvm.relay.qnn.op": ("ops.namespaces.qnn", "ops.qnn.config", "compat.op_attributes"),
    "tvm.relay.qnn.op.qnn": ("ops.namespaces.qnn", "ops.qnn.config"),
    "tvm.relay.qnn.op.op": ("compat.op_attributes",),
    "tvm.relay.qnn.op.canonicalizations": ("compat.qnn_tables",),
    "tvm.relay.qnn.op.legalizations": ("compat.qnn_legalize", "compat.qnn_tables:hardswish_func"),
    "tvm.relay.qnn.transform": (
        "transform.qnn:QnnCanonicalizeOps as CanonicalizeOps", "compat.qnn_legalize:Legalize",
    ),
    "tvm.relay.quantize": ("compat.quantizing", "quantize", "quantize:annotate", "quantize:realize"),
    "tvm.relay.quantize._annotate": ("compat.quantizing", "quantize"),
    "tvm.relay.quantize._calibrate": (
        "compat.quantizing", "compat.quantizing:_find_scale_by_kl",
        "compat.quantizing:_find_scale_by_percentile",
    ),
    "tvm.relay.quantize._partition": ("quantize",),
    "tvm.relay.quantize._partition_conversions": ("quantize.conversions",),
    "tvm.relay.quantize._quantize": ("compat.quantizing",),
    "tvm.relay.quantize.kl_divergence": ("compat.quantizing:_find_scale_by_kl",),
    "tvm.relay.scope_builder": ("relay:ScopeBuilder",),
    "tvm.relay.testing": ("compat.relay_testing", "compat.op_attributes:TempOpAttr"),
    **{
        f"tvm.relay.testing.{name}": (
            f"compat.workloads:{name} as get_workload", f"compat.workloads:{name}_net as get_net",
        )
        for name in _WORKLOADS
    },
    "tvm.relay.testing.byoc": ("compat.byoc",),
    "tvm.relay.testing.tf": ("compat.testing_tf",),
    "tvm.relay.testing.init": (
        "compat.workloads:create_workload", "compat.workloads:Xavier", "compat.workloads:Constant",
        "compat.workloads:Initializer",
    ),
    "tvm.relay.testing.layers": ("compat.relay_layers",),
    "tvm.relay.testing.nat": ("compat.relay_testing",),
    "tvm.relay.testing.temp_op_attr": ("compat.op_attributes:TempOpAttr",),
    "tvm.relay.transform": (
        "transform:Pass as FunctionPass", "transform", "compat.older:PrintIR", "compat.older:DivToMul",
    ),
    "tvm.relay.transform.fake_quantization_to_integer": ("transform.fake_quantization",),
    "tvm.relay.transform.infer_layout_utils": ("ops.layouts.layout:InferCorrectLayoutOutput",),
    "tvm.relay.transform.mixed_precision": (
        "transform.mixed_precision.categories", "compat.mixed_precision",
    ),
    "tvm.relay.vm": ("compat.virtual_machine",),
    "tvm.relay.backend.vm": ("compat.virtual_machine",),
    "tvm.runtime.vm": ("compat.virtual_machine",),
    "tvm.contrib.graph_executor": ("compat.graph_module:GraphModule", "compat.graph_module:create"),
    "tvm.contrib.graph_runtime": ("compat.graph_module:GraphModule", "compat.graph_module:create"),
    "tvm.relay.ty": ("ir.types", "ir.types:RefType as RelayRefType"),
    "tvm.relay.type_functor": ("ir.type_visitor",),
}  # fmt: skip


_ROOT = (
    "ir.module:IRModule", "ir.errors:RelayError as TVMError",
    "compat.devices:cpu", "compat.devices:cuda", "compat.devices:gpu", "compat.devices:opencl",
    "compat.devices:cl", "compat.devices:metal", "compat.devices:rocm", "compat.devices:vulkan",
    "compat.devices:device", "compat.devices:device as context", "compat.devices:Device",
    "compat.tir:const", "compat.tir:convert", "compat.nodes:get_global_func", "compat.nodes:register_func",
    "compat.older:Object", "compat.older:DataType",
)  # fmt: skip

__version__ = "0.14.0"  # read by old code: the version whose `tvm.relay` this is

_here = _sys.modules[__name__]
_here.__class__ = _namespace.Namespace
_here.__dict__.update(_namespace.Namespace("tvm", _ROOT).__dict__ | {"__doc__": __doc__})
_namespace.build(_PLACES, _here)
_typed_numbers.enable()
_adt_values.as_sequences()
_legacy_methods.enable()
_virtual_devices.enable()

if _TYPE_CHECKING:  # the names of these modules are set when this one is loaded

    def __getattr__(name: str) -> _Any: ...
