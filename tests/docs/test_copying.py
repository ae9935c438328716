"""What a copy button copies: commands, without prompts and without what they print."""

from pathlib import Path

import markdown
import pytest

from browsing import needs_browser, opened
from manual import hook_of

PAGE = """```console
$ make demo
printed
$ batdispatch compare \\
    --out 'a & b'
more
```

```python
x = 1
```
"""


@pytest.fixture(scope="module")
def content() -> str:
    """A page as the build makes it."""
    made = markdown.markdown(PAGE, extensions=["pymdownx.highlight", "pymdownx.superfences"])
    text: str = hook_of("copying").on_page_content(made)
    return text


def test_only_blocks_with_prompts_state_what_is_copied(content: str) -> None:
    assert content.count("data-copy=") == 1
    assert 'data-copy="make demo&#10;batdispatch compare \\&#10;    --out &#x27;a &amp; b&#x27;"' in content


@needs_browser
def test_the_themes_button_finds_the_commands(content: str, tmp_path: Path) -> None:
    with opened(f"<!doctype html><title>Commands</title>{content}", tmp_path) as page:
        # As the theme's script asks.
        copied = page.evaluate("""document.querySelector("code").closest("[data-copy]").getAttribute("data-copy")""")
        assert copied == "make demo\nbatdispatch compare \\\n    --out 'a & b'"
        assert page.evaluate("""document.querySelectorAll("code")[1].closest("[data-copy]")""") is None
