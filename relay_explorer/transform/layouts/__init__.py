"""Layouts of tensors in programs: which ones an operator can work in, and how it does.

`layout.py` has the layouts, `infer.py` the rules (`FInferCorrectLayout`) of the operators, in families:
`same.py`, `images.py`, `axes.py`; `convert.py` how an operator is brought to a wanted layout
(`FTVMConvertOpLayout`); `rewrite.py` moves layouts through a program.
"""
