"""From a primitive function to a library: tensor expressions, a schedule, and TVM's code generator.

`compose` builds the tensor expressions of a fused function, `compile_kernel` schedules them and compiles, in
the processes of `process_pool`. `levels` and `te_text` print a kernel at each level on the way.
"""
