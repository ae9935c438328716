"""Batsim workloads from JSON, checked on the way in; those of Batsim 5 become what they would be for Batsim 4."""

from __future__ import annotations

import graphlib
import json
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from batdispatch.batsim.bounds import check_bounds, most_of_file
from batdispatch.batsim.v5 import workload as batsim5
from batdispatch.core.errors import FieldError, InputError
from batdispatch.core.hosts import hostset
from batdispatch.core.jobs.fields import read_fields, read_moment, read_units
from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.profiles import Composition, Profile, check_profile, short_text
from batdispatch.inputs.files import read_all
from batdispatch.inputs.workloads.blocks import BLOCK, read_block
from batdispatch.inputs.workloads.columns import JobColumns
from batdispatch.inputs.workloads.model import Workload, stem
from batdispatch.inputs.workloads.names import MAX_NAME, are_names, check_name

_BYTE = re.compile(r"\(byte (\d+)\)")
#: What stands before a value of an object: a brace or comma, and the name of the field.
_FIELD = re.compile(rb'[ \t\r\n]*[{,][ \t\r\n]*("(?:[^"\\]++|\\.)*+")[ \t\r\n]*:[ \t\r\n]*', re.DOTALL)


def read_workload(path: str | Path, *, progress: Callable[[int, int], None] | None = None) -> Workload:
    """Read a workload of Batsim 4 or 5 (told by its profile types), ``.json`` or compressed with xz or gzip.

    Job fields beyond Batsim's own go to ``Job.extra``; of those, `user` (string or whole number), `parent` and what
    `core.jobs.request` lists are read. CEA-Curie's 296,970 jobs with four such fields each (36 MB) took 1.1 CPU-seconds
    and a peak of 271 MB on one machine.

    Args:
        path: the file.
        progress: told jobs done and jobs in all, now and then.

    Raises:
        InputError: the file cannot be read or something in it is wrong; the message says what and where.
    """
    return read_contents(Path(path)).workload(progress)


class Contents(msgspec.Struct, kw_only=True):
    """A workload's file, of which all but the jobs has been read."""

    path: Path
    digest: str
    nb_res: int | None
    batsim: Literal[4, 5]
    #: The list of jobs, not decoded.
    jobs: msgspec.Raw
    profiles: dict[str, dict[str, Any]]
    #: The profiles as they stand there if they are Batsim 5's.
    theirs: dict[str, dict[str, Any]]
    #: The numbers of executors that profiles are made for.
    sizes: Mapping[str, frozenset[int]]
    about: dict[str, Any]

    def items(self) -> list[msgspec.Raw]:
        """Return the jobs' objects, not decoded.

        Raises:
            InputError: there is no list of them.
        """
        listed: list[msgspec.Raw] = _decode(self.jobs, list[msgspec.Raw], str(self.path), "'jobs'", b"")
        return listed

    def columns(self) -> JobColumns | None:
        """Return the jobs as columns, in order of submission; None: any of them is unusual, or nothing is compiled."""
        # What calls C is loaded for runs in C alone.
        from batdispatch.inputs.workloads.text_columns import read_columns
        from batdispatch.native.library import load

        if self.batsim == 5 or load() is None:
            return None
        return read_columns(self.jobs, self.profiles, frozenset(self.sizes))

    def workload(self, progress: Callable[[int, int], None] | None = None) -> Workload:
        """Return the workload with an object per job; for `progress` see `read_workload`.

        Raises:
            InputError: something is wrong in the jobs.
        """
        reader = JobReader(str(self.path), self.profiles, self.sizes, self.batsim == 5)
        workload = Workload(
            path=self.path,
            name=stem(self.path),
            digest=self.digest,
            nb_res=self.nb_res,
            batsim=self.batsim,
            jobs=list(reader.read(self.items(), progress)),
            profiles=self.profiles,
            as_written={name: (profile, self.theirs[name]) for name, profile in self.profiles.items() if self.theirs},
            about=self.about,
        )
        workload.sort()
        return workload


