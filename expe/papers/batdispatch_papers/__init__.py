"""What only one paper or one machine needs: its workloads, its platform, its log, as plug-ins of batdispatch.

A folder is a paper or a machine. `pyproject.toml` announces what stands in it, by entry points that are open to every
package: commands of ``generate`` and of ``platform generate``, and formats of logs. Nothing in batdispatch imports it.
"""
