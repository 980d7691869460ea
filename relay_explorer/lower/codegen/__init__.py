"""Code generation: compiles a primitive function to a library, by tensor expressions, a schedule, and TVM.

`compile_kernel` schedules the tensor expressions of a fused function and compiles them, in the processes of
`process_pool`. `levels` and `te_text` print a kernel at each intermediate level.
"""
