"""The recorder: what went in and what came out of any Python function, as copies, bounded, nothing rare lost."""

import sys
import types

import numpy as np
import pytest

from overclock.errors import UsageError
from overclock.verify.property.calls import MAX_KINDS, PER_KIND, Recorder, note_draw
from overclock.verify.property.captured import captured, digest


class Engine:
    def __init__(self):
        self.power = 3


class Cart:
    """A little environment that does what environments do: changes arrays in place, draws, calls itself."""

    def __init__(self, seed=0):
        self.state = np.zeros(2)
        self.generator = np.random.default_rng(seed)
        self.engine = Engine()
        self.history = []

    def step(self, action, *, gain=1.0):
        self.state += self.push(action) * gain  # in place: an alias would change with it
        self.history.append(self.state)
        return self.state

    def push(self, action):
        if action > 1:
            raise ValueError("no such action")
        return 2 * action - 1

    def scatter(self):
        drawn = self.generator.uniform(-1, 1, size=3)
        note_draw("uniform", (-1, 1), {"size": 3}, drawn)
        drawn *= 0.0  # after the draw
        return drawn

    def nested_scatter(self):
        return self.scatter()

    def countdown(self, n):
        return [] if n == 0 else [n, *self.countdown(n - 1)]

    def frames(self, n):
        buffer = np.zeros(1)
        for _ in range(n):
            sent = yield buffer
            buffer += 1 if sent is None else sent
        return "end"

    @staticmethod
    def doubled(x):
        return 2 * x

    @classmethod
    def named(cls, x):
        return cls.__name__ + x

    @property
    def position(self):
        return float(self.state[0])


class Wagon(Cart):
    pass


def halved(x):
    return x / 2


def overwrite(board):
    board[0] = 9


async def waiting():
    return 1


CART = f"{__name__}:Cart"


def only(recorder, name):
    (call,) = recorder.samples[name].kept()
    return call


def test_a_call_is_kept_with_arguments_attributes_and_result():
    cart = Cart()
    with Recorder([f"{CART}.step"]) as recorder:
        cart.step(1, gain=3.0)
    call = only(recorder, f"{CART}.step")
    assert call.arguments == {"action": 1, "gain": 3.0}
    assert call.before["state"].tolist() == [0, 0]
    assert call.after["state"].tolist() == call.result.tolist() == [3, 3]
    assert call.error is None


def test_defaults_count_as_arguments():
    with Recorder([f"{CART}.step"]) as recorder:
        Cart().step(1)
    assert only(recorder, f"{CART}.step").arguments == {"action": 1, "gain": 1.0}


def test_what_is_kept_never_changes_later():
    cart = Cart()
    with Recorder([f"{CART}.step"]) as recorder:
        cart.step(1)
        cart.step(1)
    first, second = recorder.samples[f"{CART}.step"].kept()
    assert first.result.tolist() == first.after["state"].tolist() == [1, 1]
    assert second.before["state"].tolist() == [1, 1]
    assert second.after["history"][0].tolist() == [2, 2]  # what the list held at that moment: one array, twice


def test_arguments_changed_in_place_are_kept_before_and_after():
    with Recorder([f"{__name__}:overwrite"]) as recorder:
        overwrite(np.zeros(2))
    call = only(recorder, f"{__name__}:overwrite")
    assert call.arguments["board"].tolist() == [0, 0]
    assert call.arguments_after["board"].tolist() == [9, 0]


def test_calls_inside_calls_are_kept_too():
    with Recorder([f"{CART}.step", f"{CART}.push"]) as recorder:
        Cart().step(0)
    assert only(recorder, f"{CART}.push").result == -1
    assert only(recorder, f"{CART}.step").result.tolist() == [-1, -1]


def test_draws_are_kept_as_drawn_by_every_call_around_them():
    with Recorder([f"{CART}.scatter", f"{CART}.nested_scatter"]) as recorder:
        Cart(5).nested_scatter()
    expected = np.random.default_rng(5).uniform(-1, 1, size=3)
    for name in ("scatter", "nested_scatter"):
        call = only(recorder, f"{CART}.{name}")
        (draw,) = call.draws
        assert (draw.method, draw.arguments, draw.keywords) == ("uniform", (-1, 1), {"size": 3})
        np.testing.assert_array_equal(draw.value, expected)
        assert call.result.tolist() == [0, 0, 0]


def test_an_exception_passes_through_and_is_kept():
    with Recorder([f"{CART}.step", f"{CART}.push"]) as recorder, pytest.raises(ValueError, match="no such action"):
        Cart().step(2)
    assert {name: only(recorder, name).error for name in recorder.functions} == {
        f"{CART}.step": "ValueError",
        f"{CART}.push": "ValueError",
    }


def test_a_wrong_call_raises_what_it_always_raised():
    with Recorder([f"{CART}.step"]) as recorder, pytest.raises(TypeError, match="missing 1 required"):
        Cart().step()
    assert only(recorder, f"{CART}.step").error == "TypeError"


def test_every_level_of_a_recursion_is_kept():
    with Recorder([f"{CART}.countdown"]) as recorder:
        assert Cart().countdown(3) == [3, 2, 1]
    assert sorted(call.arguments["n"] for call in recorder.samples[f"{CART}.countdown"].kept()) == [0, 1, 2, 3]


def test_a_generator_goes_on_as_before_and_its_values_are_kept():
    with Recorder([f"{CART}.frames"]) as recorder:
        generator = Cart().frames(3)
        assert [next(generator).item(), generator.send(5).item(), next(generator).item()] == [0, 5, 6]
        with pytest.raises(StopIteration, match="end"):
            next(generator)
    assert [value.item() for value in only(recorder, f"{CART}.frames").result] == [0, 5, 6]


