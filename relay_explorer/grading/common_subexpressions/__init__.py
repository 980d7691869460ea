"""The exercise `common_subexpressions`: a pass that eliminates common subexpressions."""
