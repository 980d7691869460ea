"""`tvm.topi.testing`: NumPy references of operators, for old tests.

`installed` forwards the functions of the installed TVM that work with NumPy 2. The others are defined here,
because TVM's versions fail with NumPy 2 (`space_to_depth_python`), support no groups, accept no single number
as a stride, or support square images only.
"""