def read_contents(path: Path) -> Contents:
    """Read all of a workload but its jobs.

    Raises:
        InputError: as `read_workload`.
    """
    source = str(path)
    data, digest = read_all(path)
    data = data.removeprefix(b"\xef\xbb\xbf")
    if not data.lstrip().startswith(b"{"):
        _refuse_log(path)
    check_bounds(data, source=source, most=most_of_file(len(data)))
    top: dict[str, msgspec.Raw] = _decode(data, dict[str, msgspec.Raw], source, "workload", data)
    twice = _repeated(data, top)
    if twice is not None:
        raise InputError(f"{twice!r} is there twice", source=source, place="workload")
    for field in ("jobs", "profiles"):
        if field not in top:
            raise InputError(
                f"has no {field!r}: a workload is an object with 'nb_res', 'jobs', 'profiles'", source=source
            )
    nb_res = None
    if "nb_res" in top:
        nb_res = _decode(top["nb_res"], Any, source, "'nb_res'", data)
        if type(nb_res) is not int or not 1 <= nb_res <= hostset.MAX_HOST_ID:
            raise InputError(
                f"'nb_res' is {short_text(nb_res)}, expected a whole number of hosts from 1", source=source
            )
    profiles, sizes, theirs = _read_profiles(top["profiles"], top["jobs"], source, data)
    about = {
        name: _decode(raw, Any, source, f"{name!r}", data)
        for name, raw in top.items()
        if name not in ("nb_res", "jobs", "profiles")
    }
    return Contents(
        path=path,
        digest=digest,
        nb_res=nb_res,
        batsim=5 if theirs else 4,
        jobs=top["jobs"],
        profiles=profiles,
        theirs=theirs,
        sizes=sizes,
        about=about,
    )


def _refuse_log(path: Path) -> None:
    """Raise an input error that names the importer if a file is a log rather than a workload."""
    from batdispatch.inputs.workloads.importers import guess_format

    try:
        kind = guess_format(path)
    except InputError:
        return
    raise InputError(
        f"looks like a log ({kind}), expected a Batsim workload: `batdispatch convert {path} -o W.json` makes one",
        source=str(path),
    )


def _plain(problem: Exception) -> str:
    return str(problem).replace("`", "'")


def _decode(data: bytes | msgspec.Raw, kind: Any, source: str, what: str, whole: bytes) -> Any:
    """Decode JSON; what is wrong becomes an input error, with the line when the decoder knows the byte."""
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError as problem:
        raise InputError(f"{what}: {_plain(problem)}", source=source) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        at = _BYTE.search(str(problem))
        place = what
        if at is not None and data is whole:
            lines = whole.count(b"\n", 0, int(at[1])) + 1
            place = f"line {lines}"
        raise InputError(f"not JSON: {problem}", source=source, place=place) from None
    except RecursionError:
        raise InputError("is nested too deeply", source=source, place=what) from None


def _repeated(data: bytes, top: Mapping[str, msgspec.Raw]) -> str | None:
    """Return a field that the outermost object has twice, or None; msgspec keeps the last one without a word.

    Args:
        data: the object, known to be JSON.
        top: its fields, as msgspec keeps them.
    """
    seen: set[str] = set()
    at = 0
    while (field := _FIELD.match(data, at)) is not None:
        name: str = msgspec.json.decode(field[1])
        if name in seen or not data.startswith(memoryview(top[name]), field.end()):
            return name
        seen.add(name)
        at = field.end() + len(memoryview(top[name]))
    # A shorter value than the one that was kept, or one that begins alike, leads astray.
    return None if data[at:].strip() == b"}" or not top else name


def _repeated_in(raw: msgspec.Raw, fields: Mapping[str, Any]) -> str | None:
    """Return a name that an object, or one inside it, has twice, or None."""
    inner = sum(len(value) for value in fields.values() if type(value) is dict)
    text = bytes(raw)
    # Where names are all that colons follow, none is lost.
    if text.count(b":") == len(fields) + inner:
        return None
    try:
        json.loads(text, object_pairs_hook=_unique)
    except KeyError as twice:
        return str(twice.args[0])
    return None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise KeyError(name)
            seen.add(name)
    return found


