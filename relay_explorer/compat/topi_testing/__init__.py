"""`tvm.topi.testing`: NumPy references of operators, for old tests.

`installed` forwards the functions of the installed TVM that work with NumPy 2. The others are defined here:
with NumPy 2 TVM's raise an error (`space_to_depth_python`), take no groups, no single number for a stride, or
square images only.
"""
