/* How XLA calls a kernel: the handler of a custom call, in plain C against XLA's stable interface.
 *
 * Compiled together with a kernel; `launch` is defined before this text, for the machine that the kernel runs on.
 * Buffers after the inputs are the memory of outputs, which XLA hands over as outputs, too.
 * Attributes arrive sorted by name: lanes, steps, threads, window.
 */
#include "xla/ffi/api/c_api.h"

static XLA_FFI_Error* failure(const XLA_FFI_Api* api, const char* message) {
  XLA_FFI_Error_Create_Args args = {XLA_FFI_Error_Create_Args_STRUCT_SIZE, 0, message, XLA_FFI_Error_Code_INTERNAL};
  return api->XLA_FFI_Error_Create(&args);
}

static int64_t number(const XLA_FFI_CallFrame* frame, int place) {
  return *(const int64_t*)((const XLA_FFI_Scalar*)frame->attrs.attrs[place])->value;
}

XLA_FFI_Error* overclock_handler(XLA_FFI_CallFrame* frame) {
  /* The extension's type has other names in other versions of the header. */
  for (__typeof__(frame->extension_start) e = frame->extension_start; e; e = e->next) {
    if (e->type != XLA_FFI_Extension_Metadata) continue;
    XLA_FFI_Metadata* metadata = ((XLA_FFI_Metadata_Extension*)e)->metadata;
    metadata->api_version.major_version = XLA_FFI_API_MAJOR;
    metadata->api_version.minor_version = XLA_FFI_API_MINOR;
    metadata->traits = HANDLER_TRAITS;
    return 0;
  }
  if (frame->stage != XLA_FFI_ExecutionStage_EXECUTE) return 0;
  if (frame->args.size < INPUTS || frame->rets.size != OUTPUTS || frame->attrs.size != 4)
    return failure(frame->api, "a fused kernel was called with other buffers than it was made for");
  void* in[INPUTS + 1];
  void* out[OUTPUTS + 1];
  for (int i = 0; i < INPUTS; i++) in[i] = ((XLA_FFI_Buffer*)frame->args.args[i])->data;
  for (int i = 0; i < OUTPUTS; i++) out[i] = ((XLA_FFI_Buffer*)frame->rets.rets[i])->data;
  const char* wrong = launch(frame, in, out, number(frame, 0), number(frame, 1), number(frame, 2), number(frame, 3));
  return wrong ? failure(frame->api, wrong) : 0;
}