def _read_profiles(
    raw: msgspec.Raw, jobs: msgspec.Raw, source: str, whole: bytes
) -> tuple[dict[str, dict[str, Any]], Mapping[str, frozenset[int]], dict[str, dict[str, Any]]]:
    """Return the profiles, the sizes that they are made for, and the profiles as they stand there if Batsim 5's."""
    profiles: dict[str, dict[str, Any]] = _decode(raw, dict[str, dict[str, Any]], source, "'profiles'", whole)
    if _are_mere_delays(raw, profiles):
        return profiles, {}, {}
    try:
        # msgspec keeps the last of several fields of one name without a word; Batsim refuses the file.
        json.loads(bytes(raw), object_pairs_hook=_unique)
    except KeyError as twice:
        raise InputError(f"{twice.args[0]!r} is there twice", source=source, place="'profiles'") from None
    except RecursionError:
        raise InputError("is nested too deeply", source=source, place="'profiles'") from None
    theirs = profiles if batsim5.is_batsim5(profiles) else {}
    if theirs:
        uses = _read_uses(jobs) if any(map(batsim5.needs_sizes, theirs.values())) else []
        job_sizes = batsim5.sizes_of(uses, theirs)
        several = {name for name, profile in theirs.items() if batsim5.has_several_sizes(name, profile, job_sizes)}
        profiles = {
            name: batsim5.read_profile(name, profile, {} if name in several else job_sizes, source=source)
            for name, profile in theirs.items()
        }
    typed: dict[str, Profile] = {}
    for name, profile in profiles.items():
        check_name(name, "profile", source, f"profile {short_text(name)}")
        typed[name] = check_profile(name, profile, source=source)
    if theirs:
        profiles |= {name: theirs[name] for name in several}
    return profiles, Composition(typed, source=source).sizes, theirs


def _are_mere_delays(raw: msgspec.Raw, profiles: Mapping[str, Mapping[str, Any]]) -> bool:
    """Return whether profiles are delays without a further field and surely right: each needs no look of its own.

    Args:
        raw: the profiles' text.
        profiles: what it says.
    """
    # Where names are all that colons follow, no name stands there twice.
    if not profiles or bytes(raw).count(b":") != 3 * len(profiles):
        return False
    delays: list[Any] = [profile.get("delay") for profile in profiles.values() if profile.get("type") == "delay"]
    if len(delays) != len(profiles) or not set(map(type, delays)) <= {int, float}:
        return False
    return min(delays) > 0 and are_names(list(profiles))


class _Use(msgspec.Struct):
    """What a job says of its size and profile."""

    profile: Any = None
    res: Any = None


def _read_uses(jobs: msgspec.Raw) -> list[tuple[str, int]]:
    """Return profile and size of each job, of those that state them rightly; the others are found later."""
    try:
        listed = msgspec.json.decode(jobs, type=list[_Use])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return []
    return [(use.profile, use.res) for use in listed if isinstance(use.profile, str) and type(use.res) is int]


