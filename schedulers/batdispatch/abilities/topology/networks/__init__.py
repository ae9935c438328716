"""The network that joins the hosts: routers, the links between them, distances and routes, as SimGrid routes messages.

A host stands on a router. A route is the sequence of directed links that a message takes from the sender's router to
the receiver's; a distance is the number of these links, so it is 0 between two hosts of one router. The links that join
a host to its own router are left out: no other host uses them. Routes are static: they depend on sender and receiver
and on nothing else, so two jobs whose routes have no link in common never slow down each other's messages.

Routes are those of SimGrid's cluster zones, checked link by link against SimGrid 3.32:

| class | file | distance | longest distance |
|---|---|---|---|
| `Flat`: all hosts stand on one router | `flat.py` | 0 | 0 |
| `Grid`: torus and mesh, dimension-order routing | `grid.py` | sum over the dimensions | sum of k // 2 or of k - 1 |
| `FatTree`: up to a common switch, and down again | `fat_tree.py` | 2 x (levels to climb) | 2 x levels |
| `Dragonfly`: over chassis and groups | `dragonfly.py` | links of the minimal route | 5 |

`base.py` holds what all of them are and answer (`Topology`). A new topology is a subclass in a file of its own that
says where links lead, how far routers are apart, and which links a message takes.

Hosts and routers are numbers, or int64 arrays of numbers where a parameter is an array. Distances are numbers of links.
In complexities, ``q`` is a number of hosts, ``r`` the number of their routers, ``D`` the number of dimensions of a grid
and ``k`` the size of one.
"""

from batdispatch.abilities.topology.networks.base import Kind, Topology, topology_of
from batdispatch.abilities.topology.networks.dragonfly import Dragonfly
from batdispatch.abilities.topology.networks.fat_tree import FatTree
from batdispatch.abilities.topology.networks.flat import Flat
from batdispatch.abilities.topology.networks.grid import Grid

__all__ = ["Dragonfly", "FatTree", "Flat", "Grid", "Kind", "Topology", "topology_of"]
