"""Level 1 as files: for each module a pytest file that a person can read, and its recorded cases as one .npz file.

They need the performance side, JAX and pytest, never the reference, so they can live in the repository of a candidate.
"""

import importlib.metadata
import inspect
import io
import os
import platform
from pathlib import Path
from typing import Any

import numpy as np

from overclock.errors import UsageError
from overclock.files import write_whole
from overclock.verify.contract import Twin
from overclock.verify.property.level import Recording, modules_of
from overclock.verify.property.module import Cases, Module, Output

HEADER = '''"""Module `{name}` of {twin} against its reference.

{about}

{cases:,} cases ({recorded:,} recorded in play, {boundary:,} at boundary values, out of {calls:,} calls) of
{reference}
with {versions}.

The cases lie in {data}:
`input.*` is what went in, `expected.*` what the reference answered, and `near.*` marks the cases that are so close
to a threshold that lower precision may decide them differently. Written by Overclock; write it anew, do not edit it.
"""

import functools
from pathlib import Path

import jax
import numpy as np
import pytest

import overclock
from {module} import {function}
{imports}

DATA = np.load(Path(__file__).with_name("{data}"))
INPUTS = {{name.removeprefix("input."): DATA[name] for name in DATA.files if name.startswith("input.")}}
COUNT = {cases}


@functools.cache
def performed(precision):
    """The outputs of the performance side for all cases, in one batch."""
    with jax.enable_x64(precision == "float64"):
        env, params = {make}
        return run_batch({function}, env, params, INPUTS, COUNT)
'''

VALUES = """

# precision, output, absolute tolerance, tolerance relative to the reference's value, whether whole numbers are equal
FIELDS = [
{fields}
]


@pytest.mark.parametrize(("precision", "field", "absolute", "relative", "whole"), FIELDS)
def test_{name}_equals_the_reference(precision, field, absolute, relative, whole):
    expected, got = DATA[f"expected.{{field}}"], performed(precision)[field]
    _, wrong = errors_of(expected, got, absolute, relative, whole)
    wrong &= ~DATA[f"near.{{precision}}.{{field}}"]
    if wrong.any():
        case = int(np.argmax(wrong))
        inputs = {{name: values[case].tolist() for name, values in INPUTS.items()}}
        pytest.fail(
            f"{{field}} is wrong in {{wrong.sum()}} of {{COUNT}} cases; case {{case}}: inputs {{inputs}}, "
            f"reference {{expected[case].tolist()}}, performance {{got[case].tolist()}}"
        )
"""

SAMPLES = """

SAMPLED = {sampled}


@pytest.mark.parametrize("precision", {precisions})
@pytest.mark.parametrize("field", SAMPLED)
def test_{name}_is_distributed_like_the_reference(precision, field):
    distance, limit = distribution.distance(DATA[f"expected.{{field}}"], performed(precision)[field])
    assert distance <= limit


@pytest.mark.parametrize("precision", {precisions})
def test_the_parts_of_{name}_depend_on_each_other_like_the_references(precision):
    expected = {{field: DATA[f"expected.{{field}}"] for field in SAMPLED}}
    got = {{field: performed(precision)[field] for field in SAMPLED}}
    difference, limit = distribution.dependence(expected, got)
    assert difference <= limit
"""


def emit(twin: Twin, recording: Recording, folder: str | os.PathLike[str]) -> list[Path]:
    """Write the tests of every module into a folder; returns the pytest files."""
    modules = modules_of(twin)
    written: dict[Path, bytes] = {}
    for module in modules:
        cases = recording.cases[module.name]
        data = f"property_{module.name}.npz"
        written[Path(folder, data)] = _data(module, cases)
        written[Path(folder, f"test_property_{module.name}.py")] = _test(twin, module, cases, data).encode()
    for path, content in written.items():
        write_whole(path, content)
    return [path for path in written if path.suffix == ".py"]


def _data(module: Module, cases: Cases) -> bytes:
    arrays = {f"input.{name}": values for name, values in cases.inputs.items()}
    arrays |= {f"expected.{name}": values for name, values in cases.expected.items()}
    for precision, outputs in module.outputs.items():
        for output in _values(outputs):
            arrays[f"near.{precision}.{output.name}"] = output.near_limit(cases.inputs, cases.expected)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)  # pyright: ignore[reportArgumentType]
    return buffer.getvalue()


def _test(twin: Twin, module: Module, cases: Cases, data: str) -> str:
    values = any(_values(outputs) for outputs in module.outputs.values())
    sampled = sorted({o.name for outputs in module.outputs.values() for o in outputs if o.distribution})
    imports = ["from overclock.verify.property import distribution"] if sampled else []
    imports += ["from overclock.verify.property.compare import errors_of"] if values else []
    imports += ["from overclock.verify.property.runner import run_batch"]
    text = HEADER.format(
        twin=twin.name,
        name=module.name,
        about=_first_line(module.performance),
        cases=len(cases),
        recorded=cases.recorded,
        boundary=cases.boundary,
        calls=cases.calls,
        reference="\n".join(f"    {target}" for target in module.reference),
        versions=_versions(module),
        data=data,
        module=module.performance.__module__,
        function=module.performance.__qualname__,
        imports="\n".join(imports),
        make=_make(twin),
    )
    if values:
        text += VALUES.format(name=module.name, fields="\n".join(_rows(module)))
    if sampled:
        text += SAMPLES.format(name=module.name, sampled=_listed(sampled), precisions=_listed(module.outputs))
    return text


def _rows(module: Module) -> list[str]:
    """One line per precision and output, under a comment that gives the reason for what is not zero."""
    rows = []
    reason = ""
    for precision, outputs in module.outputs.items():
        for output in _values(outputs):
            if output.reason and output.reason != reason:
                rows.append(f"    # {output.reason}")
            reason = output.reason
            parts = f"{output.absolute!r}, {output.relative!r}, {output.whole!r}"
            rows.append(f'    ("{precision}", "{output.name}", {parts}),')
    return rows


def _values(outputs: tuple[Output, ...]) -> list[Output]:
    return [output for output in outputs if not output.distribution]


def _make(twin: Twin) -> str:
    """The expression that builds the performance side's environment and parameters."""
    options: dict[str, Any] = dict(twin.performance.options)
    if "env_id" not in options:
        raise UsageError(f"The performance side of {twin.name} is not a registered environment (it has no `env_id`).")
    arguments = [f'"{options["env_id"]}"', *(f"{k}={v!r}" for k, v in (options.get("static") or {}).items())]
    if options.get("params"):
        raise UsageError("Tests can be written for default parameters only; leave `params` out of the twin.")
    return f"overclock.make({', '.join(arguments)})"


def _versions(module: Module) -> str:
    owners = importlib.metadata.packages_distributions()
    packages = {target.partition(":")[0].partition(".")[0] for target in module.reference}
    names = sorted({owner for package in packages for owner in owners.get(package, [])} | {"numpy"})
    found = [f"{name} {importlib.metadata.version(name)}" for name in names]
    return ", ".join([*found, f"Python {platform.python_version()}"])


def _first_line(function: Any) -> str:
    return (inspect.getdoc(function) or function.__name__).splitlines()[0]


def _listed(names: Any) -> str:
    return "[" + ", ".join(f'"{name}"' for name in names) + "]"
