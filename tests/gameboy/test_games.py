"""Our games on PyBoy: they start from a seed, end, and reward play; the boot code reaches them at once."""

import numpy as np
import pytest

pytest.importorskip("pyboy", reason="PyBoy is the reference: pip install 'overclock[gameboy]'")

from overclock.gameboy.boot import cgb_boot, dmg_boot
from overclock.gameboy.console import BUTTONS
from overclock.gameboy.description import load_description
from overclock.gameboy.games import BENCHMARKS, GAMES, folder, game_program
from overclock.gameboy.pyboy.console import PyBoyConsole

PRIMES_BELOW_4096 = 564


class Player:
    """A game with its description."""

    def __init__(self, name):
        program = game_program(name)
        self.symbols = program.symbols
        self.description = load_description(str(folder().joinpath(f"{name}.toml")), program.symbols)
        self.console = PyBoyConsole(program.rom)
        self.console.tick(self.description.reset.boot_frames, False)
        self.start = self.console.save()

    def memory(self, address, count):
        return bytes(self.console.pyboy.memory[address : address + count])

    def values(self):
        return self.description.read(self.memory)

    def reset(self, seed):
        self.console.load(self.start)
        for offset, byte in enumerate(seed.to_bytes(2, "little")):
            self.console.write(self.description.reset.seed_address + offset, byte)
        self.console.tick(self.description.reset.settle_frames, False)
        return self.values()

    def step(self, action):
        actions = self.description.actions
        for button in actions.buttons[action]:
            self.console.press(button)
        self.console.tick(actions.press, False)
        for button in actions.buttons[action]:
            self.console.release(button)
        self.console.tick(actions.frames - actions.press, True)
        return self.values()


@pytest.fixture(scope="module", params=GAMES)
def player(request):
    found = Player(request.param)
    yield found
    found.console.close()


@pytest.fixture(scope="module")
def maze():
    found = Player("maze")
    yield found
    found.console.close()


@pytest.fixture(scope="module")
def paddle():
    found = Player("paddle")
    yield found
    found.console.close()


def board(player):
    return player.memory(player.symbols["board"].address, 512)


def test_a_game_waits_for_its_seed(player):
    player.console.load(player.start)
    player.console.tick(60, False)
    assert player.values()["state"] == 0


def test_a_game_begins_with_all_lives_and_no_score(player):
    values = player.reset(1)
    assert (values["state"], values["lives"], values["score"]) == (1, 3, 0)


def test_random_play_ends_and_is_rewarded(player):
    rng = np.random.default_rng(0)
    total = 0.0
    for seed in range(1, 4):
        before = player.reset(seed)
        for _ in range(player.description.max_steps):
            after = player.step(rng.integers(len(player.description.actions.buttons)))
            total += max(0.0, player.description.reward(before, after))
            before = after
            if player.description.terminated(after):
                break
    assert total > 0


def test_a_seed_decides_the_maze(maze):
    mazes = []
    for seed in (1, 2, 1):
        maze.reset(seed)
        mazes.append(board(maze))
    assert mazes[0] == mazes[2] != mazes[1]


def test_every_pellet_can_be_reached(maze):
    wall, pellet = 1, 2
    for seed in range(1, 30):
        maze.reset(seed)
        tiles = np.frombuffer(board(maze), np.uint8).reshape(16, 32)
        reached, edge = {(1, 1)}, [(1, 1)]
        while edge:
            row, column = edge.pop()
            for place in ((row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1)):
                if place not in reached and tiles[place] != wall:
                    reached.add(place)
                    edge.append(place)
        assert {tuple(place) for place in np.argwhere(tiles == pellet)} <= reached


def test_a_press_moves_one_tile(maze):
    before = maze.reset(1)
    right = maze.description.actions.buttons.index(("right",))
    assert maze.step(right)["player_x"] == before["player_x"] + 8


def test_the_paddle_follows_the_buttons(paddle):
    before = paddle.reset(1)
    right = paddle.description.actions.buttons.index(("right",))
    assert paddle.step(right)["paddle_x"] == before["paddle_x"] + 8 * 3


def test_a_ball_that_is_missed_costs_a_life(paddle):
    before = paddle.reset(5)
    total = 0.0
    while before["lives"] == 3:
        after = paddle.step(paddle.description.actions.buttons.index(("left",)))
        total += paddle.description.reward(before, after)
        before = after
    assert total <= 0


def test_following_the_ball_breaks_bricks(paddle):
    values, names = paddle.reset(2), [buttons[0] if buttons else "" for buttons in paddle.description.actions.buttons]
    for _ in range(200):
        distance = values["ball_x"] - values["paddle_x"] - 14
        name = "left" if distance < -8 else "right" if distance > 8 else ""
        values = paddle.step(names.index(name))
        if paddle.description.terminated(values):
            break
    assert values["score"] >= 10


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_benchmark_keeps_going(name):
    console = PyBoyConsole(game_program(name).rom)
    console.tick(30, True)
    first = console.snapshot(False).memory["wram"]
    console.tick(30, True)
    assert not np.array_equal(first, console.snapshot(False).memory["wram"])
    console.close()


def test_the_sieve_counts_primes():
    program = game_program("sieve")
    console = PyBoyConsole(program.rom)
    console.tick(120, False)
    low, high = console.pyboy.memory[program.symbols["primes"].address : program.symbols["primes"].address + 2]
    assert low + 256 * high == PRIMES_BELOW_4096
    console.close()


@pytest.mark.parametrize(
    ("cgb", "registers"),
    [(False, {"A": 0x01, "F": 0xB0, "B": 0, "C": 0x13, "D": 0, "E": 0xD8, "HL": 0x014D, "SP": 0xFFFE}),
     (True, {"A": 0x11, "F": 0x80, "B": 0, "C": 0, "D": 0xFF, "E": 0x56, "HL": 0x000D, "SP": 0xFFFE})],
)  # fmt: skip
def test_boot_code_leaves_the_registers_of_the_console(cgb, registers):
    from overclock.gameboy import Cartridge, assemble

    console = PyBoyConsole(assemble("start: jr start", cartridge=Cartridge(cgb="yes" if cgb else "no")).rom, cgb=cgb)
    console.tick(2, False)
    found = console.snapshot(False).registers
    assert found.pop("PC") == 0x150
    assert found == registers
    console.close()


def test_boot_code_has_the_size_of_the_consoles():
    assert (len(dmg_boot()), len(cgb_boot())) == (256, 2304)


def test_buttons_of_descriptions_are_those_of_the_console(player):
    assert {button for buttons in player.description.actions.buttons for button in buttons} <= set(BUTTONS)
