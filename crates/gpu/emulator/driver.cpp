// An emulation of the CUDA driver and of NVRTC, so that the engine that loads them when it runs can
// be tested on a machine without a GPU.  The kernels are kernels.cu itself, compiled as C++.
//
//   g++ -O2 -std=c++17 -ffp-contract=off -pthread -shared -fPIC -I crates/gpu/src
//       -o libeverlevel_emulated.so crates/gpu/emulator/driver.cpp
//
// Work runs at once in the thread that submits it.  cuInit reads these environment variables:
//   EVERLEVEL_EMULATED_ORDER=reversed  runs threads and blocks backwards, which shows a race
//   EVERLEVEL_EMULATED_THREADS=N       divides the blocks of a launch among N threads (1)
//   EVERLEVEL_EMULATED_MEMORY=BYTES    is the memory of the device (4 GiB)
//   EVERLEVEL_EMULATED_FAULT=N         makes the N-th cuLaunchKernel of the process fail, and all
//                                      calls after it
//   EVERLEVEL_EMULATED_REFUSAL=N       makes the N-th cuLaunchKernel of the process fail alone
#define EVERLEVEL_EMULATED 1

#include <chrono>

#include "device.h"

// Nothing of the kernels may be replaced by a symbol of the process that loads this library.
#pragma GCC visibility push(hidden)
#include "kernels.cu"
#pragma GCC visibility pop

