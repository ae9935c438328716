"""Looking ahead: what a cheap policy would come to on jobs like those that came recently."""

from batdispatch.parts.rollouts.past import Past
from batdispatch.parts.rollouts.rollouts import Rollouts

__all__ = ["Past", "Rollouts"]
