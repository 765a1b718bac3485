"""Names in text that plotly draws: hover texts and labels. They come from untrusted files."""

from __future__ import annotations

import html

from lowtide_client.wording import shown_name


def plot_name(name: str, max_characters: int) -> str:
    """A name for text that plotly draws.

    Plotly reads tags and `&lt;`, `&gt;`, `&amp;` in such text, and no `&quot;`: exactly these three
    are escaped.
    """
    return html.escape(shown_name(name, max_characters), quote=False)
