/* PufferLib's Pong at its own speed: pong.h as it is, the C library's rand(), environments allocated one by one and
   stepped one after the other as PufferLib's vec_step does, buffers laid side by side as its Python class has them. */

#include <string.h>
#include "pong.h"
#include "constants.h"

#define EXPORT __attribute__((visibility("default")))

/* `rows` rows of actions for all environments are played in turn; returns how many games were finished. */
EXPORT double play(int count, long steps, const float* constants, int frameskip, int continuous, const float* rows,
                   long num_rows, float* observations, float* actions, float* rewards, unsigned char* terminals) {
    Pong** envs = calloc(count, sizeof(Pong*));
    for (int i = 0; i < count; i++) {
        Pong* env = envs[i] = calloc(1, sizeof(Pong));
        env->observations = observations + 8 * i;
        env->actions = actions + i;
        env->rewards = rewards + i;
        env->terminals = terminals + i;
        set_constants(env, constants, frameskip, continuous);
        c_reset(env);
    }
    for (long step = 0; step < steps; step++) {
        memcpy(actions, rows + step % num_rows * count, count * sizeof(float));
        for (int i = 0; i < count; i++) c_step(envs[i]);
    }
    double games = 0;
    for (int i = 0; i < count; i++) {
        games += envs[i]->log.n;
        free(envs[i]);
    }
    free(envs);
    return games;
}
