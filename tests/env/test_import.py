"""Importing is light: listing environments needs no JAX, and no module touches a device."""

import os
import pkgutil
import subprocess
import sys

import pytest

import overclock.env
import overclock.envs
import overclock.vector


def run(code: str, **environment: str) -> str:
    finished = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **environment}, check=False
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


def test_listing_environments_imports_neither_jax_nor_rules():
    loaded = run(
        "import sys, overclock\n"
        "assert [spec.id for spec in overclock.list_envs()]\n"
        "overclock.spec('cartpole'), dir(overclock)\n"
        "print('\\n'.join(sys.modules))"
    ).splitlines()
    assert "overclock.env.registry" in loaded
    heavy = {"jax", "jaxlib", "numpy", "gymnasium", "overclock.env.environment", "overclock.vector"}
    assert not heavy & set(loaded)
    assert not [name for name in loaded if name.startswith("overclock.envs.")]


def test_lazy_names_are_the_real_ones_and_unknown_ones_say_so():
    run(
        "import overclock, overclock.env\n"
        "from overclock.vector import vectorize\n"
        "assert overclock.vectorize is vectorize\n"
        "for name in overclock.env.__all__: getattr(overclock.env, name)\n"
        "for name in overclock.__all__: getattr(overclock, name)\n"
        "try: overclock.vectorise\n"
        "except AttributeError as error: assert 'vectorise' in str(error)\n"
        "else: raise AssertionError"
    )


MODULES = sorted(
    module.name
    for package in (overclock.env, overclock.vector, overclock.envs)
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + ".")
)


def test_no_module_touches_a_device_when_imported():
    # The platform does not exist, so the first device operation would raise.
    optional = ("gymnasium", "pettingzoo", "overclock_native")
    output = run(
        f"import importlib\nfor name in {MODULES!r}:\n"
        "    try: importlib.import_module(name)\n"
        f"    except ModuleNotFoundError as error:\n        assert error.name in {optional!r}, (name, error)\n"
        "import jax\n"
        "try: jax.devices()\n"
        "except RuntimeError: print('no device')\n",
        JAX_PLATFORMS="nonsense",
    )
    assert output.strip() == "no device"
    assert "overclock.env.environment" in MODULES
    assert "overclock.envs.cartpole.env" in MODULES


@pytest.mark.parametrize("module", ["overclock.env.registry", "overclock.errors"])
def test_light_modules_stay_light(module):
    assert "False" in run(f"import sys, {module}\nprint('jax' in sys.modules)")