// A function of C keeps its name in a namespace, which keeps the names here and those of the
// kernels apart.
namespace EMULATED_HIDDEN emulated {

typedef void* Handle;

#define API extern "C" __attribute__((visibility("default"))) int

// Every call but the few that need no context holds the one lock and returns an earlier fault.
#define ENTER                                               \
    std::lock_guard<std::mutex> lock(device().mutex);       \
    if (Result not_ready = ready()) return not_ready;       \
    Device& d = device();                                   \
    (void)d

static int the_context;
EMULATED_THREAD_LOCAL Handle current_context;

static Result ready() {
    const Device& d = device();
    if (!d.initialized) return NOT_INITIALIZED;
    if (d.sticky) return d.sticky;
    if (current_context == nullptr) return INVALID_CONTEXT;
    return d.contexts == 0 ? CONTEXT_IS_DESTROYED : SUCCESS;
}

// The handles 0, 1 and 2 name the default streams.
static bool is_default(Handle stream) { return reinterpret_cast<uintptr_t>(stream) <= 2; }

static Stream* find_stream(Handle stream) {
    return is_default(stream) ? &device().null_stream : device().streams.find(stream);
}

static Result invalidate(Stream& s, Result code) {
    s.capture = 2;
    return code;
}

// What a call that no graph can hold returns while a stream captures.  The modes of a capture are
// 0 global, which forbids such a call to every thread, 1 thread-local and 2 relaxed; one that also
// waits for the device is forbidden to the thread that captures in each mode.
static Result outside_capture(bool waits) {
    Result result = SUCCESS;
    for (auto& [handle, s] : device().streams.live) {
        if (s->capture == 0) continue;
        const bool own = s->capture_thread == std::this_thread::get_id();
        if (s->capture_mode == 0 || (own && (waits || s->capture_mode == 1))) {
            result = invalidate(*s, CAPTURE_UNSUPPORTED);
        }
    }
    return result;
}

// Runs work now, or records it where the stream captures.
static Result submit(Handle stream, Work work) {
    Stream* s = find_stream(stream);
    if (s == nullptr) return INVALID_HANDLE;
    if (s->capture == 2) return CAPTURE_INVALIDATED;
    if (s->capture == 1) {
        s->nodes.push_back(std::move(work));
        return SUCCESS;
    }
    if (is_default(stream)) {
        // The default stream would wait for a stream that was created without the flag 1.
        for (auto& [handle, other] : device().streams.live) {
            if (other->capture != 0 && other->flags == 0) {
                return invalidate(*other, CAPTURE_IMPLICIT);
            }
        }
    }
    return work();
}

// Device and context.

API cuInit(unsigned flags) {
    std::lock_guard<std::mutex> lock(device().mutex);
    if (flags != 0) return INVALID_VALUE;
    read_settings();
    device().initialized = true;
    return SUCCESS;
}

API cuDriverGetVersion(int* version) {
    *version = 13000;
    return SUCCESS;
}

#define NEED_DEVICE(ordinal)                                \
    std::lock_guard<std::mutex> lock(device().mutex);       \
    if (!device().initialized) return NOT_INITIALIZED;      \
    if ((ordinal) != 0) return INVALID_DEVICE

API cuDeviceGetCount(int* count) {
    NEED_DEVICE(0);
    *count = 1;
    return SUCCESS;
}

API cuDeviceGet(int* out, int ordinal) {
    NEED_DEVICE(ordinal);
    *out = 0;
    return SUCCESS;
}

API cuDeviceGetName(char* name, int room, int ordinal) {
    NEED_DEVICE(ordinal);
    if (room < 1) return INVALID_VALUE;
    std::snprintf(name, (size_t)room, "emulated");
    return SUCCESS;
}

API cuDeviceGetAttribute(int* value, int attribute, int ordinal) {
    NEED_DEVICE(ordinal);
    switch (attribute) {
        case 75: *value = 9; break;                 // major compute capability
        case 76: *value = 0; break;                 // minor compute capability
        case 16: *value = 132; break;               // multiprocessors
        case 97: *value = (int)SHARED_MOST; break;  // shared memory of a block, on request
        case 38: *value = 52428800; break;          // bytes of the L2 cache
        default: *value = 0;
    }
    return SUCCESS;
}

API cuDeviceTotalMem_v2(size_t* bytes, int ordinal) {
    NEED_DEVICE(ordinal);
    *bytes = device().memory_most;
    return SUCCESS;
}

API cuDevicePrimaryCtxRetain(Handle* context, int ordinal) {
    NEED_DEVICE(ordinal);
    if (device().sticky) return device().sticky;
    ++device().contexts;
    *context = &the_context;
    return SUCCESS;
}

API cuDevicePrimaryCtxRelease_v2(int ordinal) {
    NEED_DEVICE(ordinal);
    Device& d = device();
    if (d.contexts == 0) return INVALID_CONTEXT;
    if (--d.contexts == 0) {
        while (!d.allocations.empty()) release(d.allocations.begin());
        d.modules.live.clear();
        d.functions.live.clear();
        d.streams.live.clear();
        d.events.live.clear();
    }
    return d.sticky;
}

API cuCtxSetCurrent(Handle context) {
    NEED_DEVICE(0);
    if (context != nullptr && context != &the_context) return INVALID_CONTEXT;
    current_context = context;
    return device().sticky;
}

API cuCtxSynchronize() {
    ENTER;
    return outside_capture(true);
}

API cuProfilerStart() {
    ENTER;
    return SUCCESS;
}

API cuProfilerStop() {
    ENTER;
    return SUCCESS;
}

// Modules and functions.

API cuModuleLoadData(Handle* module, const void* image) {
    ENTER;
    if (Result e = outside_capture(false)) return e;
    if (image == nullptr) return INVALID_VALUE;
    if (std::strncmp(static_cast<const char*>(image), IMAGE, sizeof IMAGE) != 0) {
        return INVALID_IMAGE;
    }
    *module = d.modules.add({});
    return SUCCESS;
}

API cuModuleUnload(Handle module) {
    ENTER;
    if (Result e = outside_capture(false)) return e;
    Module* m = d.modules.find(module);
    if (m == nullptr) return INVALID_HANDLE;
    for (auto& [name, function] : m->functions) d.functions.remove(function);
    d.modules.remove(module);
    return SUCCESS;
}

API cuModuleGetFunction(Handle* function, Handle module, const char* name) {
    ENTER;
    Module* m = d.modules.find(module);
    if (m == nullptr) return INVALID_HANDLE;
    auto kernel = kernels().find(name);
    if (kernel == kernels().end()) return NOT_FOUND;
    const void*& known = m->functions[name];
    if (known == nullptr) known = d.functions.add({kernel->second, SHARED_DEFAULT});
    *function = const_cast<Handle>(known);
    return SUCCESS;
}

API cuFuncSetAttribute(Handle function, int attribute, int value) {
    ENTER;
    Function* f = d.functions.find(function);
    if (f == nullptr) return INVALID_HANDLE;
    if (attribute == 9) return value >= -1 && value <= 100 ? SUCCESS : INVALID_VALUE;  // carveout
    if (attribute != 8 || value < 0 || (u32)value > SHARED_MOST) return INVALID_VALUE;
    f->shared_most = (u32)value;
    return SUCCESS;
}

// A device fails at a launch, wherever it is submitted from; so the count is of calls.
static Result counted_launch() {
    Device& d = device();
    ++d.launches;
    if (d.launches == d.refusal_at) return LAUNCH_OUT_OF_RESOURCES;
    if (d.launches != d.fault_at) return SUCCESS;
    return fault(LAUNCH_FAILED, "as EVERLEVEL_EMULATED_FAULT asks");
}

API cuLaunchKernel(Handle function, u32 grid_x, u32 grid_y, u32 grid_z, u32 block_x, u32 block_y,
                   u32 block_z, u32 shared, Handle stream, void** params, void** extra) {
    ENTER;
    if (Result e = counted_launch()) return e;
    Function* f = d.functions.find(function);
    if (f == nullptr) return INVALID_HANDLE;
    if (extra != nullptr) return NOT_SUPPORTED;
    if (params == nullptr || params[0] == nullptr) return INVALID_VALUE;
    if (block_x == 0 || block_x > f->kernel->max_threads) return INVALID_VALUE;
    if (block_y != 1 || block_z != 1) return INVALID_VALUE;
    if (grid_x == 0 || grid_x > 0x7fffffff) return INVALID_VALUE;
    if (grid_y == 0 || grid_y > 65535 || grid_z == 0 || grid_z > 65535) return INVALID_VALUE;
    if (shared > f->shared_most) return INVALID_VALUE;
    // The memory of a vector is aligned to the 16 bytes that the parameters may need.
    const char* first = static_cast<const char*>(params[0]);
    std::vector<char> copy(first, first + f->kernel->params_bytes);
    const uint3 grid = {grid_x, grid_y, grid_z};
    return submit(stream, [=, copy = std::move(copy)]() -> Result {
        const Function* live = device().functions.find(function);
        if (live == nullptr) return INVALID_HANDLE;
        return launch(*live->kernel, copy.data(), grid, block_x, shared);
    });
}

#include "memory.h"
#include "streams.h"
#include "nvrtc.h"

}  // namespace emulated
