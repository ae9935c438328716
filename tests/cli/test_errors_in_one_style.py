"""What is wrong with a command line is said in one line, as other errors are."""

import pytest

from command_line import call


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("generate", "tiles", "-o", "w.json"), "Missing option '--kernel'. Choose from: cholesky, lu, qr."),
        (("generate", "esp", "-o", "w.json"), "Missing option '--seed'."),
        (("compare", "--seed", "?"), "option --seed:"),
    ],
)
def test_one_line(words: tuple[str, ...], said: str) -> None:
    answer = call(*words)
    assert (answer.status, answer.out) == (2, "")
    (line,) = answer.err.splitlines()
    assert line.startswith(f"batdispatch: error: {said}")
    assert line.endswith("--help")
