/* PufferLib's Pong at its own speed: pong.h as it is, the C library's rand(), environments allocated one by one and stepped
   one after the other as PufferLib's vec_step does, buffers laid side by side as its Python class has them. Finished games
   restart by themselves. */

#include <string.h>
#include "pong.h"
#include "constants.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT void vector_free(Pong** envs, int count) {
    for (int i = 0; i < count; i++) free(envs[i]);
    free(envs);
}

EXPORT Pong** vector_new(int count, const float* constants, int frameskip, int continuous, float* observations,
                         float* actions, float* rewards, unsigned char* terminals) {
    Pong** envs = calloc(count, sizeof(Pong*));
    for (int i = 0; envs && i < count; i++) {
        Pong* env = envs[i] = calloc(1, sizeof(Pong));
        if (!env) {
            vector_free(envs, count);
            return 0;
        }
        env->observations = observations + 8 * i;
        env->actions = actions + i;
        env->rewards = rewards + i;
        env->terminals = terminals + i;
        set_constants(env, constants, frameskip, continuous);
    }
    return envs;
}

EXPORT void vector_reset(Pong** envs, int count) {
    for (int i = 0; i < count; i++) c_reset(envs[i]);
}

EXPORT void vector_step(Pong** envs, int first, int count) {
    for (int i = first; i < first + count; i++) c_step(envs[i]);
}

/* `rows` rows of actions for all environments are played in turn, from the row `first` on. */
EXPORT void vector_play(Pong** envs, int count, long steps, const float* rows, long num_rows, long first, float* actions) {
    for (long step = first; step < first + steps; step++) {
        memcpy(actions, rows + step % num_rows * count, count * sizeof(float));
        vector_step(envs, 0, count);
    }
}

/* How many games were finished since the environments were made. */
EXPORT double vector_games(Pong** envs, int count) {
    double games = 0;
    for (int i = 0; i < count; i++) games += envs[i]->log.n;
    return games;
}
