"""The scripts from npm: fetched once, checked, whole or not at all."""

from __future__ import annotations

import base64
import hashlib
import io
import stat
import sys
import tarfile

import pytest

from coursetools.book import assets

FILES = {"package/a.js": b"let a;", "package/fonts/b.woff": b"font", "package/unused.js": b"no"}

# Stands in for npm: copies the archive, or fails as npm does.
NPM = """#!{python}
import json, os, pathlib, shutil, sys
count = pathlib.Path({count!r})
count.write_text(count.read_text() + "x")
if os.environ.get("NPM_FAILS"):
    sys.exit("npm error code ENOTFOUND\\nnpm error network")
place = sys.argv[sys.argv.index("--pack-destination") + 1]
shutil.copy({archive!r}, place + "/tiny-1.0.0.tgz")
print(json.dumps([{{"name": "tiny", "filename": "tiny-1.0.0.tgz"}}]))
"""


@pytest.fixture
def npm(tmp_path, monkeypatch):
    """A tiny package, an npm that has it, and an empty cache; returns the package."""
    archive = tmp_path / "archive.tgz"
    with tarfile.open(archive, "w:gz") as file:
        for name, content in FILES.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            file.addfile(member, io.BytesIO(content))
    (tmp_path / "count").write_text("")
    program = tmp_path / "bin" / "npm"
    program.parent.mkdir()
    program.write_text(
        NPM.format(python=sys.executable, count=str(tmp_path / "count"), archive=str(archive))
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(program.parent))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    digest = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    places = (("a.js", "tiny/a.js"), ("fonts", "tiny/fonts"))
    return assets.Package("tiny", "1.0.0", digest, places)


def left_in_cache() -> list[str]:
    return [path.name for path in assets.cache_folder().glob("*")]


def test_only_the_needed_files_come(npm):
    folder = assets.ensure((npm,))
    found = {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*.*")}
    assert found == {"tiny/a.js": b"let a;", "tiny/fonts/b.woff": b"font"}
    assert left_in_cache() == [folder.name]


def test_npm_is_asked_once(npm, tmp_path):
    assert assets.find((npm,)) is None
    first = assets.ensure((npm,))
    assert assets.ensure((npm,)) == assets.find((npm,)) == first
    assert (tmp_path / "count").read_text() == "x"


def test_the_cache_serves_without_npm(npm, monkeypatch):
    folder = assets.ensure((npm,))
    monkeypatch.setenv("PATH", "")
    assert assets.ensure((npm,)) == folder


def test_another_version_has_another_folder(npm):
    other = assets.Package("tiny", "1.0.1", npm.sha512, npm.files)
    assert assets.ensure((npm,)) != assets.ensure((other,))


def test_without_npm_the_reason_is_given(npm, monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(assets.AssetsMissing, match=r"^npm was not found$"):
        assets.ensure((npm,))


def test_what_npm_says_is_passed_on(npm, monkeypatch):
    monkeypatch.setenv("NPM_FAILS", "1")
    with pytest.raises(assets.AssetsMissing, match=r"could not fetch the scripts .code ENOTFOUND"):
        assets.ensure((npm,))
    assert left_in_cache() == []


def test_another_archive_than_expected_is_refused(npm):
    wrong = assets.Package("tiny", "1.0.0", "A" * 88, npm.files)
    with pytest.raises(assets.AssetsMissing, match=r"has the SHA-512 .* but AAAAAAAAAAAA… was"):
        assets.ensure((wrong,))
    assert left_in_cache() == []


def test_a_file_that_the_package_lacks_is_named(npm):
    wrong = assets.Package("tiny", "1.0.0", npm.sha512, (("c.js", "c.js"),))
    with pytest.raises(assets.AssetsMissing, match=r"tiny 1\.0\.0 holds no c\.js"):
        assets.ensure((wrong,))
    assert left_in_cache() == []


def test_an_interrupted_fetch_leaves_nothing(npm, monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(assets, "_unpack", interrupted)
    with pytest.raises(KeyboardInterrupt):
        assets.ensure((npm,))
    assert left_in_cache() == []


def test_a_cache_that_cannot_be_used_is_named(npm, tmp_path):
    (tmp_path / "cache").write_text("a file stands where the folder should be")
    with pytest.raises(assets.AssetsMissing, match="cannot be used"):
        assets.ensure((npm,))


def test_versions_and_digests_are_exact():
    for package in (*assets.BOOK, *assets.CHECKS):
        assert len(base64.b64decode(package.sha512)) == 64
        assert all(part.isdigit() for part in package.version.split("."))
