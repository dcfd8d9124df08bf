/* Lanes on a GPU: one thread per lane, launched on XLA's stream through the driver's interface.
 *
 * Nothing of CUDA is needed to compile this file; the driver's library is there wherever a GPU is.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

typedef struct {
  void* in[INPUTS + 1];
  void* out[OUTPUTS + 1];
} Buffers;

enum { MOST_CONTEXTS = 64 };
static struct {
  void *context, *function;
} loaded_kernels[MOST_CONTEXTS];
static int loaded_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int (*stream_context)(void*, void**);
static int (*push_context)(void*);
static int (*pop_context)(void**);
static int (*load_module)(void**, const char*);
static int (*get_function)(void**, void*, const char*);
static int (*launch_kernel)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                            void**);

static const char* find_driver(void) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (!driver) return "a fused kernel does not find the driver's libcuda.so.1";
  stream_context = dlsym(driver, "cuStreamGetCtx");
  push_context = dlsym(driver, "cuCtxPushCurrent_v2");
  pop_context = dlsym(driver, "cuCtxPopCurrent_v2");
  load_module = dlsym(driver, "cuModuleLoad");
  get_function = dlsym(driver, "cuModuleGetFunction");
  launch_kernel = dlsym(driver, "cuLaunchKernel");
  if (!stream_context || !push_context || !pop_context || !load_module || !get_function || !launch_kernel)
    return "a fused kernel needs a newer driver of the GPU";
  return 0;
}

/* The kernel in a context that is current; loaded at the first call. */
static const char* kernel_of(void* context, void** function) {
  for (int i = 0; i < loaded_count; i++)
    if (loaded_kernels[i].context == context) {
      *function = loaded_kernels[i].function;
      return 0;
    }
  void* module;
  if (loaded_count == MOST_CONTEXTS) return "a fused kernel was loaded for too many devices";
  if (load_module(&module, MODULE_PATH)) return "the driver of the GPU does not load a fused kernel";
  if (get_function(function, module, "lanes")) return "a fused kernel's file is broken; empty the folder of kernels";
  loaded_kernels[loaded_count].context = context;
  loaded_kernels[loaded_count++].function = *function;
  return 0;
}

static const char* launch(const XLA_FFI_CallFrame* frame, void** in, void** out, long total, long steps, long threads,
                          long window) {
  (void)threads;
  XLA_FFI_Stream_Get_Args asked = {XLA_FFI_Stream_Get_Args_STRUCT_SIZE, 0, frame->ctx, 0};
  XLA_FFI_Error* refused = frame->api->XLA_FFI_Stream_Get(&asked);
  if (refused) return "XLA gives a fused kernel no stream";
  void *context, *function;
  pthread_mutex_lock(&lock);
  const char* wrong = launch_kernel ? 0 : find_driver();
  if (!wrong && stream_context(asked.stream, &context)) wrong = "the stream of a fused kernel has no context";
  if (!wrong && push_context(context)) wrong = "the context of a fused kernel cannot be entered";
  if (!wrong) {
    wrong = kernel_of(context, &function);
    Buffers buffers;
    memcpy(buffers.in, in, sizeof(void*) * INPUTS);
    memcpy(buffers.out, out, sizeof(void*) * OUTPUTS);
    void* arguments[] = {&buffers, &total, &steps, &window};
    const unsigned blocks = (unsigned)((total + THREADS - 1) / THREADS);
    if (!wrong && launch_kernel(function, blocks, 1, 1, THREADS, 1, 1, 0, asked.stream, arguments, 0))
      wrong = "a fused kernel cannot be launched";
    pop_context(&context);
  }
  pthread_mutex_unlock(&lock);
  return wrong;
}
