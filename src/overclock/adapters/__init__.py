"""Overclock environments in the clothes of other libraries; each module imports its library, this one imports nothing.

- `gymnasium`: `Env`, and `VectorEnv` in all three auto-reset modes; `gymnasium_plugin` names them to Gymnasium
- `envpool`: EnvPool's `send` / `recv` / `xla`
- `pufferlib`: PufferLib's buffers, filled in place
- `gymnax`: gymnax 0.x and 1.x
- `brax`: Brax's `State` in, `State` out
- `pettingzoo`, `against`: games of several players, and one player's view of them

The first three are written against `overclock.vector.HostVector`, so JAX and Rust environments pass through alike.
"""
