/* PufferLib's Pong as a library that a verifier can drive: serves are given, and the whole state is read and written.

   pong.h is included as it is. Two of its names are redirected where it calls them:
   - rand() gives the serve that was laid ready;
   - add_log and compute_observations get a number appended at each place where they occur (definition, then calls), so
     that functions of ours run in place of the calls: one keeps the state of a finished game, which the reference
     overwrites at once; the other notes what an observation was made from. */

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

typedef struct Pong Pong;
static int laid_ready; /* the next serve: 0 or 1 */
static int next_serve(void) { return laid_ready; }
void add_log_3(Pong* env);
void add_log_4(Pong* env);
void compute_observations_2(Pong* env);
void compute_observations_5(Pong* env);

#define JOIN_NOW(a, b) a##b
#define JOIN(a, b) JOIN_NOW(a, b)
#define add_log JOIN(add_log_, __COUNTER__)
#define compute_observations JOIN(compute_observations_, __COUNTER__)
#define rand next_serve
#include "pong.h"
#undef rand
#undef compute_observations
#undef add_log
#include "constants.h"

typedef struct {
    float paddle_yl, paddle_yr, ball_x, ball_y, ball_vx, ball_vy;
} Scene;

/* What Python sees of a lane; every member has four bytes, so there are no gaps. */
typedef struct {
    Scene scene;
    int32_t score_l, score_r, tick, n_bounces;
    Scene seen;
    float obs[8], reward, paddle_dir;
    int32_t terminal;
} Shown;

typedef struct {
    Pong env; /* first, so that a pointer to it is one to its lane */
    Pong last;
    Scene seen, last_seen;
    float obs[8], last_obs[8], action, reward;
    unsigned char terminal;
} Lane;

static Scene scene_of(const Pong* env) {
    return (Scene){env->paddle_yl, env->paddle_yr, env->ball_x, env->ball_y, env->ball_vx, env->ball_vy};
}

static void put_scene(Pong* env, Scene scene) {
    env->paddle_yl = scene.paddle_yl;
    env->paddle_yr = scene.paddle_yr;
    env->ball_x = scene.ball_x;
    env->ball_y = scene.ball_y;
    env->ball_vx = scene.ball_vx;
    env->ball_vy = scene.ball_vy;
}

static void observed(Pong* env) {
    ((Lane*)env)->seen = scene_of(env);
    compute_observations_1(env);
}

static void finished(Pong* env) {
    Lane* lane = (Lane*)env;
    lane->last = *env;
    lane->last_seen = lane->seen;
    memcpy(lane->last_obs, lane->obs, sizeof lane->obs);
    add_log_0(env);
}

void add_log_3(Pong* env) { finished(env); }
void add_log_4(Pong* env) { finished(env); }
void compute_observations_2(Pong* env) { observed(env); }
void compute_observations_5(Pong* env) { observed(env); }

EXPORT Lane* lanes_new(int count, const float* constants, int frameskip, int continuous) {
    Lane* lanes = calloc(count, sizeof(Lane));
    for (int i = 0; lanes != NULL && i < count; i++) {
        Pong* env = &lanes[i].env;
        env->observations = lanes[i].obs;
        env->actions = &lanes[i].action;
        env->rewards = &lanes[i].reward;
        env->terminals = &lanes[i].terminal;
        set_constants(env, constants, frameskip, continuous);
    }
    return lanes;
}

EXPORT void lanes_free(Lane* lanes) { free(lanes); }

EXPORT void lane_reset(Lane* lanes, int lane, int serve) {
    laid_ready = serve;
    c_reset(&lanes[lane].env);
}

EXPORT void lane_serve(Lane* lanes, int lane, int serve) {
    laid_ready = serve;
    reset_round(&lanes[lane].env);
}

EXPORT void lane_observe(Lane* lanes, int lane) { observed(&lanes[lane].env); }

/* One step without the reset that the reference adds to the last one of a game. */
EXPORT void lane_step(Lane* lanes, int lane, float action, int serve) {
    Lane* one = &lanes[lane];
    laid_ready = serve;
    one->action = action;
    c_step(&one->env);
    if (one->terminal) {
        one->env = one->last;
        one->seen = one->last_seen;
        memcpy(one->obs, one->last_obs, sizeof one->obs);
    }
}

EXPORT void lanes_step(Lane* lanes, int count, const float* actions, const int32_t* serves) {
    for (int i = 0; i < count; i++) lane_step(lanes, i, actions[i], serves[i]);
}

EXPORT void lanes_frameskip(Lane* lanes, int count, int frameskip) {
    for (int i = 0; i < count; i++) lanes[i].env.frameskip = frameskip;
}

EXPORT void lanes_get(const Lane* lanes, int count, Shown* shown) {
    for (int i = 0; i < count; i++) {
        const Pong* env = &lanes[i].env;
        shown[i].scene = scene_of(env);
        shown[i].score_l = env->score_l;
        shown[i].score_r = env->score_r;
        shown[i].tick = env->tick;
        shown[i].n_bounces = env->n_bounces;
        shown[i].seen = lanes[i].seen;
        memcpy(shown[i].obs, lanes[i].obs, sizeof shown[i].obs);
        shown[i].reward = lanes[i].reward;
        shown[i].paddle_dir = env->paddle_dir;
        shown[i].terminal = lanes[i].terminal;
    }
}

/* The observation is part of the state, because a point leaves an old one: it is computed from what was seen. */
EXPORT void lanes_set(Lane* lanes, int count, const Shown* shown) {
    for (int i = 0; i < count; i++) {
        Pong* env = &lanes[i].env;
        env->score_l = env->score_r = 0;
        put_scene(env, shown[i].seen);
        observed(env);
        put_scene(env, shown[i].scene);
        env->score_l = shown[i].score_l;
        env->score_r = shown[i].score_r;
        env->tick = shown[i].tick;
        env->n_bounces = shown[i].n_bounces;
    }
}

/* The serves of a first reset and of the point after it as PufferLib draws them: it seeds the C library before a reset. */
EXPORT void first_serves(unsigned int seed, int32_t* serves) {
    srand(seed);
    for (int i = 0; i < 2; i++) serves[i] = rand() % 2;
}
