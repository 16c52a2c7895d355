"""What the figures were measured on."""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path


def machine() -> dict[str, object]:
    """Return processor, cores, system, Python and how busy the machine was before."""
    model = (
        re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
        if os.path.exists("/proc/cpuinfo")
        else None
    )
    load = os.getloadavg()
    return {
        "processor": model.group(1) if model else platform.processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "load_before": [round(each, 2) for each in load],
    }
