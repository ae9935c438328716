"""Holds the job file of any simulator against textbook definitions of the common policies.

Theory of operation. `textbook` simulates a policy naively, as its paper defines it, and shares no code with the
dispatchers and engines of this package (`make lint` checks this), so that it can find their mistakes as well. Its
`Rules` also describe what implementations are known to do otherwise. `readings` are ways to read a definition that
leaves something open, such as what happens first at one moment; `mistakes` are none. `reading` reads a job file, `hold`
compares its start times with the expected ones, and looks for the variant that explains the file exactly. `cases` are
small workloads worked out by hand, each of which reveals one mistake.
"""