class JobReader:
    """Turns job objects into jobs, once; strings and requests that repeat are kept once.

    Usual jobs are read block by block. A block in which any job is unusual, or wrong, is read job by job.
    """

    def __init__(
        self, source: str, profiles: Mapping[str, Any], sizes: Mapping[str, frozenset[int]], version5: bool
    ) -> None:
        self._source = source
        self._version5 = version5
        self._profiles = profiles
        self._names = {name: name for name in profiles}
        self._sizes = sizes
        self._decode = msgspec.json.Decoder(dict[str, Any]).decode
        self._seen: set[str] = set()
        self._users: dict[str, str] = {}

    def read(self, items: list[msgspec.Raw], progress: Callable[[int, int], None] | None) -> Iterator[Job]:
        """Yield the jobs in the order of the file."""
        linked: list[Job] = []
        for first in range(0, len(items), BLOCK):
            part = items[first : first + BLOCK]
            block = self._block(part)
            if block is not None:
                yield from block
            else:
                for job in self._one_by_one(first, part):
                    if job.parent or job.request.dependencies:
                        linked.append(job)
                    yield job
            if progress is not None:
                progress(first, len(items))
        if progress is not None:
            progress(len(items), len(items))
        check_links(linked, self._seen, self._source)

    def _block(self, items: list[msgspec.Raw]) -> list[Job] | None:
        """Return jobs with new ids, which from now on are taken, and profiles for any number of hosts; None: others."""
        jobs = None if self._version5 else read_block(items, self._decode, self._names, self._users)
        if jobs is None or not self._sizes.keys().isdisjoint({job.profile for job in jobs}):
            return None
        ids = {job.id for job in jobs}
        if len(ids) < len(jobs) or not self._seen.isdisjoint(ids):
            return None
        self._seen |= ids
        return jobs

    def _one_by_one(self, first: int, items: list[msgspec.Raw]) -> Iterator[Job]:
        for index, raw in enumerate(items, first):
            try:
                fields = self._decode(raw)
            except msgspec.ValidationError as problem:
                raise InputError(_plain(problem), source=self._source, place=f"job number {index + 1}") from None
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
                raise InputError(f"not JSON: {problem}", source=self._source, place=f"job number {index + 1}") from None
            twice = _repeated_in(raw, fields)
            if twice is not None:
                raise InputError(f"{twice!r} is there twice", source=self._source, place=f"job number {index + 1}")
            yield self._job(index, fields)

    def _job(self, index: int, fields: dict[str, Any]) -> Job:
        place = f"job number {index + 1}"
        name = fields.pop("id", None)
        if type(name) is int:
            name = str(name) if abs(name) < 10**18 else "?" * (MAX_NAME + 1)
        if not isinstance(name, str):
            raise self._error(place, f"'id' is {_missing(name)}, expected a string or a whole number")
        check_name(name, "job", self._source, place)
        place = f"job {name!r}"
        if name in self._seen:
            raise self._error(place, "there are two jobs of this id")
        self._seen.add(name)
        if self._version5:
            fields = batsim5.merge_job(fields, source=self._source, place=place)
        try:
            submission = read_moment(fields.pop("subtime", None))
            units = read_units(fields.pop("res", None))
            request, user, parent = read_fields(units, fields)
        except FieldError as problem:
            raise self._error(
                place, f"{problem.field!r} is {_missing(problem.found)}, expected {problem.expected}"
            ) from None
        walltime = math.inf
        if "walltime" in fields:
            asked = fields.pop("walltime")
            if type(asked) is bool or asked != -1:
                walltime = self._seconds(place, "walltime", asked)
                if walltime == 0:
                    raise self._error(place, "'walltime' is 0, expected more than 0, or -1 for none")
        wanted = fields.pop("profile", None)
        profile = self._names.get(wanted) if isinstance(wanted, str) else None
        if profile is None:
            raise self._error(place, f"'profile' is {_missing(wanted)}, expected the name of one of the profiles")
        if profile in self._sizes and self._sizes[profile] != {units}:
            sizes = " and ".join(map(str, sorted(self._sizes[profile])))
            raise self._error(place, f"'res' is {units}, its profile {profile!r} is made for {sizes}")
        return Job(
            id=name,
            request=request,
            submission=submission,
            walltime=walltime,
            profile=profile,
            user=self._users.setdefault(user, user),
            parent=parent,
            # A dictionary that was emptied keeps the room of what was in it.
            extra=fields if fields else {},
        )

    def _error(self, place: str, message: str) -> InputError:
        return InputError(message, source=self._source, place=place)

    def _seconds(self, place: str, field: str, value: Any) -> float:
        if type(value) is int or type(value) is float:
            try:
                seconds = float(value)
            except OverflowError:
                seconds = math.inf
            if 0 <= seconds < math.inf:
                return seconds
        raise self._error(place, f"{field!r} is {_missing(value)}, expected seconds, a number from 0")


def check_links(jobs: Iterable[Job], there: Collection[str], source: str) -> None:
    """Refuse jobs that wait for others that are not there, or for each other.

    Args:
        jobs: those that name others; jobs that name none may be among them.
        there: ids of all jobs of the workload.
        source: the workload's file.

    Raises:
        InputError: a job waits in vain.
    """
    waits_for: dict[str, list[str]] = {}
    for job in jobs:
        depends = [one.job for one in job.request.dependencies]
        for field, names in (("dependencies", depends), ("parent", [job.parent])):
            for name in filter(None, names):
                if "!" not in name and name not in there:
                    message = f"{field!r} names job {name!r}, which is not in the workload"
                    raise InputError(message, source=source, place=f"job {job.id!r}")
                waits_for.setdefault(job.id, []).append(name)
    try:
        graphlib.TopologicalSorter(waits_for).prepare()
    except graphlib.CycleError as problem:
        circle = " -> ".join(problem.args[1][:10])
        message = f"jobs wait for each other: {circle}"
        raise InputError(message, source=source, place=f"job {problem.args[1][0]!r}") from None


def _missing(value: Any) -> str:
    return "missing" if value is None else short_text(value)
