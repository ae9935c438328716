"""Options of the commands that submit jobs to Slurm (sbatch, srun, salloc), as SubmitLine of its accounts has them.

References:
    Slurm documentation, sbatch(1), https://slurm.schedmd.com/sbatch.html, and srun(1) and salloc(1) there.
"""

from __future__ import annotations

import re

#: Options of one letter with a value -> their long names. Those without a value are `_FLAGS`, and `_ATTACHED` have one
#: only in the same word.
_SHORT = {
    **{"A": "account", "a": "array", "b": "begin", "B": "extra-node-info", "C": "constraint", "c": "cpus-per-task"},
    **{"D": "chdir", "d": "dependency", "e": "error", "F": "nodefile", "G": "gpus", "i": "input", "J": "job-name"},
    **{"L": "licenses", "M": "clusters", "m": "distribution", "N": "nodes", "n": "ntasks", "o": "output"},
    **{"p": "partition", "q": "qos", "r": "relative", "S": "core-spec", "T": "threads", "t": "time"},
    **{"w": "nodelist", "x": "exclude"},
}
_FLAGS = frozenset("EHhlOQsuVvWXZ")
_ATTACHED = frozenset("IKk")
#: Long options that stand without a value, unless it follows a `=`.
_LONG_FLAGS = frozenset(
    {"contiguous", "exclusive", "get-user-env", "help", "hold", "ignore-pbs", "immediate", "nice", "no-kill"}
    | {"no-requeue", "overcommit", "oversubscribe", "parsable", "propagate", "quiet", "reboot", "requeue", "share"}
    | {"spread-job", "test-only", "usage", "use-min-nodes", "verbose", "version", "wait", "x11"}
    # Of srun and salloc.
    | {"bell", "disable-status", "exact", "kill-command", "kill-on-bad-exit", "label", "multi-prog", "no-allocate"}
    | {"no-bell", "no-shell", "overlap", "preserve-env", "pty", "quit-on-interrupt", "unbuffered", "whole"}
)
#: What makes it worth to take a line apart, so that millions of others are left alone.
_TELLING = re.compile(
    r"\s(?:--(?:nice|nodelist|exclude|gres|gpus|licenses|contiguous|begin)\b|-[A-Za-z]*?[wxGLb]"
    r"|(?:-[A-Za-z]*?p|--partition)[=\s]*\S*,)"
)


def submit_options(line: str) -> dict[str, str]:
    """Return the options of a submit line by their long names, the last value of each; empty where none matters here.

    What stands behind the name of the script is no option, nor is what stands in ``--wrap``. Quotes are lost in
    accounts, so that a value with blanks ends at the first one.
    """
    line = line.partition(" --wrap")[0]
    if not _TELLING.search(line):
        return {}
    command, *rest = line.split()
    words = iter(rest)
    waits = command.endswith("srun")
    found: dict[str, str] = {}
    for word in words:
        if word == "--":
            break
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            takes_none = name in _LONG_FLAGS and not (waits and name == "wait")
            found[name] = value if equals or takes_none else next(words, "")
        elif word.startswith("-") and len(word) > 1:
            # Letters without a value may stand before one with a value, as in -Hw n1.
            letters = word[1:].lstrip("".join(_FLAGS - {"W"} if waits else _FLAGS))
            letter, value = letters[:1], letters[1:].removeprefix("=")
            if letter in _SHORT or letter == "W":
                found[_SHORT.get(letter, "wait")] = value or next(words, "")
            elif letter and letter not in _ATTACHED:
                break
        else:
            break
    return found
