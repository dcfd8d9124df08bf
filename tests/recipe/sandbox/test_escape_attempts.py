"""What a candidate can reach: every attempt of escape_attempts.py in every sandbox, and what each sandbox makes of it.

The weaker sandboxes let some attempts through. That is written here, as it is in their sentences.
"""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import overclock
from overclock.recipe.sandbox import candidate_rights
from overclock.recipe.sandbox.bubblewrap import NO_NESTING, Bubblewrap
from overclock.recipe.sandbox.landlock import Landlock
from overclock.recipe.sandbox.landlock_rules import abi

KEY = "sk-a-key-that-must-not-be-seen"
ALLOWED = ("use_its_home", "import_itself", "read_what_it_may_read")
# attempt -> the sandboxes that let it through
THROUGH = {
    "read_a_file_of_the_host": ("none",),
    "read_it_through_a_link": ("none",),
    "read_it_through_a_hard_link": ("none",),
    "list_a_folder_of_the_host": ("none",),
    "read_the_tests": ("none",),
    "change_the_tests": ("none",),
    "change_itself": ("none",),
    "change_what_it_may_read": ("none",),
    "truncate_what_it_may_read": ("none",),
    "delete_what_it_may_read": ("none",),
    "change_overclock": ("none",),
    "import_a_hidden_package": ("none",),
    "read_the_source_of_a_hidden_package": ("none",),
    "read_a_hidden_file": ("none",),
    "connect_to_the_host": ("none",),
    "send_a_datagram_to_the_host": ("none",),
    "connect_to_an_abstract_socket": ("none",),
    "connect_to_a_socket_file": ("landlock", "none"),
    "send_to_a_socket_file_through_a_pair": ("landlock", "none"),
    "change_the_permissions_of_a_file_of_the_host": ("landlock", "none"),
    "change_the_owner_of_a_file_of_the_host": ("landlock", "none"),
    "change_the_times_of_what_it_may_read": ("landlock", "none"),
    "watch_a_file_of_the_host": ("landlock", "none"),
    "limit_a_process_of_the_test": ("landlock", "none"),
    "see_the_key_in_its_own_environment": (),
    "see_the_key_in_another_environment": ("none",),
    "see_the_process_of_the_test": ("none",),
    "signal_the_process_of_the_test": ("none",),
    "make_a_user_namespace": ("none",),
    "change_the_file_system": ("none",),  # as far as the user may
    "mount_something": ("none",),  # as root
    "have_a_capability": ("none",),  # as root
    **dict.fromkeys(ALLOWED, ("bubblewrap", "landlock", "none")),
}
# Landlock alone restricts none of these; the filter of system calls does, for a candidate.
BY_THE_FILTER = (
    "connect_to_a_socket_file",
    "send_to_a_socket_file_through_a_pair",
    "change_the_permissions_of_a_file_of_the_host",
    "change_the_owner_of_a_file_of_the_host",
    "change_the_times_of_what_it_may_read",
    "watch_a_file_of_the_host",
    "limit_a_process_of_the_test",
)
ONLY_AS_ROOT = ("change_the_file_system", "mount_something", "have_a_capability")


@pytest.fixture(scope="module")
def outcome(sandbox, tmp_path_factory):
    """The attempts that succeeded, by name; made once per sandbox."""
    folder = tmp_path_factory.mktemp("host")
    places = {name: folder / name for name in ("candidate", "outside", "tests", "readable", "library")}
    for place in places.values():
        place.mkdir()
    shutil.copy(Path(__file__).with_name("escape_attempts.py"), places["candidate"])
    (places["outside"] / "secret.txt").write_text("the secret")
    (places["candidate"] / "link").symlink_to(places["outside"] / "secret.txt")
    (places["tests"] / "test_it.py").write_text("def test_it(): ...")
    (places["readable"] / "reference.py").write_text("readable")
    (places["readable"] / "disposable").write_text("content")
    (places["library"] / "hidden_reference").mkdir()
    (places["library"] / "hidden_reference" / "__init__.py").write_text("ANSWER = 42")
    (places["library"] / "hidden_notes.txt").write_text("ANSWER")
    with contextlib.ExitStack() as cleanup, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", KEY)
        bystander = subprocess.Popen(["sleep", "600"])  # a process of ours whose environment has the key
        cleanup.callback(bystander.wait)
        cleanup.callback(bystander.kill)
        tcp = cleanup.enter_context(socket.create_server(("127.0.0.1", 0)))
        udp = cleanup.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        udp.bind(("127.0.0.1", 0))
        threading.Thread(target=_echo, args=(udp,), daemon=True).start()
        abstract, file = (cleanup.enter_context(socket.socket(socket.AF_UNIX)) for _ in range(2))
        abstract.bind(f"\0overclock-test-{os.getpid()}-{sandbox.name}")
        file.bind(str(folder / "socket"))
        for listener in (abstract, file):
            listener.listen()
        datagrams = cleanup.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
        datagrams.bind(str(folder / "datagrams"))
        facts = {
            "candidate": str(places["candidate"]),
            "outside": str(places["outside"] / "secret.txt"),
            "secret": "the secret",
            "link": str(places["candidate"] / "link"),
            "tests": str(places["tests"] / "test_it.py"),
            "readable": str(places["readable"] / "reference.py"),
            "disposable": str(places["readable"] / "disposable"),
            "library": str(places["library"]),
            "overclock": overclock.__file__,
            "port": tcp.getsockname()[1],
            "udp_port": udp.getsockname()[1],
            "abstract": f"overclock-test-{os.getpid()}-{sandbox.name}",
            "socket": str(folder / "socket"),
            "datagrams": str(folder / "datagrams"),
            "own_numbers": not isinstance(sandbox, Bubblewrap),  # whether the number of a process is the same inside
            "key": KEY,
            "pid": bystander.pid,
            "command": "sleep\0" + "600\0",
        }
        rights = candidate_rights(
            places["candidate"],
            readable=[places["readable"], places["library"]],
            hidden=[places["library"] / "hidden_reference", places["library"] / "hidden_notes.txt"],
        )
        process = sandbox.popen(
            [sys.executable, str(places["candidate"] / "escape_attempts.py"), json.dumps(facts)],
            rights, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
        return json.loads(out)


def _echo(udp: socket.socket) -> None:
    with contextlib.suppress(OSError):
        data, sender = udp.recvfrom(16)
        udp.sendto(data, sender)


def expected(sandbox, attempt) -> bool:
    """Older kernels and programs hold back less, and their sentences say so."""
    if isinstance(sandbox, Landlock) and not sandbox.own_network:
        version = {"connect_to_the_host": 4, "send_a_datagram_to_the_host": 99, "connect_to_an_abstract_socket": 6}
        if attempt in version:
            return abi() < version[attempt]
    if isinstance(sandbox, Bubblewrap | Landlock) and attempt == "make_a_user_namespace" and not sandbox.filtered:
        return isinstance(sandbox, Landlock) or NO_NESTING not in sandbox.flags
    if attempt in BY_THE_FILTER and isinstance(sandbox, Landlock) and sandbox.filtered:
        return False
    if attempt in ONLY_AS_ROOT and os.geteuid() != 0:
        return False
    if attempt == "change_overclock" and not os.access(overclock.__file__, os.W_OK):
        return False
    return sandbox.name in THROUGH[attempt]


@pytest.mark.parametrize("attempt", THROUGH)
def test_an_attempt_succeeds_only_where_the_sandbox_says_so(outcome, sandbox, attempt):
    assert outcome[attempt] is expected(sandbox, attempt)


def test_every_attempt_is_judged(outcome):
    assert set(outcome) == set(THROUGH)
