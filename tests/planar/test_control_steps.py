"""One control step of a robot, from thousands of states of play, against MuJoCo's; in float64 and in float32."""

import jax
import mujoco
import numpy as np
import pytest
from quick_compile import in_force, quickest
from vector.fused.programs import KERNEL, needs_kernel

from overclock.planar.engine.integrate import advance
from overclock.vector.fused import lane_map

# Positions, velocities and controls of HalfCheetah a metre deep in the floor, where full steps of Newton's method go in
# circles, and of a falling Hopper whose foot is parallel to its torso at a moment within the step.
CIRCLE = (
    [0.0, -1.0072538002213696, -0.8386382072742635, 0.4631131034308207, 0.24887688550152554, 0.7681554204371381,
     -0.5531822443326339, 0.12079911369368546, -0.8864142555338856],
    [-8.289491715007243, 5.367070368015444, -8.747868589661955, -1.5045115217107998, 8.165536940887154,
     -3.4137259854766198, -2.194449644414412, 1.823793425279872, 9.525261391111634],
    [0.14316645030393516, 0.31053415400938045, 0.7253688741658912, -0.7783047380451016, -0.5310852158976889,
     0.6103684225684758],
)  # fmt: skip
FOLDING = (
    [-0.06550620610198768, 0.7038936247377179, -3.656876747823787, -1.3618461972057792, -2.524239323167348,
     -0.8072274052959754],
    [7.860225068277229, -3.4519923574939884, -29.435115848049268, 1.1140008267670458, -19.31627287813774,
     -0.9243063264298921],
    [0.6521021, 0.88401765, 0.72057635],
)  # fmt: skip
SPECIAL = {"halfcheetah": CIRCLE, "hopper": FOLDING}


def control_steps(robot, count, seed, backend, compiler_options=None):
    """|dq| of one control step: in float64 and float32 against the exact solver, in float64 against MuJoCo as it is.

    The first state is a special one, where there is one.
    """
    qpos, qvel = robot.states(count, seed=seed)
    ctrl = np.random.default_rng(2).uniform(-1.0, 1.0, (len(qpos), robot.theirs.nu)).astype(np.float32)
    ctrl[:50] *= 2  # beyond the motors' range
    if robot.name in SPECIAL:
        qpos[0], qvel[0], ctrl[0] = SPECIAL[robot.name]

    def step(qpos, qvel, ctrl):
        return lane_map(lambda q, v, u: advance(robot.ours, q, v, u, robot.substeps), qpos, qvel, ctrl, backend=backend)

    with jax.enable_x64(True):
        step = jax.jit(step, compiler_options=compiler_options)
        double = np.asarray(step(qpos, qvel, ctrl)[0])
        single = np.asarray(step(*(part.astype(np.float32) for part in (qpos, qvel, ctrl)))[0], np.float64)
    as_it_is = mujoco.MjModel.from_xml_path(str(robot.path))
    apart = {}
    for name, model in (("exact", robot.theirs), ("as it is", as_it_is)):
        expected = []
        for q, v, u in zip(qpos, qvel, ctrl, strict=True):
            data = mujoco.MjData(model)
            data.qpos[:], data.qvel[:], data.ctrl[:] = q, v, u
            mujoco.mj_step(model, data, nstep=robot.substeps)
            expected.append(data.qpos.copy())
        apart[name] = np.abs(double - np.array(expected)).max(axis=1)
        if name == "exact":
            apart["float32"] = np.abs(single - np.array(expected)).max(axis=1)
    return apart


def judge(apart):
    """The bounds that the environments promise."""
    assert apart["exact"].max() <= 1e-12
    assert apart["as it is"].max() <= 1e-6
    assert np.quantile(apart["float32"], 0.99) <= 2e-6
    assert apart["float32"].max() <= 1e-4


# RK4 is compared in tests/envs/robots/test_steps.py, too.
one_of_them = pytest.mark.parametrize(
    "robot",
    ["halfcheetah", *(pytest.param(name, marks=pytest.mark.long) for name in ("walker2d", "hopper"))],
    indirect=True,
)


@one_of_them
def test_a_control_step_is_mujocos(robot):
    judge(control_steps(robot, 2000, seed=1, backend="xla", compiler_options=quickest()))


@one_of_them
def test_a_control_step_of_the_kernel_is_mujocos(robot):
    needs_kernel()
    judge(control_steps(robot, 1000, seed=2, backend=KERNEL))


@pytest.mark.long
@pytest.mark.parametrize("backend", ["xla", KERNEL])
def test_ten_thousand_control_steps_are_mujocos(robot, backend):
    """As users have it compiled; with `-rP` prints the figures of docs/planar.md."""
    assert not in_force(), "XLA compiles quickly, as no user has it: these figures would be others"
    if backend == KERNEL:
        needs_kernel()
    apart = control_steps(robot, 10_000, seed=5, backend=backend)
    for name, errors in apart.items():
        quantiles = ", ".join(f"{share:.1%} below {np.quantile(errors, share):.1e}" for share in (0.5, 0.99, 0.999))
        print(f"{robot.name}, {backend}, {name}: {quantiles}, largest {errors.max():.1e}")  # noqa: T201
    judge(apart)
