// The emulated device behind driver.cpp: its memory, its launches and the objects of the driver.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "emulate.h"

namespace EMULATED_HIDDEN emulated {

// The numbers of the CUDA driver.
enum Result : int {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALIZED = 3,
    INVALID_DEVICE = 101,
    INVALID_IMAGE = 200,
    INVALID_CONTEXT = 201,
    INVALID_HANDLE = 400,
    ILLEGAL_STATE = 401,
    NOT_FOUND = 500,
    ILLEGAL_ADDRESS = 700,
    LAUNCH_OUT_OF_RESOURCES = 701,
    CONTEXT_IS_DESTROYED = 709,
    LAUNCH_FAILED = 719,
    NOT_SUPPORTED = 801,
    CAPTURE_UNSUPPORTED = 900,
    CAPTURE_INVALIDATED = 901,
    CAPTURE_IMPLICIT = 906,
    CAPTURED_EVENT = 907,
    CAPTURE_WRONG_THREAD = 908,
};

typedef unsigned long long Pointer;
typedef std::function<Result()> Work;

constexpr unsigned char FILL = 0xA5;
// Bytes kept around each allocation and after shared memory that no kernel may change.  The bytes
// before an allocation are more than are compared, so that it is aligned as on a device.
constexpr size_t GUARD = 64;
constexpr size_t ALIGNMENT = 256;
constexpr u32 SHARED_DEFAULT = 49152;
constexpr u32 SHARED_MOST = 232448;
constexpr char IMAGE[] = "everlevel emulated image";

struct Function {
    const Kernel* kernel;
    u32 shared_most;
};
struct Module {
    std::map<std::string, const void*> functions;
};
struct Graph {
    std::vector<Work> nodes;
};
struct Stream {
    unsigned flags = 0;
    int capture = 0;  // as cuStreamIsCapturing says: 0 none, 1 active, 2 invalidated
    int capture_mode = 0;
    std::thread::id capture_thread;
    std::vector<Work> nodes;
};
struct Event {
    unsigned flags = 0;
    bool recorded = false;
    bool captured = false;
    double at_ms = 0;
};

// The live objects of one kind.  A handle is an address, which is compared and never followed.
template <class T> struct Table {
    std::map<const void*, std::unique_ptr<T>> live;
    void* add(T value) {
        auto owned = std::make_unique<T>(std::move(value));
        void* handle = owned.get();
        live.emplace(handle, std::move(owned));
        return handle;
    }
    T* find(const void* handle) {
        auto at = live.find(handle);
        return at == live.end() ? nullptr : at->second.get();
    }
    bool remove(const void* handle) { return live.erase(handle) != 0; }
};

struct Device {
    std::mutex mutex;
    bool initialized = false;
    unsigned contexts = 0;
    Result sticky = SUCCESS;
    u64 memory_most = 4ull << 30;
    u64 memory_used = 0;
    u64 fault_at = 0;
    u64 refusal_at = 0;
    u64 launches = 0;
    unsigned threads = 1;
    std::map<Pointer, size_t> allocations;
    Stream null_stream;
    Table<Module> modules;
    Table<Function> functions;
    Table<Stream> streams;
    Table<Event> events;
    Table<Graph> graphs;
    Table<Graph> executables;
};

// Never destroyed: threads of a test may still call the driver while the process ends.
inline Device& device() {
    static auto* it = new Device;
    return *it;
}

inline u64 setting(const char* name, u64 otherwise) {
    const char* text = std::getenv(name);
    return text != nullptr && *text != 0 ? std::strtoull(text, nullptr, 10) : otherwise;
}

inline void read_settings() {
    Device& d = device();
    const char* order = std::getenv("EVERLEVEL_EMULATED_ORDER");
    reversed = order != nullptr && std::strcmp(order, "reversed") == 0;
    d.memory_most = setting("EVERLEVEL_EMULATED_MEMORY", 4ull << 30);
    d.fault_at = setting("EVERLEVEL_EMULATED_FAULT", 0);
    d.refusal_at = setting("EVERLEVEL_EMULATED_REFUSAL", 0);
    d.threads = (unsigned)setting("EVERLEVEL_EMULATED_THREADS", 1);
    if (d.threads == 0) d.threads = 1;
}

// A fault of the device: this and every later call returns it.
inline Result fault(Result code, const char* what) {
    std::fprintf(stderr, "emulated device: fault %d: %s\n", (int)code, what);
    device().sticky = code;
    return code;
}

inline unsigned char* bytes_at(Pointer p) { return reinterpret_cast<unsigned char*>(p); }

inline Result allocate(Pointer* out, size_t bytes) {
    Device& d = device();
    if (bytes == 0) return INVALID_VALUE;
    if (bytes > d.memory_most - d.memory_used) return OUT_OF_MEMORY;
    size_t whole = ALIGNMENT + bytes + GUARD;
    whole = (whole + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    void* start = std::aligned_alloc(ALIGNMENT, whole);
    if (start == nullptr) return OUT_OF_MEMORY;
    std::memset(start, FILL, whole);
    *out = reinterpret_cast<Pointer>(start) + ALIGNMENT;
    d.allocations[*out] = bytes;
    d.memory_used += bytes;
    return SUCCESS;
}

inline bool guard_whole(const unsigned char* guard) {
    for (size_t i = 0; i < GUARD; ++i) {
        if (guard[i] != FILL) return false;
    }
    return true;
}

inline bool guards_whole() {
    for (const auto& [start, bytes] : device().allocations) {
        if (!guard_whole(bytes_at(start) - GUARD)) return false;
        if (!guard_whole(bytes_at(start) + bytes)) return false;
    }
    return true;
}

inline void release(std::map<Pointer, size_t>::iterator at) {
    device().memory_used -= at->second;
    std::free(bytes_at(at->first) - ALIGNMENT);
    device().allocations.erase(at);
}

// Whether bytes lie within one live allocation; a fault where they do not.
inline Result reach(Pointer p, size_t bytes) {
    if (bytes == 0) return SUCCESS;
    auto& all = device().allocations;
    auto after = all.upper_bound(p);
    if (after != all.begin()) {
        auto [start, held] = *std::prev(after);
        const size_t offset = p - start;
        if (offset < held && bytes <= held - offset) return SUCCESS;
    }
    return fault(ILLEGAL_ADDRESS, "a copy or fill leaves the memory that is allocated");
}

// Runs a part of a launch's blocks on this thread of the operating system.
inline void run_blocks(const Kernel& kernel, const void* params, uint3 grid, u32 threads,
                       u32 shared, u64 begin, u64 end) {
    std::unique_ptr<unsigned char, void (*)(void*)> memory(
        static_cast<unsigned char*>(std::aligned_alloc(128, (shared + GUARD + 127) / 128 * 128)),
        std::free);
    gridDim = grid;
    blockDim = {threads, 1, 1};
    const u64 count = (u64)grid.x * grid.y * grid.z;
    for (u64 i = begin; i < end; ++i) {
        const u64 at = reversed ? count - 1 - i : i;
        blockIdx = {(u32)(at % grid.x), (u32)(at / grid.x % grid.y),
                    (u32)(at / grid.x / grid.y)};
        threadIdx = {NO_THREAD, 0, 0};
        block = {memory.get(), false};
        std::memset(memory.get(), FILL, shared + GUARD);
        kernel.run(params);
        if (!guard_whole(memory.get() + shared)) misuse("it writes beyond its shared memory");
    }
}

inline Result launch(const Kernel& kernel, const void* params, uint3 grid, u32 threads,
                     u32 shared) {
    running = kernel.name;
    const u64 count = (u64)grid.x * grid.y * grid.z;
    const u64 workers = std::min<u64>(device().threads, count);
    std::vector<std::thread> others;
    for (u64 w = 1; w < workers; ++w) {
        others.emplace_back(run_blocks, std::cref(kernel), params, grid, threads, shared,
                            count * w / workers, count * (w + 1) / workers);
    }
    run_blocks(kernel, params, grid, threads, shared, 0, count / workers);
    for (auto& other : others) other.join();
    if (misused) return fault(LAUNCH_FAILED, kernel.name);
    if (!guards_whole()) return fault(ILLEGAL_ADDRESS, kernel.name);
    return SUCCESS;
}

}  // namespace emulated
