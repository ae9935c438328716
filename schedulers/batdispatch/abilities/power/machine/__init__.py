"""What a platform says of power: power states of hosts (`facet`, `host_states`), and what changes over time."""
