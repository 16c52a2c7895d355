"""What both editions ask of a finished site: every link inside it leads somewhere, and nothing is fetched."""

import posixpath
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_FETCHED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "audio": "src"}
_STYLES = {"stylesheet", "preload", "icon", "modulepreload", "prefetch"}


@dataclass
class _Page(HTMLParser):
    """The links, the fetched files and the anchors of one page."""

    links: list[str] = field(default_factory=list)
    fetched: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag in _FETCHED and _FETCHED[tag] in values:
            self.fetched.append(values[_FETCHED[tag]])
        elif tag == "link" and set(values.get("rel", "").split()) & _STYLES:
            self.fetched.append(values.get("href", ""))
        elif tag == "a" and "href" in values:
            self.links.append(values["href"])


def faults(site: Path) -> list[str]:
    """Return each link that leads nowhere, and each file that would be fetched from elsewhere, with its page."""
    pages = {}
    for path in sorted(path for path in site.rglob("*.html") if "_static" not in path.parts):
        page = _Page()
        page.feed(path.read_text(encoding="utf-8", errors="replace"))
        pages[path.relative_to(site).as_posix()] = page
    found = []
    for name, page in pages.items():
        for url in page.fetched:
            if urlsplit(url).scheme in ("http", "https") or url.startswith("//"):
                found.append(f"{name} fetches {url}")
        for url in [*page.links, *page.fetched]:
            parts = urlsplit(url)
            if parts.scheme or parts.netloc:
                continue
            target = posixpath.normpath(posixpath.join(posixpath.dirname(name), unquote(parts.path)))
            target = name if not parts.path else target
            if not (site / target).exists():
                found.append(f"{name} links to {url}, which is not there")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                found.append(f"{name} links to {url}; there is no such place on that page")
    return list(dict.fromkeys(found))
