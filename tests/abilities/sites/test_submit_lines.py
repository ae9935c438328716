"""What the options of submit lines ask for, as sbatch(1), srun(1) and salloc(1) say; lines as accounts have them."""

from pathlib import Path
from typing import Any

import pytest

from batdispatch.abilities.sites.doors.submit_lines import submit_options
from batdispatch.inputs.log_options import LogOptions
from batdispatch.inputs.workloads.importers import ImportResult, read_log

HEAD = "JobID|User|Partition|Submit|Start|ElapsedRaw|TimelimitRaw|State|NNodes|ReqTRES|AllocTRES|NodeList|SubmitLine"


@pytest.mark.parametrize(
    ("line", "options"),
    [
        ("sbatch -w n1 a.sh", {"nodelist": "n1"}),
        ("sbatch -wn1 a.sh", {"nodelist": "n1"}),
        ("sbatch -w=n1 a.sh", {"nodelist": "n1"}),
        ("sbatch --nodelist n[1-2,4] a.sh", {"nodelist": "n[1-2,4]"}),
        ("sbatch --nodelist=n1,n2 a.sh", {"nodelist": "n1,n2"}),
        ("sbatch -x n3 -N2 a.sh", {"exclude": "n3", "nodes": "2"}),
        ("sbatch -xn3 a.sh", {"exclude": "n3"}),
        ("sbatch --exclude=n3 a.sh", {"exclude": "n3"}),
        ("sbatch --gres=gpu:a100:2 a.sh", {"gres": "gpu:a100:2"}),
        ("sbatch --gres gpu:2 a.sh", {"gres": "gpu:2"}),
        ("sbatch -G 4 a.sh", {"gpus": "4"}),
        ("sbatch -Ga100:4 a.sh", {"gpus": "a100:4"}),
        ("sbatch --gpus-per-node=2 a.sh", {"gpus-per-node": "2"}),
        ("sbatch -L matlab:2,ansys a.sh", {"licenses": "matlab:2,ansys"}),
        ("sbatch --licenses=matlab a.sh", {"licenses": "matlab"}),
        ("sbatch --nice a.sh", {"nice": ""}),
        ("sbatch --nice=-5 a.sh", {"nice": "-5"}),
        # A number behind a blank is the script.
        ("sbatch --nice 5 -w n1", {"nice": ""}),
        ("sbatch --contiguous -N 2 a.sh", {"contiguous": "", "nodes": "2"}),
        ("sbatch --begin=now+1hour a.sh", {"begin": "now+1hour"}),
        ("sbatch -b 16:00 a.sh", {"begin": "16:00"}),
        ("sbatch -p a,b a.sh", {"partition": "a,b"}),
        ("sbatch -pa,b a.sh", {"partition": "a,b"}),
        ("sbatch --partition=a,b a.sh", {"partition": "a,b"}),
        ("sbatch --partition a,b a.sh", {"partition": "a,b"}),
        # The last one counts.
        ("sbatch -w n1 -w n2 a.sh", {"nodelist": "n2"}),
        # Lost quotes: a value ends at the first blank, and what follows it is taken for the script.
        ("sbatch -w n1 --comment=two words -x n2 a.sh", {"nodelist": "n1", "comment": "two"}),
        # Behind the script, options are the script's; so are those behind --, and those in --wrap.
        ("sbatch -n 2 a.sh -w n1", {"ntasks": "2"}),
        ("salloc -w n1 -- bash -x n2", {"nodelist": "n1"}),
        ("srun -w n1 -- -x n2", {"nodelist": "n1"}),
        ("sbatch -w n1 - -x n2", {"nodelist": "n1"}),
        ("sbatch -w n1 --wrap=run -x n2", {"nodelist": "n1"}),
        ("sbatch --wrap run -w n1", {}),
        # Options without a value take none from the next word.
        ("sbatch -H -w n1 a.sh", {"nodelist": "n1"}),
        ("sbatch -Hw n1 a.sh", {"nodelist": "n1"}),
        ("sbatch -k -w n1 a.sh", {"nodelist": "n1"}),
        ("sbatch -I60 -w n1 a.sh", {"nodelist": "n1"}),
        ("sbatch --exclusive -w n1 a.sh", {"exclusive": "", "nodelist": "n1"}),
        ("sbatch --exclusive=user -w n1 a.sh", {"exclusive": "user", "nodelist": "n1"}),
        ("sbatch --export-file vars -w n1 a.sh", {"export-file": "vars", "nodelist": "n1"}),
        ("sbatch --wait -W -w n1 a.sh", {"wait": "", "nodelist": "n1"}),
        ("srun --wait 5 -w n1 hostname", {"wait": "5", "nodelist": "n1"}),
        ("/usr/bin/srun -W 5 -w n1 hostname", {"wait": "5", "nodelist": "n1"}),
        ("srun --pty -w n1 bash -x", {"pty": "", "nodelist": "n1"}),
        ("srun -l -u --exact --overlap -w n1 hostname", {"exact": "", "overlap": "", "nodelist": "n1"}),
        ("salloc --no-shell -w n1", {"no-shell": "", "nodelist": "n1"}),
        # Nothing that matters here, and a letter that no command has.
        ("sbatch -N 2 -t 60 -J x a.sh", {}),
        ("sbatch -p batch --job-name=a,b a.sh", {}),
        ("sbatch -w n1 -9 -x n2 a.sh", {"nodelist": "n1"}),
        ("sbatch a-w n1", {}),
        ("sbatch -w", {"nodelist": ""}),
        ("", {}),
    ],
)
def test_options_of_submit_lines(line: str, options: dict[str, str]) -> None:
    assert submit_options(line) == options


