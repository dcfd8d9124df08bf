"""The primitives of JAX that only compute: a candidate's programs are made of nothing else.

Not among them: what calls Python or other code, draws numbers of its own, moves data between devices, chooses by the
platform, reads and writes references, or has rules of its own for batches and reversed derivatives.
"""

from overclock.recipe.judging.hygiene.allowed_names import name_set

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
