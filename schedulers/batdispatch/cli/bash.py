"""Tab completion in Bash, at every depth: Bash takes ``=`` and ``:`` for ends of words, our options do not."""

from __future__ import annotations

import os
from typing import Any

from click.shell_completion import BashComplete, CompletionItem, split_arg_string

_SOURCE = r"""
%(complete_func)s() {
    local IFS=$'\n' completion type value
    COMPREPLY=()
    while read -r completion; do
        type=${completion%%%%,*} value=${completion#*,}
        case $type in
            dir) compopt -o dirnames ;;
            file) compopt -o default ;;
            plain) COMPREPLY+=("$value") ;;
            begun) COMPREPLY+=("$value"); compopt -o nospace ;;
        esac
    done < <(COMP_LINE="$COMP_LINE" COMP_POINT=$COMP_POINT COMP_WORD="${COMP_WORDS[COMP_CWORD]}" \
        %(complete_var)s=bash_complete "$1")
    return 0
}

complete -o nosort -F %(complete_func)s %(prog_name)s
"""


class Bash(BashComplete):
    """Completes the whole word of the shell, and answers with the part of it that Bash takes for the word."""

    source_template = _SOURCE

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words before the cursor, and the one that is begun, as the shell will split the line."""
        line = os.environ["COMP_LINE"].encode()[: int(os.environ["COMP_POINT"])].decode(errors="ignore")
        words = split_arg_string(line)[1:]
        begun = "" if not words or line[-1:].isspace() else words.pop()
        here = os.environ["COMP_WORD"].lstrip("'\"")
        self._before = begun.removesuffix("" if here in ("=", ":") else here)
        return words, begun

    def format_completion(self, item: CompletionItem[Any]) -> str:
        """Return a line for the shell's function: the type, and what Bash puts in the place of its word."""
        value = str(item.value)
        # After what goes on, in brackets or behind an equals sign, there is no space.
        begun = item.type == "plain" and (value.endswith("=") or value.count("[") > value.count("]"))
        return f"{'begun' if begun else item.type},{value.removeprefix(self._before)}"