def test_a_generator_that_is_given_up_is_kept_as_far_as_it_went():
    with Recorder([f"{CART}.frames"]) as recorder:
        generator = Cart().frames(3)
        next(generator)
        generator.close()
    assert [value.item() for value in only(recorder, f"{CART}.frames").result] == [0]


def test_static_methods_class_methods_properties_and_inherited_methods():
    names = [f"{CART}.doubled", f"{CART}.named", f"{CART}.position", f"{__name__}:Wagon.push"]
    with Recorder(names) as recorder:
        cart = Cart()
        assert (cart.doubled(4), Cart.named("!"), cart.position, Wagon().push(1)) == (8, "Cart!", 0.0, 1)
        cart.push(1)  # of the base class: not asked for
    assert [only(recorder, name).result for name in names] == [8, "Cart!", 0.0, 1]
    assert "push" not in vars(Wagon)


def test_a_function_is_seen_where_another_module_imported_it_by_name(monkeypatch):
    elsewhere = types.ModuleType("elsewhere")
    elsewhere.halved = halved  # as `from module import halved` does
    monkeypatch.setitem(sys.modules, "elsewhere", elsewhere)
    with Recorder([f"{__name__}:halved"]) as recorder:
        assert elsewhere.halved(4) == 2
    assert elsewhere.halved is halved
    assert only(recorder, f"{__name__}:halved").arguments == {"x": 4}


def test_after_the_recording_everything_is_as_it_was():
    before = dict(vars(Cart))
    with Recorder([CART]):
        assert vars(Cart)["step"] is not before["step"]
    assert dict(vars(Cart)) == before


def test_a_class_means_its_public_methods():
    names = Recorder([CART]).functions
    assert f"{CART}.step" in names
    assert not any("__init__" in name for name in names)


def test_objects_inside_are_kept_when_asked_for():
    with Recorder([f"{CART}.push"]) as shallow:
        Cart().push(0)
    with Recorder([f"{CART}.push"], depths={f"{CART}.push": 1}) as deep:
        Cart().push(0)
    assert "engine" not in only(shallow, f"{CART}.push").before
    assert only(deep, f"{CART}.push").before["engine"] == {"power": 3}


def test_equal_calls_are_kept_once():
    with Recorder([f"{__name__}:halved"]) as recorder:
        for _ in range(5):
            halved(4)
        halved(4.0)
        halved(0.0)
        halved(-0.0)
    sample = recorder.samples[f"{__name__}:halved"]
    assert (sample.calls, sample.distinct, len(sample.kept())) == (8, 4, 4)


def test_a_rare_kind_of_call_survives_among_many_others():
    with Recorder([f"{CART}.push"], reservoir=50) as recorder:
        cart = Cart()
        for number in range(2000):
            cart.state[:] = number
            cart.push(1)
            if number == 1000:
                with pytest.raises(ValueError, match="no such"):
                    cart.push(2)
    kept = recorder.samples[f"{CART}.push"].kept()
    assert len(kept) <= 50 + PER_KIND * MAX_KINDS
    assert sum(call.error is not None for call in kept) == 1


def test_the_reservoir_is_spread_over_all_calls():
    with Recorder([f"{CART}.push"], reservoir=100) as recorder:
        cart = Cart()
        for number in range(2000):
            cart.state[:] = number
            cart.push(1)
    numbers = [call.before["state"][0] for call in recorder.samples[f"{CART}.push"].kept()]
    assert 700 < np.median(numbers) < 1300


def test_a_recorded_gymnasium_environment_plays_the_same_episode():
    gymnasium = pytest.importorskip("gymnasium", reason="needs gymnasium")

    def play():
        env = gymnasium.make("CartPole-v1")
        first, _ = env.reset(seed=3)
        return [first, *(env.step(i % 2)[0] for i in range(20))]

    plain = play()
    with Recorder(["gymnasium.envs.classic_control.cartpole:CartPoleEnv"]) as recorder:
        recorded = play()
    np.testing.assert_array_equal(plain, recorded)
    assert recorder.samples["gymnasium.envs.classic_control.cartpole:CartPoleEnv.step"].calls == 20


@pytest.mark.parametrize("target", ["no.such.module", f"{__name__}:Nobody.step", f"{CART}.nothing", f"{__name__}:CART"])
def test_a_target_that_is_no_function_is_refused(target):
    with pytest.raises(UsageError, match=target.rpartition(".")[0]):
        Recorder([target])


def test_asynchronous_functions_are_refused():
    before = Cart.step
    with pytest.raises(UsageError, match="asynchronous"):
        Recorder([f"{CART}.step", f"{__name__}:waiting"]).start()
    assert Cart.step is before  # nothing half-started is left behind


def test_captured_values_know_cycles_and_leave_out_what_is_no_data():
    loop = {"x": 1, "f": print}
    loop["self"] = loop
    assert repr(captured(loop)) == "{'x': 1, 'f': OPAQUE, 'self': OPAQUE}"
    assert captured({"a": {1, 2}})["a"] in ([1, 2], [2, 1])


def test_digests_tell_types_shapes_and_signs_apart():
    different = [0, 0.0, -0.0, False, "0", np.zeros(1), np.zeros((1, 1)), np.zeros(1, np.float32), [0], {"0": 0}, None]
    assert len({digest(value) for value in different}) == len(different)
