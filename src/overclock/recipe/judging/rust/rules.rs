/// The rules of one environment, on one instance. No I/O, and no randomness except in the two `draw_` functions.
pub trait Rules: Default + Send + Sync {
    /// One number of an observation: f32, f64, bool, or a whole number of any width.
    type Element: Number;
    /// One action: i64 of a discrete space, [f32; N] or [f64; N] of a box with N numbers.
    type Action: Action;
    /// Steps after which an episode is truncated; None = never.
    const MAX_STEPS: Option<i32>;
    /// Whether `action_mask` says which actions are legal.
    const MASKED: bool = false;

    fn observation_space(&self) -> Space;
    fn action_space(&self) -> Space;
    /// The randomness of one reset.
    fn draw_reset(&self, rng: Rng) -> ResetDraw@RESET_DEFAULT@
    /// The randomness that one step may need.
    fn draw_step(&self, rng: Rng, state: &State) -> StepDraw@STEP_DEFAULT@
    /// The first state of an episode, from its randomness alone.
    fn init(&self, draw: &ResetDraw) -> State;
    /// One step: (reward, terminated). Never resets, never counts steps for a time limit, never truncates.
    fn transition(&self, state: &mut State, action: Self::Action, draw: &StepDraw) -> (f64, bool);
    /// Write every number of what a player sees of a state, in row-major order.
    fn observe(&self, state: &State, into: &mut [Self::Element]);
    /// Which actions of a discrete space are legal now.
    fn action_mask(&self, _state: &State, _into: &mut [bool]) {}
}
