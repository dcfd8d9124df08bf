"""What `overclock new` tells its user about a reference."""

from overclock.cli.loop.new import show


def test_what_is_left_out_is_told_and_not_only_in_json(capsys):
    report = {
        "reference": "pond.py:PondEnv", "target": "jax", "project": "pond", "modules": [], "state": [], "warnings": [],
        "advice": {"reasons": ["Its state is small."], "against": []}, "not_represented": [], "oddities": [],
        "look": None,
        "dropped": [
            {"function": "pond:PondEnv.render", "file": "/x/pond.py", "line": 30, "lines": 9, "reason": "rendering"}
        ],
    }  # fmt: skip
    show(report)
    out = capsys.readouterr().out
    assert "- left out: pond:PondEnv.render, rendering (pond.py:30)" in out
    assert out.startswith("pond.py:PondEnv to jax\n")
