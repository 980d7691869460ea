"""The exercise `dead_code`: a pass that removes unused bindings."""
