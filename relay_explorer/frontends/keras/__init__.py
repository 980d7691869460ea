"""Import Keras models: Keras 3 on any backend, and tf-keras.

    from relay_explorer import relay
    mod, params = relay.frontend.from_keras(model, {"input_1": (1, 3, 224, 224)})

Functional and sequential models are graphs of layers. The importer converts the layers one by one from their
configuration and weights, and executes none of the model's code. It refuses subclassed models: they have no
graph, because their `call` is Python code.
"""

from __future__ import annotations

from .importer import from_keras

__all__ = ["from_keras"]
