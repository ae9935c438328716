"""Policies: whether a running job is resized at a reconfiguring point, and to what size."""

from batdispatch.abilities.malleable.policy.base import GROUP, Action, Policy, Situation, make_policy

__all__ = ["GROUP", "Action", "Policy", "Situation", "make_policy"]
