"""A browser whose pages can reach this machine only."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit


@dataclass
class Browser:
    """Opens pages that can reach this machine only, and remembers what they tried."""

    chromium: Any
    pictures: Path | None
    outside: list[str] = field(default_factory=list)
    """Requests that would have left this machine."""
    complaints: list[str] = field(default_factory=list)
    """Errors on the pages' consoles."""

    def page(self, width: int = 1280, height: int = 900, scheme: str = "light") -> Any:
        """Open an empty page in a profile of its own."""
        context = self.chromium.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
        context.set_default_timeout(60_000)
        context.route("**/*", self._route)
        page = context.new_page()
        page.on("console", lambda said: self.complaints.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        return page

    def _route(self, route: Any) -> None:
        address = urlsplit(route.request.url)
        if address.scheme in ("file", "data", "blob") or address.hostname == "127.0.0.1":
            route.continue_()
        else:
            self.outside.append(route.request.url)
            route.abort()

    def picture(self, page: Any, name: str, **how: Any) -> None:
        """Save a picture, if pictures are asked for."""
        if self.pictures is not None:
            self.pictures.mkdir(parents=True, exist_ok=True)
            page.screenshot(path=self.pictures / f"{name}.png", **how)
