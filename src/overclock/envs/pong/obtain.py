"""PufferLib's Pong, fetched when it is needed: two files of the pinned source archive, kept in the user's cache folder.

pip itself cannot fetch this archive alone (it would run its setup program, which downloads a drawing library), so the
index that pip is configured with is asked for the file's link. Nothing is unpacked but the two files, and every byte is
checked against a hash written down here.
"""

import base64
import hashlib
import html.parser
import http.client
import io
import os
import ssl
import subprocess
import sys
import tarfile
import urllib.parse
import urllib.request
from collections.abc import Mapping
from pathlib import Path

from overclock.errors import MissingError
from overclock.files import write_whole

PROJECT, VERSION = "pufferlib", "3.0.0"
ARCHIVE = f"{PROJECT}-{VERSION}.tar.gz"
ARCHIVE_SHA256 = "7df3a3e3f5f894d78d2a1f5374097890aec01473183e748abefe4f3faa10eaa9"
FOLDER = f"{PROJECT}-{VERSION}/pufferlib/ocean/pong"  # inside the archive
FILES = {
    "pong.h": "47c08b8ed9f90c92bb6569cdc0be6999f1586f5abe11cf7777a6b9861a74f669",
    "pong.py": "2f9b159b3b876816c51218ae24177582a8411a9b6ddff9ea3b9d169bc47ffb07",
}
VARIABLE = "OVERCLOCK_PUFFERLIB"  # a copy of the archive, for machines without a network
PIP_SECTIONS = ("install", "global")
TIMEOUT_SECONDS = 60.0


def cache_folder() -> Path:
    """Where the files, and what is compiled from them, are kept."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "overclock" / f"{PROJECT}-{VERSION}"


def source_folder() -> Path:
    """The folder with `pong.h` and `pong.py`; fetched once."""
    folder = cache_folder()
    if not all(_is_kept(folder / name, sha256) for name, sha256 in FILES.items()):
        for name, content in unpacked(_archive()).items():
            write_whole(folder / name, content)
    return folder


def unpacked(archive: bytes) -> Mapping[str, bytes]:
    """The two files of the archive, if it is the pinned one."""
    if hashlib.sha256(archive).hexdigest() != ARCHIVE_SHA256:
        raise MissingError(f"{ARCHIVE} is not the pinned one (its SHA-256 differs); {_remedy()}")
    found = {}
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        for name, sha256 in FILES.items():
            file = files.extractfile(f"{FOLDER}/{name}")
            assert file is not None
            found[name] = file.read()
            assert hashlib.sha256(found[name]).hexdigest() == sha256, name
    return found


def _is_kept(path: Path, sha256: str) -> bool:
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == sha256


def _archive() -> bytes:
    """The archive: a copy that the user names, or from the index."""
    given = os.environ.get(VARIABLE)
    try:
        if given:
            return Path(given).expanduser().read_bytes()
        setting = pip_settings()
        index = (setting.get("index-url") or _usual_index()).rstrip("/") + f"/{PROJECT}/"
        page = _read(index, index, setting.get("cert"))
        return _read(link_in(page.decode(errors="replace"), index), index, setting.get("cert"))
    except (OSError, http.client.HTTPException, ValueError, LookupError) as error:  # URLError is an OSError
        where = f"the file that {VARIABLE} names" if given else "the package index that pip is configured with"
        raise MissingError(
            f"Pong's reference is compiled from {ARCHIVE}, which could not be read from {where} ({error}); {_remedy()}"
        ) from error


def _remedy() -> str:
    return f"connect to the network, or download {ARCHIVE} from PyPI and set {VARIABLE} to its path."


def pip_settings() -> dict[str, str]:
    """`index-url` and `cert`, where pip's files or variables have them; an empty dict where there is no pip."""
    found = {}
    for name in ("index-url", "cert"):
        value = os.environ.get(f"PIP_{name.upper().replace('-', '_')}")
        for section in PIP_SECTIONS if not value else ():
            command = [sys.executable, "-m", "pip", "config", "get", f"{section}.{name}"]
            asked = subprocess.run(command, capture_output=True, text=True, check=False)
            value = value or (asked.stdout.strip() if asked.returncode == 0 else None)
        if value:
            found[name] = value
    return found


def _usual_index() -> str:
    """The index that pip uses where nothing is configured."""
    ask = "from pip._internal.models.index import PyPI; print(PyPI.simple_url)"
    asked = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=False)
    if asked.returncode != 0:
        raise LookupError("there is no pip here that could name one")
    return asked.stdout.strip()


class _Links(html.parser.HTMLParser):
    """Links of an index's page by the text that is shown for them."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, str] = {}
        self._open: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._open = dict(attrs).get("href") if tag == "a" else self._open

    def handle_data(self, data: str) -> None:
        if self._open is not None:
            self.found.setdefault(data.strip(), self._open)

    def handle_endtag(self, tag: str) -> None:
        self._open = None if tag == "a" else self._open


def link_in(page: str, address: str) -> str:
    """The archive's address, from an index's page (every index has pages of this form) and where the page was."""
    links = _Links()
    links.feed(page)
    if ARCHIVE not in links.found:
        raise LookupError(f"its page of {PROJECT} does not list it")
    return urllib.parse.urldefrag(urllib.parse.urljoin(address, links.found[ARCHIVE])).url


def _read(address: str, index: str, certificates: str | None) -> bytes:
    """A page or a file; a name and password in the index's address go to that server and no other."""
    place, known = urllib.parse.urlsplit(address), urllib.parse.urlsplit(index)
    if place.scheme not in ("http", "https"):
        raise ValueError(f"an address that begins with '{place.scheme}' is not supported")
    bare = place._replace(netloc=place.netloc.rpartition("@")[2]).geturl()
    request = urllib.request.Request(bare, headers={"Accept": "text/html, */*;q=0.5"})
    if known.username and known.hostname == place.hostname:
        secret = ":".join(urllib.parse.unquote(part or "") for part in (known.username, known.password))
        request.add_unredirected_header("Authorization", f"Basic {base64.b64encode(secret.encode()).decode()}")
    context = ssl.create_default_context(cafile=certificates)
    with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS, context=context) as answer:
        return answer.read()
