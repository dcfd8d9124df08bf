"""The names that candidates may use: of NumPy and JAX, of Python itself, of values, and of what programs consist of.

Lists, so that whatever a new version of a library brings is refused until somebody has looked at it.
"""


def name_set(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


# Of arrays, element by element, in any of NumPy and jax.numpy.
ARRAYS = name_set(
    """
    abs absolute acos acosh add all allclose amax amin angle any append apply_along_axis apply_over_axes arange arccos
    arccosh arcsin arcsinh arctan arctan2 arctanh argmax argmin argpartition argsort argwhere around array array_equal
    array_equiv array_split asarray asin asinh astype atan atan2 atanh atleast_1d atleast_2d atleast_3d average bincount
    bitwise_and bitwise_count bitwise_invert bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor
    block bool bool_ broadcast_arrays broadcast_shapes broadcast_to c_ can_cast cbrt ceil choose clip column_stack
    complex128 complex64 complexfloating compress concat concatenate conj conjugate convolve copy copysign corrcoef
    correlate cos cosh count_nonzero cov cross cumprod cumsum cumulative_prod cumulative_sum deg2rad degrees delete diag
    diag_indices diag_indices_from diagflat diagonal diff digitize divide divmod dot dsplit dstack dtype e ediff1d
    einsum equal euler_gamma exp exp2 expand_dims expm1 extract eye fabs finfo flatnonzero flip fliplr flipud float16
    float32 float64 float_power floating floor floor_divide fmax fmin fmod frexp fromfunction full full_like gcd generic
    geomspace gradient greater greater_equal heaviside histogram histogram2d histogram_bin_edges histogramdd hsplit
    hstack hypot i0 identity iinfo imag index_exp indices inexact inf inner insert int16 int32 int64 int8 int_ integer
    interp intersect1d invert isclose iscomplex iscomplexobj isdtype isfinite isin isinf isnan isneginf isposinf isreal
    isrealobj isscalar issubdtype ix_ kron lcm ldexp left_shift less less_equal lexsort linspace log log10 log1p log2
    logaddexp logaddexp2 logical_and logical_not logical_or logical_xor logspace mask_indices matmul matrix_transpose
    matvec max maximum mean median meshgrid mgrid min minimum mod modf moveaxis multiply nan nan_to_num nanargmax
    nanargmin nancumprod nancumsum nanmax nanmean nanmedian nanmin nanpercentile nanprod nanquantile nanstd nansum
    nanvar ndarray ndim negative newaxis nextafter nonzero not_equal number ogrid ones ones_like outer packbits pad
    partition percentile permute_dims pi piecewise poly polyadd polyder polydiv polyfit polyint polymul polysub polyval
    positive pow power prod promote_types ptp quantile rad2deg radians ravel ravel_multi_index real reciprocal remainder
    repeat reshape resize result_type right_shift rint roll rollaxis roots rot90 round s_ searchsorted select setdiff1d
    setxor1d shape sign signbit signedinteger sin sinc sinh size sort sort_complex spacing split sqrt square squeeze
    stack std subtract sum swapaxes take take_along_axis tan tanh tensordot tile trace transpose trapezoid tri tril
    tril_indices tril_indices_from trim_zeros triu triu_indices triu_indices_from true_divide trunc uint uint16 uint32
    uint64 uint8 union1d unique unique_all unique_counts unique_inverse unique_values unpackbits unravel_index
    unsignedinteger unstack unwrap vander var vdot vecdot vecmat vsplit vstack where zeros zeros_like
    """
)
NUMPY = ARRAYS | name_set(
    """
    False_ True_ ascontiguousarray broadcast double fix half intc intp longlong ndenumerate ndindex r_ real_if_close
    single trapz uintp ulonglong ushort short byte ubyte
    """
)  # not `empty`: what it returns was left in memory by somebody else
JAX_NUMPY = ARRAYS | name_set(
    """
    bfloat16 empty empty_like int2 int4 r_ single uint2 uint4 vectorize double
    """
)
LAX = name_set(
    """
    ConvDimensionNumbers DotDimensionNumbers GatherDimensionNumbers GatherScatterMode Precision PrecisionLike
    ScatterDimensionNumbers abs acos acosh add approx_max_k approx_min_k argmax argmin asin asinh associative_scan atan
    atan2 atanh batch_matmul bessel_i0e bessel_i1e betainc bitcast_convert_type bitwise_and bitwise_not bitwise_or
    bitwise_xor broadcast broadcast_in_dim broadcast_shapes broadcast_to_rank broadcasted_iota cbrt ceil clamp clz
    collapse complex concatenate cond conj conv conv_dimension_numbers conv_general_dilated conv_general_dilated_local
    conv_general_dilated_patches conv_transpose conv_with_general_padding convert_element_type cos cosh cumlogsumexp
    cummax cummin cumprod cumsum digamma div dot dot_general dynamic_index_in_dim dynamic_slice dynamic_slice_in_dim
    dynamic_update_index_in_dim dynamic_update_slice dynamic_update_slice_in_dim eq erf erf_inv erfc exp exp2
    expand_dims expm1 fft floor fori_loop full full_like gather ge gt igamma igammac imag index_in_dim index_take
    integer_pow iota is_finite le lgamma log log1p logistic lt map max min mul mulhi ne neg nextafter
    optimization_barrier pad polygamma population_count pow real reciprocal reduce reduce_and reduce_max reduce_min
    reduce_or reduce_precision reduce_prod reduce_sum reduce_window reduce_xor rem reshape rev round rsqrt scan scatter
    scatter_add scatter_apply scatter_max scatter_min scatter_mul scatter_sub select select_n shift_left
    shift_right_arithmetic shift_right_logical sign sin sinh slice slice_in_dim sort sort_key_val split sqrt square
    squeeze stop_gradient sub switch tan tanh tile top_k transpose while_loop zeta
    """
)
LAX_LINALG = name_set(
    """
    cholesky eig eigh hessenberg lu qr schur svd triangular_solve tridiagonal_solve
    """
)

# Of Python's own names. None of them shows a value as text, a traced one's class, or anything outside the program.
BUILTINS = name_set(
    """
    abs all any bool classmethod complex dict divmod enumerate filter float frozenset int isinstance issubclass iter len
    list map max min next object pow property range reversed round set slice sorted staticmethod str sum super tuple
    type zip Ellipsis NotImplemented ArithmeticError AssertionError Exception IndexError KeyError NotImplementedError
    OverflowError RuntimeError TypeError ValueError ZeroDivisionError
    """
)

# Attributes of values; beside these, those that the candidate defines itself.
ARRAY = name_set(
    """
    T all any argmax argmin argpartition argsort astype at choose clip compress conj conjugate copy cumprod cumsum
    diagonal dot dtype flatten imag item itemsize mT max mean min nbytes ndim nonzero prod ptp ravel real repeat reshape
    round searchsorted shape size sort squeeze std sum swapaxes take tolist trace transpose var view add apply divide
    get mul multiply power set subtract accumulate outer reduce kind type newbyteorder eps tiny bits resolution
    smallest_normal Q R S U Vh counts eigenvalues eigenvectors indices inverse_indices logabsdet sign values
    """
)
CONTAINERS = name_set(
    """
    append clear copy count discard difference extend get index insert intersection isdisjoint issubset issuperset items
    keys pop popitem remove reverse setdefault sort symmetric_difference union update values endswith find isdigit lower
    lstrip rstrip split splitlines startswith strip upper name value func args keywords bit_length is_integer start stop
    step _replace _asdict _fields _make
    """
)
OVERCLOCK = name_set(
    """
    acting action_mask action_space advance begin bernoulli bit_choice bounds capacity choice contains counter
    default_params draw draw_reset draw_step dtype facts high info init integers k0 k1 lanes low masked_choice
    max_steps n next_below next_word normal num_players nvec observation_space observe of of_section overflow
    permutation position recorded replace reset reset_state rules sample section shape shuffle sites spaces step
    step_env steps transition uniform unit words RESET STEP ACTION POOL SEED LANES
    """
)
KNOWN = ARRAY | CONTAINERS | OVERCLOCK
# What JAX's arrays and tracers have beside what an array is: each shows a batch, a device or how something is traced.
TRACERS = name_set(
    """
    addressable_data addressable_shards aval aval_mutable_qdd batch_dim bind block_until_ready call_wrapped clone
    committed copy_to_host_async cur_qdd delete device device_buffer device_buffers devices dimension_as_value flat
    format full_lower get_const get_referent global_shards is_deleted is_fully_addressable is_fully_replicated is_ready
    jvp mutable_qdd on_device_size_in_bytes parent platform primal sharding source_info tangent to_concrete_value
    to_device tobytes traceback type_state unsafe_buffer_pointer val vma weak_type
    """
)

# The primitives of JAX that only compute. Not what calls Python or other code, draws numbers of its own, moves data
# between devices, chooses by the platform, writes to references, or has its own rules for batches and derivatives.
PRIMITIVES = name_set(
    """
    abs acos acosh add add_any and approx_top_k argmax argmin asin asinh atan atan2 atanh bessel_i0e bessel_i1e
    bitcast_convert_type broadcast_in_dim call cbrt ceil checkpoint cholesky cholesky_update clamp closed_call clz
    complex concatenate cond conj conv_general_dilated convert_element_type copy copy_p core_call cos cosh
    cumlogsumexp cummax cummin cumprod cumsum custom_jvp_call device_put digamma div dot_general dynamic_slice
    dynamic_update_slice eig eigh eq eq_to erf erf_inv erfc exp exp2 expm1 fft floor gather ge geqp3 geqrf gt
    hessenberg householder_product igamma igamma_grad_a igammac imag integer_pow iota is_finite jit le le_to lgamma
    log log1p logistic lt lt_to lu lu_pivots_to_permutation max min mul mulhi name ne neg nextafter not
    optimization_barrier or ormqr pad pjit polygamma population_count pow qr ragged_dot ragged_dot_general
    random_gamma_grad real reduce reduce_and reduce_max reduce_min reduce_or reduce_precision reduce_prod reduce_sum
    reduce_window reduce_window_max reduce_window_min reduce_window_sum reduce_xor regularized_incomplete_beta rem
    remat remat2 reshape rev round rsqrt scan scatter scatter-add scatter-max scatter-min scatter-mul scatter-sub
    scatter_add scatter_max scatter_min scatter_mul scatter_sub schur select_and_gather_add select_and_scatter
    select_and_scatter_add select_n shift_left shift_right_arithmetic shift_right_logical sign sin sinh slice sort
    split sqrt square squeeze stack stop_gradient sub svd symmetric_product tan tanh tile top_k transpose
    triangular_solve tridiagonal tridiagonal_solve unstack while xor zeta random_bits random_fold_in random_seed
    random_split random_unwrap random_wrap threefry2x32
    """
)
