"""Mutants: every operator makes the mistakes it names, nothing else is touched, and the order never changes."""

import ast
import textwrap

import pytest

from overclock.results import encode
from overclock.verify.mutation.mutants import mutants_of, mutate_source, operators_of, sample, sample_statements
from overclock.verify.mutation.operators import OPERATORS

CARTPOLE = "overclock.envs.cartpole.env"


def mutants(source):
    return mutate_source("some.module", textwrap.dedent(source))


def changes(source, operator):
    """What an operator makes of a source: the changed statements."""
    return [mutant.after for mutant in mutants(source) if mutant.operator == operator]


RECORD = """
class State:
    x: float
    v: float

"""


@pytest.mark.parametrize(
    ("operator", "source", "expected"),
    [
        ("arithmetic", "y = a + b", ["y = a - b"]),
        ("arithmetic", "y = a * b", ["y = a + b"]),
        ("arithmetic", "y = a / b", ["y = a * b"]),
        ("arithmetic", "y = -a", ["y = a"]),
        ("comparison", "y = a < b", ["y = a <= b", "y = a > b"]),
        ("comparison", "y = a >= b", ["y = a > b", "y = a <= b"]),
        ("comparison", "y = a == b", ["y = a != b"]),
        ("constant", "y = 2.0", ["y = 0.0", "y = -2.0", "y = 4.0", "y = 2.000002"]),
        ("constant", "y = -2.0", ["y = 0.0", "y = 2.0", "y = -4.0", "y = -2.000002"]),
        ("constant", "y = 0.0", ["y = 1.0", "y = -1.0"]),
        ("constant", "y = 7", ["y = 0", "y = 14"]),
        ("constant", "y = True", ["y = False"]),
        ("off_by_one", "y = 7", ["y = 8", "y = 6"]),
        ("off_by_one", "y = table[i]", ["y = table[i + 1]", "y = table[i - 1]"]),
        ("logical", "y = a | b", ["y = a & b", "y = a ^ b"]),
        ("logical", "y = a and b", ["y = a or b"]),
        ("logical", "y = not a", ["y = a"]),
        ("logical", "if a:\n    b()", ["if not a:"]),
        ("order", "y = f(a, b, c)", ["y = f(b, a, c)", "y = f(a, c, b)"]),
        ("order", "y = a - b", ["y = b - a"]),
        ("order", "y = [a, b]", ["y = [b, a]"]),
        ("order", "y = jnp.maximum(a, b)", []),
        ("order", "y = f(a, a)", []),
        ("branch", "y = jnp.where(c, a, b)", ["y = jnp.where(True, a, b)", "y = jnp.where(False, a, b)"]),
        ("branch", "y = a if c else b", ["y = a if True else b", "y = a if False else b"]),
        ("skip", "y = f(a)", ["y = a"]),
        ("skip", "y += a", ["pass"]),
        ("skip", "y = a\ny = b", ["pass"]),
        ("skip", "y = State(x=old.x + v)", ["y = State(x=old.x)"]),
        ("skip", "y = state.replace(x=1)", ["y = state"]),
        ("dtype", "y = a.astype(t)", ["y = a"]),
        ("dtype", "y = jnp.float64", ["y = jnp.float32"]),
        ("dtype", "y = a.dtype", ["y = 'float32'", "y = 'float16'"]),
        ("dtype", "y = jnp.asarray(a, dtype)", ["y = jnp.asarray(a, 'float32')", "y = jnp.asarray(a)"]),
        ("term", "y = a + b", ["y = a", "y = b"]),
        ("term", "y = a - b", ["y = a"]),
        ("field", "y = jnp.sin(a)", ["y = jnp.cos(a)"]),
        ("field", RECORD + "def f(s: State):\n    return s.x", ["return s.v"]),
        ("skip", RECORD + "def f(s: State):\n    new = State(1, 2)\n    return new", ["return s"]),
        (
            "rng",
            "def f(rng: Rng):\n    return [rng.uniform(site) for site in range(4)]",
            [
                "return [rng.uniform(0) for site in range(4)]",
                "return [rng.uniform(site // 2) for site in range(4)]",
                "return [rng.replace(section=rng.section + 1).uniform(site) for site in range(4)]",
            ],
        ),
    ],
)
def test_operators_make_the_mistakes_they_name(operator, source, expected):
    assert changes(source, operator) == expected


