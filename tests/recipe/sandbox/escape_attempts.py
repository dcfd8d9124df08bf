"""A candidate that tries everything, and says as JSON which attempts succeeded. It runs inside a sandbox.

`python escape_attempts.py FACTS_JSON`: each function below is one attempt; it succeeds by returning True.
"""

import contextlib
import ctypes
import json
import os
import pathlib
import resource
import socket
import sys

FACTS = json.loads(sys.argv[1])
HOME = pathlib.Path(os.environ["HOME"])


def read_a_file_of_the_host():
    return FACTS["secret"] in pathlib.Path(FACTS["outside"]).read_text()


def read_it_through_a_link():
    return FACTS["secret"] in pathlib.Path(FACTS["link"]).read_text()


def read_it_through_a_hard_link():
    os.link(FACTS["outside"], HOME / "mine")
    return FACTS["secret"] in (HOME / "mine").read_text()


def list_a_folder_of_the_host():
    return "secret.txt" in os.listdir(pathlib.Path(FACTS["outside"]).parent)


def read_the_tests():
    return "def test" in pathlib.Path(FACTS["tests"]).read_text()


def change_the_tests():
    open(FACTS["tests"], "a").close()
    return True


def change_itself():
    (pathlib.Path(FACTS["candidate"]) / "more.py").write_text("more = 1")
    return True


def change_what_it_may_read():
    open(FACTS["readable"], "a").close()
    return True


def truncate_what_it_may_read():
    os.truncate(FACTS["disposable"], 0)
    return True


def delete_what_it_may_read():
    os.remove(FACTS["disposable"])
    return True


def change_overclock():
    open(FACTS["overclock"], "a").close()
    return True


def import_a_hidden_package():
    sys.path.insert(0, FACTS["library"])
    try:
        return __import__("hidden_reference").ANSWER == 42
    finally:
        sys.path.remove(FACTS["library"])


def read_the_source_of_a_hidden_package():
    return "ANSWER = 42" in (pathlib.Path(FACTS["library"]) / "hidden_reference/__init__.py").read_text()


def read_a_hidden_file():
    return "ANSWER" in (pathlib.Path(FACTS["library"]) / "hidden_notes.txt").read_text()


def connect_to_the_host():
    socket.create_connection(("127.0.0.1", FACTS["port"]), timeout=5).close()
    return True


def send_a_datagram_to_the_host():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.connect(("127.0.0.1", FACTS["udp_port"]))
        sender.settimeout(1)
        sender.send(b"hello")
        return sender.recv(5) == b"hello"  # the test answers


def connect_to_an_abstract_socket():
    with socket.socket(socket.AF_UNIX) as client:
        client.connect("\0" + FACTS["abstract"])
    return True


def connect_to_a_socket_file():
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(FACTS["socket"])
    return True


def send_to_a_socket_file_through_a_pair():
    with contextlib.ExitStack() as stack:
        pair = [stack.enter_context(one) for one in socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)]
        return pair[0].sendto(b"hello", FACTS["datagrams"]) == len(b"hello")


def change_the_permissions_of_a_file_of_the_host():
    os.chmod(FACTS["outside"], 0o644)
    return True


def change_the_owner_of_a_file_of_the_host():
    os.chown(FACTS["outside"], os.getuid(), -1)
    return True


def change_the_times_of_what_it_may_read():
    os.utime(FACTS["readable"], (1, 1))
    return True


def watch_a_file_of_the_host():
    libc = ctypes.CDLL(None, use_errno=True)
    return libc.inotify_add_watch(libc.inotify_init(), os.fsencode(FACTS["outside"]), 0xFFF) >= 0


def limit_a_process_of_the_test():
    resource.prlimit(FACTS["pid"], resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    return see_the_process_of_the_test() or FACTS["own_numbers"]


def see_the_key_in_its_own_environment():
    return FACTS["key"] in json.dumps(dict(os.environ))


def see_the_key_in_another_environment():
    for entry in os.listdir("/proc"):
        with contextlib.suppress(OSError):
            if entry.isdigit() and FACTS["key"].encode() in pathlib.Path(f"/proc/{entry}/environ").read_bytes():
                return True
    return False


def see_the_process_of_the_test():
    return pathlib.Path(f"/proc/{FACTS['pid']}/cmdline").read_bytes().decode() == FACTS["command"]


def signal_the_process_of_the_test():
    os.kill(FACTS["pid"], 0)
    # Inside a namespace of its own the number may be that of a process of ours.
    return see_the_process_of_the_test()


def change_the_file_system():
    for folder in ("/", "/dev", "/usr", "/proc", "/etc"):
        with contextlib.suppress(OSError):
            place = pathlib.Path(folder, "overclock-was-here")
            place.mkdir()
            place.rmdir()
            return True
    return False


def mount_something():
    libc = ctypes.CDLL(None, use_errno=True)
    return libc.mount(b"none", os.fsencode(HOME), b"tmpfs", 0, None) == 0 and libc.umount(os.fsencode(HOME)) == 0


def have_a_capability():
    status = pathlib.Path("/proc/self/status").read_text().splitlines()
    return any(line.startswith("CapEff:") and int(line.split()[1], 16) for line in status)


def make_a_user_namespace():
    child = os.fork()
    if child == 0:
        os._exit(ctypes.CDLL(None).unshare(0x10000000) != 0)
    return os.waitpid(child, 0)[1] == 0


def use_its_home():
    (HOME / "note").write_text("x")
    return (HOME / "note").read_text() == "x"


def import_itself():
    return pathlib.Path(__import__("escape_attempts").__file__).is_relative_to(FACTS["candidate"])


def read_what_it_may_read():
    return pathlib.Path(FACTS["readable"]).read_text() == "readable"


if __name__ == "__main__":
    outcome = {}
    for name, attempt in list(globals().items()):
        if callable(attempt) and getattr(attempt, "__module__", None) == "__main__":
            try:
                outcome[name] = bool(attempt())
            except (OSError, ImportError):
                outcome[name] = False
    sys.stdout.write(json.dumps(outcome))
