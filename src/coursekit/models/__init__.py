"""Models: one file each, made of the parts in layer 1, with its configuration beside it.

`from coursekit.models import Bert` works for every name below and loads that one file only.
"""

from importlib import import_module

HOMES = {  # which module holds a name; the cache keys of the notebooks read this table too
    "RNNSearch": "rnnsearch",
    "RNNSearchConfig": "rnnsearch",
}


def __getattr__(name: str) -> object:
    """Load the module that holds `name` when it is asked for (PEP 562)."""
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{HOMES[name]}"), name)


def __dir__() -> list[str]:
    """Return what can be imported from here."""
    return sorted([*globals(), *HOMES])
