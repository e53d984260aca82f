"""Firsthand as Hermes' memory: copy this folder to ``$HERMES_HOME/plugins/firsthand`` (docs/hermes.md).

The provider is in the package, which must be installed where Hermes runs. Hermes looks
for the word register_memory_provider in this file.
"""

from firsthand.adapters.hermes import register

__all__ = ["register"]
