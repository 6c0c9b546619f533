"""Local copies of the scripts that the book's pages load, so that reading needs no network.

`npm pack` fetches one archive a package into a cache outside the repository. Each archive is
checked against the digest below, and a finished folder appears in one step, so that a build never
sees half of it. Without npm the pages load the same scripts from a CDN.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from coursekit._base.errors import CourseError

TIMEOUT = 300.0  # seconds for npm to fetch the archives


class AssetsMissing(CourseError):
    """The scripts are not in the cache and could not be fetched; the message says why."""


@dataclass(frozen=True)
class Package:
    """One npm package at one version, and which of its files go where."""

    name: str
    version: str
    sha512: str  # npm's "integrity", in base64
    files: tuple[tuple[str, str], ...]  # (file or folder in the package, place in the result)


BOOK = (
    Package(
        "mathjax",
        "3.2.2",
        "Bt+SSVU8eBG27zChVewOicYs7Xsdt40qm4+UpHyX7k0/O9NliPc+x77k1/FEsPsjKPZGJvtRZM1vO+geW0OhGw==",
        (
            ("LICENSE", "mathjax/LICENSE"),
            ("es5/tex-mml-chtml.js", "mathjax/tex-mml-chtml.js"),
            ("es5/input/tex/extensions", "mathjax/input/tex/extensions"),
            ("es5/output/chtml/fonts/woff-v2", "mathjax/output/chtml/fonts/woff-v2"),
            # Speech for readers who switch it on in the menu of a formula.
            ("es5/a11y", "mathjax/a11y"),
            ("es5/sre/mathmaps/base.json", "mathjax/sre/mathmaps/base.json"),
            ("es5/sre/mathmaps/en.json", "mathjax/sre/mathmaps/en.json"),
        ),
    ),
)
# For the page tests alone; no page loads it.
CHECKS = (
    Package(
        "axe-core",
        "4.14.1",
        "FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ==",
        (("axe.min.js", "axe.min.js"),),
    ),
)


def cache_folder() -> Path:
    """Return the folder that holds the fetched scripts of every version."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base).expanduser() / "coursekit" / "assets"


def find(packages: tuple[Package, ...] = BOOK) -> Path | None:
    """Return the folder with the files of `packages`, or None where they were never fetched."""
    folder = _place(packages)
    return folder if folder.is_dir() else None


def ensure(packages: tuple[Package, ...] = BOOK) -> Path:
    """Return the folder with the files of `packages`; npm fetches them the first time."""
    folder = _place(packages)
    if folder.is_dir():
        return folder
    npm = shutil.which("npm")
    if npm is None:
        raise AssetsMissing("npm was not found")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".unfinished-", dir=folder.parent) as work:
            archives = _fetch(npm, packages, Path(work))
            for package, archive in zip(packages, archives, strict=True):
                _unpack(package, archive, Path(work) / "files")
            try:
                os.rename(Path(work) / "files", folder)
            except OSError:
                if not folder.is_dir():  # else another build was faster, with the same files
                    raise
    except OSError as error:
        raise AssetsMissing(f"the cache {folder.parent} cannot be used ({error})") from error
    return folder


def _place(packages: tuple[Package, ...]) -> Path:
    described = json.dumps([asdict(package) for package in packages], sort_keys=True)
    return cache_folder() / hashlib.sha256(described.encode()).hexdigest()[:16]


def _fetch(npm: str, packages: tuple[Package, ...], work: Path) -> list[Path]:
    command = [npm, "pack", "--json", "--ignore-scripts", "--pack-destination", str(work)]
    command += ["--fetch-retries=1", "--fetch-retry-mintimeout=500", "--fetch-retry-maxtimeout=500"]
    command += [f"{package.name}@{package.version}" for package in packages]
    try:
        done = subprocess.run(
            command, cwd=work, capture_output=True, encoding="utf-8", timeout=TIMEOUT, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise AssetsMissing(f"npm did not answer within {TIMEOUT:.0f} s") from error
    try:
        names = {one["name"]: one["filename"] for one in json.loads(done.stdout)}
        # Some versions of npm print "@scope/name-1.0.tgz" where the file is "scope-name-1.0.tgz".
        tidy = {name: file.lstrip("@").replace("/", "-") for name, file in names.items()}
        return [work / tidy[package.name] for package in packages]
    except (ValueError, KeyError, TypeError):
        errors = [line for line in done.stderr.splitlines() if line.lower().startswith("npm err")]
        reason = errors[0].split(maxsplit=2)[-1] if errors else f"exit code {done.returncode}"
        raise AssetsMissing(f"npm could not fetch the scripts ({reason})") from None


def _unpack(package: Package, archive: Path, folder: Path) -> None:
    digest = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    if digest != package.sha512:
        raise AssetsMissing(
            f"npm's archive of {package.name} {package.version} has the SHA-512 {digest[:12]}…, "
            f"but {package.sha512[:12]}… was expected"
        )
    with tarfile.open(archive) as content:
        members = {member.name: member for member in content if member.isfile()}
        for inside, place in package.files:
            prefix = f"package/{inside}"
            wanted = [n for n in members if n == prefix or n.startswith(f"{prefix}/")]
            if not wanted:
                raise AssetsMissing(f"{package.name} {package.version} holds no {inside}")
            for name in wanted:
                target = folder / (place + name.removeprefix(prefix))
                target.parent.mkdir(parents=True, exist_ok=True)
                packed = content.extractfile(members[name])
                assert packed is not None  # as it is for every plain file
                target.write_bytes(packed.read())
