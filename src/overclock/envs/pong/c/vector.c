/* PufferLib's Pong at its own speed: pong.h as it is, its own c_step for every environment in turn, which restarts finished
   games by itself, the C library's rand(), buffers laid side by side as its Python class has them. */

#include <string.h>
#include "pong.h"
#include "constants.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT void* vector_new(int count, const float* constants, int frameskip, int continuous, float* observations,
                        float* actions, float* rewards, unsigned char* terminals) {
    Pong* envs = calloc(count, sizeof(Pong));
    for (int i = 0; envs && i < count; i++) {
        envs[i].observations = observations + 8 * i;
        envs[i].actions = actions + i;
        envs[i].rewards = rewards + i;
        envs[i].terminals = terminals + i;
        set_constants(&envs[i], constants, frameskip, continuous);
    }
    return envs;
}

EXPORT void vector_free(void* envs) {
    free(envs);
}

EXPORT void vector_reset(void* envs, int count) {
    for (int i = 0; i < count; i++) c_reset((Pong*)envs + i);
}

EXPORT void vector_step(void* envs, int first, int count) {
    for (int i = first; i < first + count; i++) c_step((Pong*)envs + i);
}

/* `rows` rows of actions for all environments are played in turn, from the row `first` on. */
EXPORT void vector_play(void* envs, int count, long steps, const float* rows, long num_rows, long first, float* actions) {
    for (long step = first; step < first + steps; step++) {
        memcpy(actions, rows + step % num_rows * count, count * sizeof(float));
        vector_step(envs, 0, count);
    }
}

/* How many games were finished since the environments were made. */
EXPORT double vector_games(void* envs, int count) {
    double games = 0;
    for (int i = 0; i < count; i++) games += ((Pong*)envs)[i].log.n;
    return games;
}
