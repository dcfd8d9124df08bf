"""One time step of MuJoCo's physics for planar models, as arithmetic on scalars, one part per file."""
