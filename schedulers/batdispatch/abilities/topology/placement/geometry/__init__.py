"""Searches for hosts that form a shape on the machine's network.

A *shape* is a rule for the hosts of one job: contiguous, connected, convex, local, compact. The folder above has
a class for each; this one finds hosts that keep the rules of several shapes at once:

| file | finds |
|---|---|
| `ranges.py` | ranges of hosts on a line: exact |
| `boxes.py` | boxes of a torus or mesh whose links, or routers, nobody else uses: exact for boxes |
| `connected_sets.py` | connected routers: exact |
| `cliques.py` | sets of routers that keep each pair's routes to themselves: exact on small machines |
| `closed_sets.py` | such sets on fat trees and dragonflies |
| `proofs.py` | that no place can ever be found |
| `hits.py` | a few cells near all I/O nodes of a job |
| `growth.py` | sets as those of `cliques.py` on larger tori and meshes, grown from seeds |
| `closest.py` | hosts that are close to each other: exact on small machines |
| `search.py` | hosts that keep all rules, by the above |

`network.py` has what is known of a machine, `moment.py` what is known of one scene and one job, `rules.py` the rules,
`rule_check.py` whether hosts keep them, and `shape.py` what all placements of shapes have in common.
"""
