/* PufferLib's Pong as a batch that is stepped from outside: its own c_step for every environment in turn, which restarts
   finished games by itself, with the C library's rand(). */

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

EXPORT void vector_step(void* envs, int count) {
    for (int i = 0; i < count; i++) c_step((Pong*)envs + i);
}
