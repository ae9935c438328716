"""Power in a simulation: what hosts burn, the states that they go through, and the files that say so.

`power_states` is what the engine asks (an `engines.facet.EngineFacet`); `energy` counts joules, and `flops_timer` times
what depends on the speed of a power state.
"""
