"""What a candidate may import, and which names of it: an allow-list, so that what is not known is refused.

`refusal("jax.pure_callback")` is the rule and the sentence against a name, None where it is fine.
"""

import dataclasses
from collections.abc import Iterable

from overclock.recipe.judging.hygiene import allowed_names as allowed

PURE = "rules compute their results from their inputs alone"


@dataclasses.dataclass(frozen=True)
class Vocabulary:
    """Of one module: `only` these names, or every public one of a module that holds nothing else."""

    only: frozenset[str] | None = None

    def has(self, name: str) -> bool:
        """Whether a name may be used."""
        return (self.only is None or name in self.only) and not name.startswith("_")


def _only(names: str) -> Vocabulary:
    return Vocabulary(only=frozenset(names.split()))


EVERYTHING = Vocabulary()
MODULES: dict[str, Vocabulary] = {
    "jax": _only(
        "Array ShapeDtypeStruct jit vmap checkpoint remat named_call named_scope eval_shape grad value_and_grad jvp "
        "vjp jacfwd jacrev"
    ),
    # Not what computes differently elsewhere, leads out of the program, or has rules of its own for derivatives.
    "jax.lax": Vocabulary(allowed.LAX),
    "jax.lax.linalg": Vocabulary(allowed.LAX_LINALG),
    "jax.numpy": Vocabulary(allowed.JAX_NUMPY),
    "jax.numpy.fft": EVERYTHING,
    "jax.numpy.linalg": EVERYTHING,
    "jax.nn": _only(
        "celu elu gelu glu hard_sigmoid hard_silu hard_swish hard_tanh identity leaky_relu log_sigmoid log_softmax "
        "logsumexp mish one_hot relu relu6 selu sigmoid silu soft_sign softmax softplus squareplus standardize swish "
        "tanh"
    ),
    "jax.tree": _only(
        "all broadcast flatten leaves map reduce structure transpose unflatten leaves_with_path map_with_path "
        "flatten_with_path"
    ),
    # `register_dataclass` reads attributes by their text; a Struct is registered as it is.
    "jax.tree_util": _only(
        "Partial tree_map tree_leaves tree_flatten tree_unflatten tree_structure tree_reduce tree_all tree_transpose"
    ),
    "jax.typing": EVERYTHING,
    "numpy": Vocabulary(allowed.NUMPY),
    "numpy.fft": _only("fft ifft rfft irfft fftfreq rfftfreq fftshift ifftshift"),
    "numpy.linalg": _only("norm inv det solve eig eigh svd qr cholesky matrix_rank pinv"),
    "numpy.typing": _only("NDArray ArrayLike DTypeLike"),
    "math": EVERYTHING,
    "enum": _only("Enum IntEnum IntFlag Flag auto unique"),
    # `make_dataclass` runs text.
    "dataclasses": _only("dataclass field replace fields asdict astuple is_dataclass KW_ONLY InitVar"),
    # Not the functions that evaluate annotations, which runs text; not the modules that `typing` itself uses.
    "typing": _only(
        "Annotated Any Callable ClassVar Dict Final FrozenSet Generic Iterable Iterator List Literal Mapping Never "
        "NamedTuple NoReturn Optional ParamSpec Protocol Self Sequence Set Tuple Type TypeAlias TypeVar Union "
        "TYPE_CHECKING assert_never cast final overload override"
    ),
    "collections.abc": _only(
        "Callable Collection Container Generator Hashable ItemsView Iterable Iterator KeysView Mapping Reversible "
        "Sequence Set Sized ValuesView"
    ),
    # `wraps` copies attributes that it is given as text, a module's names among them.
    "functools": _only("partial reduce"),
    "jaxtyping": _only(
        "Array ArrayLike Bool Complex Float Inexact Int Int8 Int16 Int32 Int64 Integer Key Num PyTree Real Scalar "
        "ScalarLike Shaped UInt UInt8 UInt16 UInt32 UInt64 Float16 Float32 Float64 BFloat16 Complex64 Complex128"
    ),
    # `make` and the registry load modules by name.
    "overclock.env": _only(
        "Box Dict Discrete EnvState Environment MultiDiscrete Params Rng Section Space Struct Tape first_above "
        "order_by put require_float64 select static"
    ),
    "__future__": _only("annotations"),
}
TOPS = frozenset(name.partition(".")[0] for name in MODULES)

# Wherever they come from: as a name, an attribute or an import.
CALLBACKS = frozenset(
    {
        "pure_callback", "io_callback", "debug_callback", "host_callback", "id_tap", "id_print", "call_tf", "ffi_call",
        "ffi", "pallas_call", "make_array_from_callback",
    }
)  # fmt: skip
CACHES = frozenset({"functools.cache", "functools.lru_cache", "functools.cached_property"})
INTERPRETER = frozenset({"sys", "modules"})  # from either every module can be reached


def importable(module: str, further: tuple[str, ...] = ()) -> bool:
    """Whether a module may be imported at all; `further` ones are allowed by the project."""
    return module in MODULES or module in further


def is_module(dotted: str) -> bool:
    """Whether a dotted name is a module (or leads to one) that is known here."""
    return any(name == dotted or name.startswith(f"{dotted}.") for name in MODULES)


def refusal(dotted: str) -> tuple[str, str] | None:
    """Rule and sentence against a dotted name of an importable module; what it is asked for later does not matter."""
    if not CALLBACKS.isdisjoint(dotted.split(".")) or dotted.startswith("jax.debug"):
        return "callback", f"`{dotted}` leaves the compiled program; {PURE}, without callbacks into Python."
    if dotted in CACHES:
        return "hidden-state", f"`{dotted}` remembers earlier calls; {PURE}, so compute the value each time."
    home = max((name for name in MODULES if f"{dotted}.".startswith(f"{name}.")), key=len, default=None)
    if home is None or home == dotted:
        return None if is_module(dotted) else ("import", f"`{dotted}` is not among what a candidate may use.")
    name, *further = dotted.removeprefix(f"{home}.").split(".")
    if not (MODULES[home].has(name) or is_module(f"{home}.{name}")):
        return "import", f"`{home}.{name}` is not among what a candidate may use: {PURE}."
    return inner_part(dotted, further)


def inner_part(dotted: str, parts: Iterable[str]) -> tuple[str, str] | None:
    """Rule and sentence against a part that leads from a module's own names to the interpreter."""
    if any(part.startswith("_") or part in INTERPRETER for part in parts):
        return "import", f"`{dotted}` reaches behind a module; {PURE}."
    return None