def test_what_no_comparison_sees_stays_as_it_is():
    source = '''
        """A docstring with 1 + 2."""
        import a.b

        @cache(size=3)
        class Thing(Base[1]):
            """Another one."""

            size: Float[Array, "3"]

            def step(self, x: "f(1, 2)") -> Tuple[2]:
                raise ValueError(f"{1 + 2}")

            def render(self, x):
                return x + 1
    '''
    assert mutants(source) == []


def test_code_after_a_docstring_is_changed():
    assert changes('def f(x):\n    """One."""\n    return x < 1', "comparison") == ["return x <= 1", "return x > 1"]


def test_a_mutant_says_where_it_is():
    source = "class Rules:\n    def fallen(self, x):\n        return (x < 1) | (\n            x > 2)\n"
    (mutant,) = [m for m in mutants(source) if m.after == "return (x < 1) | (x >= 2)"]
    assert encode(mutant.facts) == {
        "id": mutant.id,
        "operator": "comparison",
        "file": "some/module.py",
        "line": 4,
        "function": "Rules.fallen",
        "before": "return (x < 1) | (x > 2)",
        "after": "return (x < 1) | (x >= 2)",
    }


def test_equal_statements_have_mutants_with_names_of_their_own():
    found = mutants("def f(x):\n    x = x - 1\n    x = x - 1\n    return x")
    assert len({mutant.id for mutant in found}) == len(found)


def test_names_survive_when_code_moves():
    source = "def f(x):\n    return x - 1"
    assert [m.id for m in mutants(source)] == [m.id for m in mutants(f"# a comment\n\n{source}")]


@pytest.fixture(scope="module")
def cartpole():
    return mutants_of([CARTPOLE])


def test_cartpole_has_hundreds_of_distinct_mutants_of_every_kind(cartpole):
    assert len(cartpole) >= 100
    assert len({mutant.id for mutant in cartpole}) == len(cartpole)
    assert len({ast.dump(ast.parse(mutant.source)) for mutant in cartpole}) == len(cartpole)
    assert operators_of(cartpole).keys() == OPERATORS.keys()
    assert sum(operators_of(cartpole).values()) == len(cartpole)


def test_every_mutant_changes_exactly_one_statement(cartpole):
    for mutant in cartpole:
        compile(mutant.source, mutant.file, "exec")
        assert mutant.before != mutant.after
        assert mutant.after in mutant.source


def test_the_historic_bug_is_among_them(cartpole):
    after = "polemass_length = jnp.asarray(params.masspole, dtype) + params.length"
    assert [mutant.operator for mutant in cartpole if mutant.after == after] == ["arithmetic"]


def test_the_order_never_changes_and_a_sample_keeps_it(cartpole):
    assert mutants_of([CARTPOLE]) == cartpole
    few = sample(cartpole, 5, seed=3)
    assert few == sample(cartpole, 5, seed=3)
    assert few != sample(cartpole, 5, seed=4)
    assert few == sorted(few, key=cartpole.index)
    assert sample(cartpole, 10**6, seed=0) == cartpole


TABLE_AND_RULES = """
TABLE = [1, 2, 3, 4, 5, 6, 7, 8, 9]

def rules(a, b):
    c = a + b
    d = a < b
    return c, d
"""


def test_a_table_counts_as_one_statement():
    found = sample_statements("some.module", TABLE_AND_RULES, 4, seed=0)
    assert [mutant.line for mutant in found] == [2, 5, 6, 7]
    everyone = {ast.dump(ast.parse(mutant.source)) for mutant in mutants(TABLE_AND_RULES)}
    assert {ast.dump(ast.parse(mutant.source)) for mutant in found} <= everyone


def test_statements_get_a_second_mistake_after_all_have_one_and_none_twice():
    found = sample_statements("some.module", TABLE_AND_RULES, 8, seed=3)
    lines = [mutant.line for mutant in found]
    assert len(found) == 8
    assert set(lines) == {2, 5, 6, 7}
    assert len({mutant.source for mutant in found}) == len({mutant.id for mutant in found}) == 8


def test_a_sample_of_statements_depends_on_its_seed_alone():
    assert sample_statements("m", TABLE_AND_RULES, 3, 1) == sample_statements("m", TABLE_AND_RULES, 3, 1)
    assert len({tuple(m.source for m in sample_statements("m", TABLE_AND_RULES, 3, seed)) for seed in range(5)}) > 1
    assert sample_statements("m", "x = y", 5, 0) == []
