"""Who does what: which host carries Batsim, which hold storage, which compute.

As in Batsim, a role comes from the host property ``role`` or from outside (Batsim's ``-r host:role`` and ``-m host``),
and no role means a compute host. Hosts of a ``cluster`` share its properties, so Batsim needs ``-r`` to give some of
them another role. For a platform file to say it by itself, its master host may have the property ``storage_hosts`` with
the names of storage hosts; `Platform.batsim_arguments` passes them on to Batsim.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NoReturn, cast

from batdispatch.core.errors import InputError
from batdispatch.inputs.platforms.document import quote
from batdispatch.inputs.platforms.zones import PlatformHost

Role = Literal["master", "storage", "compute_node"]
ROLE_PROPERTY = "role"
#: Property of the master host: names of hosts with the role storage, separated by blanks or commas.
STORAGE_HOSTS_PROPERTY = "storage_hosts"
#: The master host when nothing else is said, as Batsim's ``-m``.
DEFAULT_MASTER = "master_host"

_ROLES = ("master", "storage", "compute_node")


class Roles:
    """The role of every host.

    Attributes:
        master: the host that carries Batsim, or None.
        given: roles that are not in the hosts' own properties: host -> role.
    """

    def __init__(
        self, hosts: Mapping[str, PlatformHost], source: str, master: str | None, given: Mapping[str, str]
    ) -> None:
        """Resolve the roles of `hosts`.

        Args:
            hosts: by name.
            source: the platform file, for messages.
            master: name of the master host; None: the one that the platform's properties name, else `DEFAULT_MASTER` if
                it exists, else there is none.
            given: further roles, host -> role.

        Raises:
            InputError: a host or role is unknown, a host gets two roles, or there are two masters.
        """
        self._source = source
        self.given: dict[str, Role] = {}
        self._roles: dict[str, Role] = {}
        for host in hosts.values():
            text = host.properties.get(ROLE_PROPERTY, "")
            if text:
                self._roles[host.name] = self._checked(text, host.place)
        for name, text in given.items():
            self._give(hosts, name, text, f"role {name}:{text}")
        if master is not None:
            self._give(hosts, master, "master", f"master host {master}")
        elif DEFAULT_MASTER in hosts:
            self._give(hosts, DEFAULT_MASTER, "master", hosts[DEFAULT_MASTER].place)
        masters = [name for name, role in self._roles.items() if role == "master"]
        if len(masters) > 1:
            self._fail(f"{len(masters)} hosts are masters ({', '.join(masters[:4])}), expected one", "")
        self.master = masters[0] if masters else None
        if self.master is not None:
            chief = hosts[self.master]
            for name in chief.properties.get(STORAGE_HOSTS_PROPERTY, "").replace(",", " ").split():
                self._give(hosts, name, "storage", f"{chief.place}: {STORAGE_HOSTS_PROPERTY} of host {chief.name}")

    def of(self, name: str) -> Role:
        """Return the role of a host."""
        return self._roles.get(name, "compute_node")

    def storage(self) -> set[str]:
        """Return the hosts that store."""
        return {name for name, role in self._roles.items() if role == "storage"}

    def _fail(self, message: str, place: str) -> NoReturn:
        raise InputError(message, source=self._source, place=place)

    def _checked(self, text: str, place: str) -> Role:
        if text not in _ROLES:
            self._fail(f"role {quote(text)} is none of {', '.join(_ROLES)}", place)
        return cast("Role", text)

    def _give(self, hosts: Mapping[str, PlatformHost], name: str, text: str, place: str) -> None:
        role = self._checked(text, place)
        if name not in hosts:
            self._fail(f"the platform has no host {quote(name)}", place)
        present = self._roles.get(name)
        if present is not None and present != role:
            self._fail(f"host {quote(name)} has the role {present} already, it cannot be {role} too", place)
        if present is None:
            self._roles[name] = role
            self.given[name] = role
