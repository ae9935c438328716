"""Options of the commands that submit jobs to Slurm, as SubmitLine of its accounts has them.

References:
    Slurm documentation, sbatch(1), https://slurm.schedmd.com/sbatch.html.
"""

from __future__ import annotations

import re

#: Options of one letter with a value -> their long names. Those without a value are `_FLAGS`.
_SHORT = {
    **{"A": "account", "a": "array", "b": "begin", "B": "extra-node-info", "C": "constraint", "c": "cpus-per-task"},
    **{"D": "chdir", "d": "dependency", "e": "error", "F": "nodefile", "G": "gpus", "i": "input", "J": "job-name"},
    **{"L": "licenses", "M": "clusters", "m": "distribution", "N": "nodes", "n": "ntasks", "o": "output"},
    **{"p": "partition", "q": "qos", "S": "core-spec", "t": "time", "w": "nodelist", "x": "exclude"},
}
_FLAGS = frozenset("EHhIkOQsuVvW")
#: Long options that stand without a value, unless it follows a `=`.
_LONG_FLAGS = frozenset(
    {"contiguous", "exclusive", "export-file", "get-user-env", "help", "hold", "ignore-pbs", "nice", "no-kill"}
    | {"no-requeue", "overcommit", "oversubscribe", "parsable", "propagate", "quiet", "reboot", "requeue", "wait"}
    | {"spread-job", "test-only", "usage", "use-min-nodes", "verbose", "version", "x11"}
)
#: What makes it worth to take a line apart, so that millions of others are left alone.
_TELLING = re.compile(
    r"\s(?:--(?:nice|nodelist|exclude|gres|gpus|licenses|contiguous|begin)\b|-[wxGLb]|(?:-p|--partition)[=\s]*\S*,)"
)


def submit_options(line: str) -> dict[str, str]:
    """Return the options of a submit line by their long names, the last value of each; empty where none matters here.

    What stands behind the name of the script is no option, nor is what stands in ``--wrap``. Quotes are lost in
    accounts, so that a value with blanks ends at the first one.
    """
    line = line.partition(" --wrap")[0]
    if not _TELLING.search(line):
        return {}
    words = iter(line.split()[1:])
    found: dict[str, str] = {}
    for word in words:
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            found[name] = value if equals or name in _LONG_FLAGS else next(words, "")
        elif word.startswith("-") and len(word) > 1:
            letter, value = word[1], word[2:].removeprefix("=")
            if letter in _SHORT:
                found[_SHORT[letter]] = value or next(words, "")
            elif letter not in _FLAGS:
                break
        else:
            break
    return found
