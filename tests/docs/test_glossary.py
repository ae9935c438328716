"""Words are linked where they first occur on a page, in running text only."""

import re
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from manual import hook_of

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def hook() -> ModuleType:
    """The hook of the build."""
    return hook_of("glossary")


def linked(hook: ModuleType, content: str, *names: str) -> str:
    words = [hook.Word(name, hook.anchor(name), f"What {name} means.") for name in names]
    text: str = hook.link(content, words, "words.html")
    return re.sub(r'<a class="word" href="words.html#(\S+)" title="[^"]*">(.*?)</a>', r"{\1|\2}", text)


def test_the_first_occurrence_in_running_text_is_linked(hook: ModuleType) -> None:
    assert linked(hook, "<p>Slowdowns: a slowdown.</p>", "slowdown") == "<p>{word-slowdown|Slowdowns}: a slowdown.</p>"


@pytest.mark.parametrize("tag", ["a", "code", "pre", "h1", "h3", "th", "dt"])
def test_code_headings_and_links_stay(hook: ModuleType, tag: str) -> None:
    content = f"<{tag}>a <b>queue</b></{tag}><p>the queue</p>"
    assert linked(hook, content, "queue") == f"<{tag}>a <b>queue</b></{tag}><p>the {{word-queue|queue}}</p>"


def test_attributes_and_parts_of_words_stay(hook: ModuleType) -> None:
    content = '<p title="a queue">queued, queue-like, pre-queue</p>'
    assert linked(hook, content, "queue") == content


def test_the_longer_word_is_meant(hook: ModuleType) -> None:
    found = linked(hook, "<p>bounded slowdown, slowdown</p>", "slowdown", "bounded slowdown")
    assert found == "<p>{word-bounded-slowdown|bounded slowdown}, {word-slowdown|slowdown}</p>"


def test_every_word_of_the_page_has_its_anchor_and_a_meaning(hook: ModuleType) -> None:
    text = (ROOT / "docs/words.md").read_text()
    words = list(hook.read_words(text))
    assert len(words) > 60
    entries = re.findall(r"^(\S.*)\n:   ", text, re.MULTILINE)
    assert [word.word for word in words] == [word for entry in entries for word in entry.split(", ")]
    content = hook.with_anchors("".join(f"<dt>{entry}</dt>" for entry in entries))
    assert all(f'id="{word.anchor}"' in content for word in words)
    assert len({word.anchor for word in words}) == len(words)
    meanings = {word.word: word.meaning for word in words}
    assert meanings["backfilling"] == "Starting a job ahead of others that do not fit yet."
    assert set(meanings) >= hook.EVERYDAY


def test_a_page_is_linked_from_where_it_lies(hook: ModuleType) -> None:
    page = SimpleNamespace(file=SimpleNamespace(src_uri="dispatchers/easy.md"), url="dispatchers/easy.html")
    found = hook.on_page_content("<p>backfilling</p>", page, {"docs_dir": str(ROOT / "docs")})
    assert 'href="../words.html#word-backfilling"' in found
