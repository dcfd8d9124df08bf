/* Lanes on the cores of a processor: blocks of lanes, each played from its first to its last step by one thread.
 *
 * A kernel's arrays lie on the stack of whoever plays. Small ones fit on every stack; for larger ones all threads are
 * ours, with stacks that are large enough.
 *
 * A thread that is done takes the next lanes, so that a core which is busy with something else holds up nobody. It takes
 * as many as have a line of the cache to themselves in an array of bytes: threads must not write to one line. Threads
 * live as long as a call: starting one costs some ten microseconds, nothing is left behind for a fork to copy.
 */
#include <pthread.h>

enum { MOST_THREADS = 256, CACHE_LINE = 64, TAKEN = WIDTH > CACHE_LINE ? WIDTH : CACHE_LINE / WIDTH * WIDTH };
enum { SMALL = 1 << 17, PAGE = 1 << 16, LARGE_STACK = (ARRAY_BYTES / PAGE + 16) * PAGE };

typedef struct {
  void* const* in;
  void* const* out;
  long total, steps, window, next; /* `next` is the first lane that nobody has taken */
} Work;

static void* play(void* argument) {
  Work* work = (Work*)argument;
  for (;;) {
    const long first = __atomic_fetch_add(&work->next, TAKEN, __ATOMIC_RELAXED);
    if (first >= work->total) return 0;
    for (long lane = first; lane < first + TAKEN && lane < work->total; lane += WIDTH) {
      const long left = work->total - lane;
      lanes(work->in, work->out, work->total, work->steps, work->window, lane, (int)(left < WIDTH ? left : WIDTH));
    }
  }
}

/* Returns what went wrong, or null. */
const char* overclock_run(void* const* in, void* const* out, long total, long steps, long window, long threads) {
  Work work = {in, out, total, steps, window, 0};
  /* A thread must have enough to do to be worth its start. */
  const long worth = total * steps / LANE_STEPS_PER_THREAD;
  const int here = ARRAY_BYTES <= SMALL;
  long count = threads < worth ? threads : worth;
  if (count > (total - 1) / TAKEN + 1) count = (total - 1) / TAKEN + 1;
  if (count > MOST_THREADS) count = MOST_THREADS;
  if (count < 1) count = 1;
  if (here) count--;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (!here && pthread_attr_setstacksize(&attributes, LARGE_STACK)) count = 0;
  pthread_t handles[MOST_THREADS];
  long started = 0;
  while (started < count && pthread_create(&handles[started], &attributes, play, &work) == 0) started++;
  pthread_attr_destroy(&attributes);
  if (here) play(&work);
  for (long i = 0; i < started; i++) pthread_join(handles[i], 0);
  return here || started ? 0 : "a fused kernel cannot start a thread with the memory that its arrays need; use backend='xla'";
}

static const char* launch(const XLA_FFI_CallFrame* frame, void** in, void** out, long total, long steps, long threads,
                          long window) {
  (void)frame;
  return overclock_run(in, out, total, steps, window, threads);
}
