"""HPC job dispatchers as event-reactive schedulers for Batsim.

What an author of dispatchers needs can be imported from here; see docs/first-dispatcher.md.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from batdispatch.core.allocation import Allocation
    from batdispatch.core.dispatcher import Dispatcher
    from batdispatch.core.job import Job
    from batdispatch.core.ledger import Ledger
    from batdispatch.core.options import Options

__version__ = "0.1.0"

__all__ = ["Allocation", "Dispatcher", "Job", "Ledger", "Options", "__version__"]


def __getattr__(name: str) -> Any:
    # Imported when asked for: `batdispatch --help` and shell completion need none of it.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.core.{name.lower()}"), name)
