"""Passes that change the layouts of tensors.

`ops/layouts/` defines the layouts and the layout rules (`FInferCorrectLayout`) of the operators; `infer.py`
applies the rule of an operator, `convert.py` converts an operator to a preferred layout
(`FTVMConvertOpLayout`), and `rewrite.py` propagates layouts through a program.
"""
