"""Runs any coding agent that has a command line, as its profile says, without a person, and stops it in time.

The prompt is always a file on standard input (one argument may not be longer than 128 KiB on Linux). Each run has a
private home, so that no earlier session, memory or setting of the user changes what happens. The agent may write that
home, so nothing of ours is kept there, and no program is started in it but the agent's own, in its sandbox.
"""

import os
import re
import shutil
import tempfile
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

from overclock.errors import MissingError, UsageError
from overclock.files import write_whole
from overclock.recipe.agents.base import Ended, Endpoint, Task, Work
from overclock.recipe.agents.outputs import REFUSING, Output, read_output
from overclock.recipe.agents.private_home import make_folder, write_file
from overclock.recipe.agents.processes import GRACE_SECONDS, Ran, run_program
from overclock.recipe.agents.profile import OPTIONS, Profile, fill
from overclock.recipe.agents.sessions import since_last_call

Wrap = Callable[[list[str], dict[str, str], Path], tuple[list[str], dict[str, str]]]

OUTPUT_LIMIT = 32 << 20  # bytes kept of each output; the longest honest ones are a few megabytes
SESSIONS = "sessions"  # of the logs
VERSION_SECONDS = 60.0  # some need seconds to start
LAST_WORDS = 3  # lines of stderr shown when it fails
PASSED_ON = (
    "PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TERM", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
)  # fmt: skip
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy")


