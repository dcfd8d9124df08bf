"""The environments that come with Overclock, one folder each. This file names them and loads no rules."""

from overclock.env.registry import Spec, register

PLANAR = "overclock.planar.render:render"
MUJOCO = (("mujoco", "overclock.planar.mujoco_render:render"),)

register(
    Spec(
        id="cartpole-v1",
        entry_point="overclock.envs.cartpole.env:CartPole",
        reference="gymnasium:CartPole-v1",
        twin="overclock.envs.cartpole.twin:twin",
        renderer="overclock.envs.cartpole.render:render",
        controller="overclock.envs.cartpole.render:balance",
        native="overclock.envs.cartpole.native:NativeCartPole",
        keys=(("left", 0), ("right", 1)),
        summary="Balance a pole on a cart; exact twin of Gymnasium's CartPole-v1.",
    )
)

register(
    Spec(
        id="pong-v1",
        entry_point="overclock.envs.pong.env:Pong",
        reference="pufferlib:pong",
        twin="overclock.envs.pong.twin:twin",
        renderer="overclock.envs.pong.render:render",
        controller="overclock.envs.pong.render:follow",
        native="overclock.envs.pong.native:NativePong",
        keys=(("up", 1), ("down", 2), ("left", 0)),  # left stops: a terminal does not report keys going up
        summary="Play Pong against a scripted opponent; exact twin of PufferLib 3.0.0's C Pong.",
    )
)

register(
    Spec(
        id="halfcheetah-v5",
        entry_point="overclock.envs.halfcheetah.env:HalfCheetah",
        reference="gymnasium:HalfCheetah-v5",
        twin="overclock.envs.halfcheetah.twin:twin",
        renderer=PLANAR,
        renderers=MUJOCO,
        controller="overclock.envs.halfcheetah.gait:run",
        summary="Run as a two-legged cheetah; MuJoCo's physics, twin of Gymnasium's HalfCheetah-v5.",
    )
)

register(
    Spec(
        id="walker2d-v5",
        entry_point="overclock.envs.walker2d.env:Walker2d",
        reference="gymnasium:Walker2d-v5",
        twin="overclock.envs.walker2d.twin:twin",
        renderer=PLANAR,
        renderers=MUJOCO,
        summary="Walk on two legs without falling; MuJoCo's physics, twin of Gymnasium's Walker2d-v5.",
    )
)

register(
    Spec(
        id="hopper-v5",
        entry_point="overclock.envs.hopper.env:Hopper",
        reference="gymnasium:Hopper-v5",
        twin="overclock.envs.hopper.twin:twin",
        renderer=PLANAR,
        renderers=MUJOCO,
        summary="Hop on one leg without falling; MuJoCo's physics, twin of Gymnasium's Hopper-v5.",
    )
)

for _game, _keys, _summary in (
    (
        "maze",
        (("right", 1), ("left", 2), ("up", 3), ("down", 4)),
        "Collect the pellets of a maze, chased; a Game Boy game of ours, exact twin of PyBoy 2.8.1 playing it.",
    ),
    (
        "paddle",
        (("right", 1), ("left", 2)),
        "Break bricks with a ball; a Game Boy game of ours, exact twin of PyBoy 2.8.1 playing it.",
    ),
):
    register(
        Spec(
            id=f"gameboy-{_game}-v1",
            entry_point=f"overclock.gameboy.env:{_game.title()}",
            reference=f"pyboy:{_game}",
            twin=f"overclock.envs.gameboy.twin:{_game}",
            renderer="overclock.gameboy.env:render",
            native=f"overclock.gameboy.vector:GameBoy{_game.title()}",
            rules_in_rust=True,
            keys=_keys,
            fps=5.0,  # twice as fast as a console: a step is 24 frames of a sixtieth of a second
            summary=_summary,
        )
    )
