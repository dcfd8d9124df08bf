/* The constants of an environment, in the order in which pong.py hands them to vec_init. Included after pong.h. */

static void set_constants(Pong* env, const float* constants, int frameskip, int continuous) {
    env->width = constants[0];
    env->height = constants[1];
    env->paddle_width = constants[2];
    env->paddle_height = constants[3];
    env->ball_width = constants[4];
    env->ball_height = constants[5];
    env->paddle_speed = constants[6];
    env->ball_initial_speed_x = constants[7];
    env->ball_initial_speed_y = constants[8];
    env->ball_max_speed_y = constants[9];
    env->ball_speed_y_increment = constants[10];
    env->max_score = constants[11];
    env->frameskip = frameskip;
    env->continuous = continuous;
    init(env);
}
