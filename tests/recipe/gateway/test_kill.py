"""kill -9 loses nothing that was paid: what was closed counts as paid, what was only opened at its reservation."""

import os
import signal
import subprocess
import sys

import pytest

from overclock.recipe.runs.cost import spending
from overclock.recipe.runs.journal import Journal

# A gateway whose model stops in the middle of every streamed answer to "hang", for ever.
PROGRAM = """
import sys, threading
from pathlib import Path
from overclock.recipe.gateway.scripted.model import ScriptedModel
from overclock.recipe.gateway.scripted.script import Turn
from overclock.recipe.gateway import Gateway, Prices, Tokens
from overclock.recipe.runs.journal import Journal
from overclock.recipe.runs.recorder import JournalRecorder
folder = Path(sys.argv[1])
for_ever = threading.Event()
spoken = [0]
def pause():
    spoken[0] += 1
    if spoken[0] > 1:
        for_ever.wait()
choose = lambda prompt: Turn(text="Hello.", fault="slow" if "hang" in prompt else None)
model = ScriptedModel(choose, folder, tokens=Tokens(input=10, output=1000), pause=pause)
recorder = JournalRecorder(Journal(folder / "journal.sqlite"))
with Gateway(model, cap=100.0, prices=Prices.load(folder / "prices.toml"), recorder=recorder) as gateway:
    print(gateway.base_url("anthropic"), flush=True)
    for_ever.wait()
"""


@pytest.fixture
def killable(tmp_path):
    (tmp_path / "prices.toml").write_text("[models]\npriced = {input=0, output=1000}")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(tmp_path)], stdout=subprocess.PIPE, text=True, env=environment
    )
    yield process, process.stdout.readline().strip()
    process.kill()
    process.wait()
    process.stdout.close()


def written(folder):
    with Journal.reading(folder / "journal.sqlite") as journal:
        return journal.events()


def test_a_kill_in_the_middle_of_an_answer_counts_it_at_its_reservation(tmp_path, killable, client, first_request):
    process, base = killable
    path, body = first_request("anthropic", "quick", model="priced", most=5000, stream=True)
    assert client.post(base + path, json=body).text.count("message_stop") == 2
    path, body = first_request("anthropic", "hang", model="priced", most=5000, stream=True)
    with client.stream("POST", base + path, json=body) as response:
        assert b"message_start" in next(response.iter_bytes())
        process.send_signal(signal.SIGKILL)
        process.wait()
    events = written(tmp_path)
    assert [event.kind for event in events] == ["call opened", "call closed", "call opened"]
    cost = spending(events).so_far()
    assert (cost.dollars, cost.calls) == (pytest.approx(1.0 + 5.0, rel=1e-12), 2)


def test_a_kill_right_after_an_answer_keeps_its_price(tmp_path, killable, client, first_request):
    process, base = killable
    path, body = first_request("anthropic", "quick", model="priced", most=5000, stream=True)
    with client.stream("POST", base + path, json=body) as response:
        next(line for line in response.iter_lines() if "stop_reason" in line and "message_delta" in line)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert spending(written(tmp_path)).so_far().dollars == pytest.approx(1.0, rel=1e-12)