@pytest.mark.parametrize(
    "names",
    [
        "contiguous exclusive get-user-env help hold ignore-pbs immediate nice no-kill no-requeue overcommit",
        "oversubscribe parsable propagate quiet reboot requeue share spread-job test-only usage use-min-nodes verbose",
        "version wait x11 bell disable-status exact kill-command kill-on-bad-exit label multi-prog no-allocate no-bell",
        "no-shell overlap preserve-env pty quit-on-interrupt unbuffered whole",
    ],
)
def test_long_options_that_take_no_value_from_the_next_word(names: str) -> None:
    for name in names.split():
        assert submit_options(f"salloc --{name} -w n1 a.sh") == {name: "", "nodelist": "n1"}


def read(folder: Path, line: str, *, tres: str = "cpu=4,mem=4G,node=2", nodes: str = "n[1-2]") -> ImportResult:
    """Return an account of a job with a submit line, and of one that shows that n3 exists."""
    begin, path = 1_772_438_400, folder / "account.txt"
    rows = [(1, 2, tres, nodes, line), (2, 1, "cpu=1,mem=1G,node=1", "n3", "sbatch b.sh")]
    told = [
        f"{number}|ada|batch|{begin}|{begin}|60|10|COMPLETED|{count}|{amounts}|{amounts}|{names}|{said}"
        for number, count, amounts, names, said in rows
    ]
    path.write_text("\n".join([HEAD, *told]) + "\n")
    return read_log(path, options=LogOptions())


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        ("sbatch --nice a.sh", {"nice": 100}),
        ("sbatch --nice=0 a.sh", {"nice": None}),
        ("sbatch --nice=-20 a.sh", {"nice": -20}),
        ("sbatch --nice=high a.sh", {"nice": None}),
        ("sbatch -w n[1-2] a.sh", {"node_list": ["n1", "n2"], "exclude_nodes": None}),
        ("sbatch -x n3 a.sh", {"exclude_nodes": ["n3"], "node_list": None}),
        # Nodes that no job ran on are not known, and one node named of two leaves the other open.
        ("sbatch -x n3,n9 a.sh", {"exclude_nodes": ["n3"]}),
        ("sbatch -w n1 a.sh", {"node_list": None}),
        ("sbatch -w ./hosts.txt a.sh", {"node_list": None}),
        ("sbatch -w n[1- a.sh", {"node_list": None}),
        ("sbatch --contiguous a.sh", {"contiguous": True}),
        ("sbatch -L matlab:2,ansys a.sh", {"licences": {"matlab": 2, "ansys": 1}}),
        ("sbatch -L matlab:x a.sh", {"licences": None}),
        # Of each of its two nodes, or of all of them.
        ("sbatch --gres=gpu:2 a.sh", {"per_node": {"gpu": 2}}),
        ("sbatch --gpus-per-node=a100:2 a.sh", {"per_node": {"gpu": 2, "gpu_a100": 2}}),
        ("sbatch -G 2 a.sh", {"per_node": {"gpu": 1}}),
        ("sbatch --gres=none a.sh", {"per_node": None}),
        ("sbatch --gres=::: a.sh", {"per_node": None}),
    ],
)
def test_jobs_ask_for_what_their_submit_lines_say(tmp_path: Path, line: str, fields: dict[str, Any]) -> None:
    first, second = read(tmp_path, line).workload.jobs
    assert {name: first.extra.get(name) for name in fields} == fields
    assert not {"nice", "node_list", "exclude_nodes", "contiguous", "licences", "per_node"} & second.extra.keys()


@pytest.mark.parametrize(
    ("line", "remark"),
    [
        ("sbatch --begin=now+1hour a.sh", "have --begin in their submit line: see --submission"),
        ("sbatch -p batch,long a.sh", "name several partitions (--partition)"),
        ("sbatch --gres=::: a.sh", "have --gres in their submit line that cannot be read: without these"),
        ("sbatch -w n1 a.sh", "name some of their nodes only (--nodelist): placed anywhere"),
    ],
)
def test_options_that_are_not_heeded_are_named(tmp_path: Path, line: str, remark: str) -> None:
    assert read(tmp_path, line).report.changed[remark].count == 1


def test_columns_go_before_submit_lines(tmp_path: Path) -> None:
    tres = "cpu=4,mem=4G,node=2,gres/gpu=4,license/matlab=1"
    job = read(tmp_path, "sbatch --gres=gpu:1 -L matlab:3 a.sh", tres=tres).workload.jobs[0]
    assert (job.extra["per_node"], job.extra["licences"]) == ({"gpu": 2}, {"matlab": 1})


def test_submit_lines_name_several_partitions(tmp_path: Path) -> None:
    result = read(tmp_path, "sbatch -p long,batch a.sh")
    assert result.workload.jobs[0].extra["partitions"] == ["long", "batch"]
    assert result.workload.jobs[0].extra["partition"] == "batch"
    # It was moved to another partition while it waited.
    assert "partitions" not in read(tmp_path, "sbatch -p long,short a.sh").workload.jobs[0].extra
