"""HPC job dispatchers as event-reactive schedulers for Batsim.

What an author of dispatchers needs can be imported from here; see docs/first-dispatcher.md.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from batdispatch.core.allocation import Allocation, Place
    from batdispatch.core.dispatcher import Dispatcher
    from batdispatch.core.job import Job, Stay
    from batdispatch.core.ledger import Ledger
    from batdispatch.core.options import Options
    from batdispatch.core.request import Request
    from batdispatch.core.scene import Scene
    from batdispatch.parts.ordering import Ordering
    from batdispatch.parts.placement import Placement
    from batdispatch.parts.prediction import Prediction

__version__ = "0.1.0"

__all__ = [
    "Allocation",
    "Dispatcher",
    "Job",
    "Ledger",
    "Options",
    "Ordering",
    "Place",
    "Placement",
    "Prediction",
    "Request",
    "Scene",
    "Stay",
    "__version__",
]

#: Where names stand that do not stand in a module of their own name.
_ELSEWHERE = {
    "Ordering": "parts.ordering",
    "Place": "core.allocation",
    "Placement": "parts.placement",
    "Prediction": "parts.prediction",
    "Stay": "core.job",
}


def __getattr__(name: str) -> Any:
    # Imported when asked for: `batdispatch --help` and shell completion need none of it.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_ELSEWHERE.get(name, f'core.{name.lower()}')}"), name)