class CommandAgent:
    """One coding agent in one run: `home` is its private home, `logs` is where prompts and outputs are kept.

    Agents that work at the same time have a home each. `wrap(argv, environment, folder)` may put a sandbox around the
    command.
    """

    def __init__(
        self,
        profile: Profile,
        *,
        home: Path,
        logs: Path,
        model: str | None = None,
        program: str | None = None,
        wrap: Wrap | None = None,
        output_limit: int = OUTPUT_LIMIT,
        grace_seconds: float = GRACE_SECONDS,
    ) -> None:
        self.name, self.profile = profile.name, profile
        self.home, self.logs = home.resolve(), logs.resolve()
        self.model, self.program = model, program or profile.program
        self.wrap, self.output_limit, self.grace_seconds = wrap, output_limit, grace_seconds
        self._stop = threading.Event()
        self._version: str | None = None

    def work(self, task: Task, endpoint: Endpoint | None) -> Work:
        """Run the program on the task; MissingError where it is not installed or too old."""
        if not task.folder.is_dir():
            raise UsageError(f"The work folder '{task.folder}' does not exist; create it first.")
        self.check_version()
        resumed = task.session is not None and bool(self.profile.resume)
        make_folder(self.home, "tmp")
        values = self._values(self.home, task.folder, task.session, endpoint)
        route = self.profile.direct if endpoint is None else self.profile.endpoint
        for name, content in {**self.profile.files, **route.files}.items():
            write_file(self.home, name, fill(content, values).encode())
        options = [fill(option, values) for option in route.options]
        argv = [self._found()]
        for argument in self.profile.resume if resumed else self.profile.argv:
            argv += options if argument == OPTIONS else [fill(argument, values)]
        environment = self._environment(values, endpoint)
        if self.wrap is not None:
            argv, environment = self.wrap(argv, environment, task.folder)
        files = self.logs / task.file_stem
        ran, stdout, stderr = self._run(files, argv, environment, task.folder, task.prompt, task.wall_seconds)
        output = read_output(self.profile.dialect, stdout, stderr)
        return self._work(ran, output, stderr, resumed)

    def stop(self) -> None:
        """End the running call; may be called from another thread. Later calls end at once."""
        self._stop.set()

    def check_version(self) -> str:
        """The program's version ("unknown" where it does not say), once per agent; too old a one is a MissingError."""
        if self._version is not None:
            return self._version
        argv = [self._found(), *self.profile.version_argv]
        self.logs.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="version-", dir=self.logs) as place:
            home = Path(place, "home")  # a fresh one, because this program runs without a sandbox
            make_folder(home, "tmp")
            environment = self._environment(self._values(home, home, None, None), None)
            _, stdout, stderr = self._run(Path(place, "version"), argv, environment, home, "", VERSION_SECONDS)
        match = re.search(self.profile.version_pattern, f"{stdout}\n{stderr}")
        found, minimum = match[1] if match else "unknown", self.profile.minimum_version
        if match and minimum and _numbers(found) < _numbers(minimum):
            raise MissingError(
                f"The agent '{self.name}' is version {found}, but its profile is written for {minimum} or newer; "
                f"{self.profile.remedy}."
            )
        self._version = found
        return found

    def _found(self) -> str:
        found = shutil.which(self.program)
        if found is None:
            raise MissingError(
                f"The agent '{self.name}' needs the program '{self.program}', which is not there; "
                f"{self.profile.remedy}."
            )
        return os.path.abspath(found)

    def _values(self, home: Path, folder: Path, session: str | None, endpoint: Endpoint | None) -> dict[str, str]:
        default = (self.profile.direct if endpoint is None else self.profile.endpoint).model or self.profile.model
        return {
            "model": self.model or default,
            "base_url": "" if endpoint is None else endpoint.base_url.rstrip("/"),
            "api_key": "" if endpoint is None else endpoint.api_key,
            "session": session or "",
            "folder": str(folder.resolve()),
            "home": str(home),
        }

    def _environment(self, values: Mapping[str, str], endpoint: Endpoint | None) -> dict[str, str]:
        """Few of the user's variables, and every customary folder for settings inside the private home."""
        route = self.profile.direct if endpoint is None else self.profile.endpoint
        passed = (*PASSED_ON, *route.keep, *(PROXIES if endpoint is None else ()))
        own = {
            "HOME": "{home}", "TMPDIR": "{home}/tmp", "XDG_CONFIG_HOME": "{home}/.config",
            "XDG_DATA_HOME": "{home}/.local/share", "XDG_STATE_HOME": "{home}/.local/state",
            "XDG_CACHE_HOME": "{home}/.cache", **self.profile.environment, **route.environment,
        }  # fmt: skip
        return {name: os.environ[name] for name in passed if name in os.environ} | {
            name: fill(value, values) for name, value in own.items()
        }

    def _run(
        self, files: Path, argv: list[str], environment: Mapping[str, str], folder: Path, prompt: str, seconds: float
    ) -> tuple[Ran, str, str]:
        stdin, stdout, stderr = (files.with_name(f"{files.name}.{kind}") for kind in ("prompt.md", "stdout", "stderr"))
        write_whole(stdin, prompt.encode())
        try:
            ran = run_program(
                argv, environment, folder, stdin=stdin, stdout=stdout, stderr=stderr, wall_seconds=seconds,
                output_limit=self.output_limit, stop=self._stop, grace_seconds=self.grace_seconds,
            )  # fmt: skip
        except OSError as error:
            raise MissingError(f"The agent '{self.name}' cannot be started: '{argv[0]}': {error.strerror}.") from error
        return ran, _text(stdout), _text(stderr)

    def _work(self, ran: Ran, output: Output, stderr: str, resumed: bool) -> Work:
        ended, reason = self._ending(ran, output, stderr)
        usage = output.usage
        if ran.stopped or ran.cut:  # what it would have said at its end is not known
            usage = None
        elif usage is not None and output.session is not None:
            usage = since_last_call(
                self.logs / SESSIONS, output.session, usage, resumed,
                self.profile.usage_scope, self.profile.dollars_scope,
            )  # fmt: skip
        elif usage is not None and resumed:
            usage = None
        return Work(ended, reason, output.text, usage, ran.seconds, output.session, ran.exit_code, output.status)

    def _ending(self, ran: Ran, output: Output, stderr: str) -> tuple[Ended, str]:
        profile, code = self.profile, ran.exit_code
        if ran.stopped == "timeout":
            return "timeout", f"{self.name} was stopped after {ran.seconds:.0f} s, with everything it had started."
        if ran.stopped:
            return "crashed", f"{self.name} was stopped on request."
        cut = f" Its output was longer than {self.output_limit} bytes and is cut." if ran.cut else ""
        last = " | ".join(stderr.strip().splitlines()[-LAST_WORDS:])
        words = output.error or last or output.text[:200]
        if output.status in REFUSING or code in profile.refused_exit_codes:
            return "refused", f"{self.name} was refused by its model: {words}{cut}"
        if output.capped or code in profile.capped_exit_codes:
            return (
                "finished",
                f"{self.name} stopped at a limit of its own ({output.capped or f'exit code {code}'}).{cut}",
            )
        if output.error or code != 0:
            return "crashed", f"{self.name} ended with exit code {code}: {words or 'without a word'}{cut}"
        return "finished", f"{self.name} ended by itself.{cut}"


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version))
