"""What the tests of a dispatcher or a part import: small simulations, and cases that every dispatcher must pass.

```python
import pytest
from batdispatch import Machine
from batdispatch.testing import CASES, Case, Task, check_dispatcher, simulate


@pytest.mark.parametrize("case", CASES, ids=str)
def test_it_conforms(case: Case, tmp_path) -> None:
    check_dispatcher("my_package.mine:Mine[patience=60]", case, tmp_path)


def test_the_patient_job_goes_first() -> None:
    tasks = [Task("long", 0.0, 2, 50.0), Task("late", 1.0, 2, 5.0)]
    assert simulate(Machine.flat(2), tasks, "my_package.mine:Mine").starts() == {"long": 0.0, "late": 50.0}
```

What fails is an AssertionError that says what was found and what was expected; nothing here needs pytest.
"""

from batdispatch.testing.cases import CASES, Case
from batdispatch.testing.conformance import check_dispatcher, check_hash_seeds, check_part
from batdispatch.testing.simulation import Result, Row, Task, audit, simulate

__all__ = [
    "CASES",
    "Case",
    "Result",
    "Row",
    "Task",
    "audit",
    "check_dispatcher",
    "check_hash_seeds",
    "check_part",
    "simulate",
]
