"""The files of a site's Slurm, as what reads logs asks for them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from batdispatch.abilities.sites.doors.slurm.conf import SlurmConf
from batdispatch.abilities.sites.doors.slurm.looks import clocks_of
from batdispatch.abilities.sites.doors.slurm.scheduling import CONF, options_of_site
from batdispatch.abilities.sites.doors.slurm.site import draft_of_folder, read_folder
from batdispatch.inputs.sites import SiteDraft
from batdispatch.inputs.workloads.log_columns import LogColumns
from batdispatch.inputs.workloads.logs import LogInfo
from batdispatch.inputs.workloads.moments import Clock
from batdispatch.inputs.workloads.node_use import NodeUse


class SlurmFiles:
    """A folder with slurm.conf, or with what Slurm's commands print; see `batdispatch.inputs.sites.SiteFiles`.

    Attributes:
        log_format: of Slurm's accounts.
        logs: what these are, in words.
        counts_memory: whether jobs are given memory.
    """

    log_format = "sacct"
    logs = "the accounts of Slurm (sacct)"

    def __init__(self, folder: Path, cluster: str = "") -> None:
        """Read the folder, of which what is of one cluster counts.

        Raises:
            InputError: it, or a file in it, is wrong.
        """
        self._folder = read_folder(folder, cluster)
        self.counts_memory = self._folder.counts_memory

    @property
    def conf(self) -> SlurmConf | None:
        """The site's slurm.conf; None: there is none."""
        return self._folder.conf

    def draft(
        self,
        use: NodeUse,
        clock: Clock,
        origin: float,
        *,
        shared: bool,
        licences: Mapping[str, int],
        least: Mapping[str, int],
        last: float,
    ) -> SiteDraft:
        """Return the site, see `batdispatch.inputs.sites.SiteFiles.draft`."""
        return draft_of_folder(
            self._folder, use, clock, origin, shared=shared, licences=licences, least=least, last=last
        )

    def options_beside(self, dispatcher: str, options: dict[str, str], stated: Mapping[str, str]) -> dict[str, str]:
        """Return what slurm.conf adds, see `batdispatch.inputs.sites.SiteFiles.options_beside`.

        One that states `conf` keeps to that file.
        """
        return {} if CONF in stated else options_of_site(dispatcher, options, self.conf)

    def options_by_log(
        self, dispatcher: str, options: Mapping[str, str], origin: float, jobs: LogColumns, info: LogInfo
    ) -> tuple[dict[str, str], str]:
        """Return when the site's loops look at the queue, see `batdispatch.inputs.sites.SiteFiles.options_by_log`."""
        return clocks_of(options, origin, jobs, info)
