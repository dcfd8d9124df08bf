"""Paths on this machine: system files, this Python, Overclock itself, and packages that are to be hidden."""

import os
import site
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path

import overclock

SYSTEM = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store",
    "/etc/ld.so.cache", "/etc/localtime", "/etc/alternatives",
)  # fmt: skip
# What programs look up about users, hosts and certificates; nothing secret, and Node refuses to start without a user.
LOOKUPS = (
    "/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/hosts", "/etc/resolv.conf", "/etc/ssl",
    "/etc/ca-certificates",
)  # fmt: skip
# Of a Python's folder only these: a Conda base also holds every package ever downloaded and all other environments.
PREFIX_PARTS = ("bin", "lib", "lib64", "pyvenv.cfg")
PACKAGE_FOLDERS = ("lib*/python3*/site-packages", "lib*/python3*/dist-packages")


def system_places() -> list[Path]:
    """Files of the system that every program needs."""
    return [Path(place) for place in SYSTEM if os.path.lexists(place)]


def lookups() -> list[Path]:
    """What programs that use the network look up."""
    return [Path(place) for place in LOOKUPS if Path(place).exists()]


def python_places() -> tuple[Path, ...]:
    """This interpreter, its packages, and Overclock."""
    parts = [prefix / part for prefix in _prefixes() for part in PREFIX_PARTS]
    places = (*parts, *_links_to_python(), *_user_site(), _package())
    return tuple(dict.fromkeys(place for place in places if place.exists()))


def python_variables() -> dict[str, str]:
    """Environment variables by which this Python finds its programs and its user's packages."""
    variables = {
        "PATH": os.pathsep.join(
            dict.fromkeys([str(Path(sys.executable).parent), "/usr/local/bin", "/usr/bin", "/bin"])
        ),
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    if _user_site():
        variables["PYTHONUSERBASE"] = site.getuserbase()
    return variables


def package_parent() -> str | None:
    """The folder that must be on the path for `import overclock`, unless it is where packages are installed anyway."""
    parent = str(_package().parent)
    return None if parent in (sysconfig.get_path("purelib"), *map(str, _user_site())) else parent


def hidden_paths(names: Iterable[str]) -> tuple[Path, ...]:
    """Every file and folder of the packages with these import names, in all places that python_places() grants."""
    found = (path for name in names for folder in _import_folders() for path in _module_files(folder, name))
    return tuple(dict.fromkeys(found))


def _package() -> Path:
    return Path(overclock.__file__).resolve().parent


def _prefixes() -> list[Path]:
    """Prefixes of this virtual environment and of its base Python, as written and with links resolved."""
    written = [Path(prefix) for prefix in (sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix)]
    return list(dict.fromkeys([*written, *(prefix.resolve() for prefix in written)]))


def _links_to_python() -> list[Path]:
    """Every name on the way from this environment's `python` to the program."""
    links = [Path(sys.executable)]
    while links[-1].is_symlink():
        links.append(Path(os.path.normpath(links[-1].parent / os.readlink(links[-1]))))
    return links


def _user_site() -> list[Path]:
    folder = Path(site.getusersitepackages())
    return [folder] if site.ENABLE_USER_SITE and folder.exists() else []


def _import_folders() -> list[Path]:
    """Package folders of every Python that can be read, not only of this one: a candidate may extend its path."""
    roots = [*_prefixes(), Path("/usr"), Path("/usr/local")]
    folders = [folder for root in roots for pattern in PACKAGE_FOLDERS for folder in root.glob(pattern)]
    on_path = [Path(entry) for entry in sys.path if entry and Path(entry).is_dir()]
    return list(dict.fromkeys(folder.resolve() for folder in (*folders, *_user_site(), _package().parent, *on_path)))


def _module_files(folder: Path, name: str) -> Iterator[Path]:
    *packages, last = name.split(".")
    home = folder.joinpath(*packages)
    if not home.is_dir():
        return
    if (home / last).is_dir():
        yield home / last
    for pattern in (f"{last}.py", f"{last}.*.so", f"{last}.so", f"__pycache__/{last}.*.pyc"):
        yield from home.glob(pattern)
