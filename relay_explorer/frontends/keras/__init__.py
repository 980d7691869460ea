"""Import Keras models: Keras 3 on any backend, and tf-keras.

    from relay_explorer import relay
    mod, params = relay.frontend.from_keras(model, {"input_1": (1, 3, 224, 224)})

Functional and sequential models are graphs of layers, which are converted one by one from their configuration
and weights; nothing of the model is run. A model whose `call` is Python code has no graph, and is refused.
"""

from __future__ import annotations

from .importer import from_keras

__all__ = ["from_keras"]
