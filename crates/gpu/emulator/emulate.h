// The part of the CUDA language that kernels.cu uses, for an ordinary C++ compiler.
//
// A kernel is a plain function that runs one block.  Its body is a sequence of phases with a
// barrier between each two; a phase is a loop over the threads of the block, and no variable of a
// thread lives from one phase to the next.  The checks below report what the loop would hide:
// two phases without a barrier between them, a barrier or a phase inside a phase, and a `return`
// out of a phase (on a device it ends one thread, here it would end the whole block).
#pragma once

#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <type_traits>

typedef unsigned long long u64;
typedef unsigned int u32;
typedef unsigned short u16;
typedef unsigned char u8;
typedef long long i64;

#define __host__
#define __device__
#define __constant__
#define __forceinline__ inline __attribute__((always_inline))

// The library is loaded with dlopen, where the default access to a thread's variable is a function
// call.  These few words fit the room that glibc keeps for libraries that are loaded late.
#define EMULATED_THREAD_LOCAL static thread_local __attribute__((tls_model("initial-exec")))

// Two copies of the library in one process, one as the driver and one as NVRTC, stay apart only if
// their inline functions and variables are not symbols that the loader may share.
#define EMULATED_HIDDEN __attribute__((visibility("hidden")))

struct uint3 {
    u32 x, y, z;
};
struct alignas(8) uint2 {
    u32 x, y;
};
struct alignas(16) uint4 {
    u32 x, y, z, w;
};
struct alignas(16) ulonglong2 {
    u64 x, y;
};
struct alignas(16) double2 {
    double x, y;
};

EMULATED_THREAD_LOCAL uint3 threadIdx;
EMULATED_THREAD_LOCAL uint3 blockIdx;
EMULATED_THREAD_LOCAL uint3 blockDim;
EMULATED_THREAD_LOCAL uint3 gridDim;

namespace EMULATED_HIDDEN emulated {

// The value of threadIdx.x outside a phase, where code stands for the whole block: no comparison
// with a thread's number holds, so that a use shows.
constexpr u32 NO_THREAD = 0xffffffffu;

// What a kernel does in the block that this thread of the operating system runs.
struct Block {
    unsigned char* shared;
    bool phase_ended;
};
EMULATED_THREAD_LOCAL Block block;

// Set from the environment before a launch and by a kernel during it.
static bool reversed = false;
static const char* running = "";
static std::atomic<bool> misused{false};

inline void misuse(const char* what) {
    if (!misused.exchange(true)) {
        std::fprintf(stderr, "emulated device: kernel %s: %s\n", running, what);
    }
}

class Phase {
  public:
    Phase() {
        if (threadIdx.x != NO_THREAD) misuse("a phase begins inside a phase");
        if (block.phase_ended) misuse("no barrier stands between two phases");
    }
    Phase(const Phase&) = delete;
    Phase& operator=(const Phase&) = delete;
    bool next() {
        if (done_ == blockDim.x) {
            ended_ = true;
            return false;
        }
        threadIdx.x = reversed ? blockDim.x - 1 - done_ : done_;
        ++done_;
        return true;
    }
    ~Phase() {
        if (!ended_) misuse("a return or break leaves a phase, which skips its other threads");
        threadIdx.x = NO_THREAD;
        block.phase_ended = true;
    }

  private:
    u32 done_ = 0;
    bool ended_ = false;
};

inline void barrier() {
    if (threadIdx.x != NO_THREAD) misuse("a barrier stands inside a phase");
    block.phase_ended = false;
}

struct Kernel {
    const char* name;
    void (*run)(const void* params);
    size_t params_bytes;
    u32 max_threads;
};

inline std::map<std::string, const Kernel*>& kernels() {
    static auto* table = new std::map<std::string, const Kernel*>;
    return *table;
}

struct Registration {
    Kernel kernel;
    explicit Registration(const Kernel& k) : kernel(k) { kernels()[k.name] = &kernel; }
};

// A device copies the parameters as bytes, and accepts at most 32764 of them.
template <class Args> constexpr size_t params_bytes() {
    static_assert(std::is_trivially_copyable<Args>::value, "parameters are copied as bytes");
    static_assert(sizeof(Args) <= 32764, "a device accepts no more bytes of parameters");
    static_assert(alignof(Args) <= 16, "the emulated driver aligns parameters to 16 bytes");
    return sizeof(Args);
}

}  // namespace emulated

#define DEVICE __device__ __forceinline__
#define KERNEL(name, Args) KERNEL_BOUND(name, Args, 1024, 1)
#define KERNEL_BOUND(name, Args, threads, blocks)                                                 \
    static_assert((threads) >= 1 && (threads) <= 1024 && (blocks) >= 1, "bounds of " #name);      \
    static void name(const Args& a);                                                              \
    static void name##_with(const void* params) { name(*static_cast<const Args*>(params)); }      \
    static const emulated::Registration name##_registration(                                      \
        {#name, name##_with, emulated::params_bytes<Args>(), (threads)});                         \
    static void name(const Args& a)
#define PHASE for (emulated::Phase emulated_phase; emulated_phase.next();)
#define BARRIER emulated::barrier();
#define SHARED(T, name) T* name = reinterpret_cast<T*>(emulated::block.shared);

// Intrinsics.  Those that end in _rn round once, to nearest even; the file is compiled with
// -ffp-contract=off so that the compiler fuses no product with a sum.

DEVICE u64 __umul64hi(u64 a, u64 b) { return (u64)(((unsigned __int128)a * b) >> 64); }
DEVICE u32 __umulhi(u32 a, u32 b) { return (u32)(((u64)a * b) >> 32); }
DEVICE int __popc(u32 a) { return __builtin_popcount(a); }
DEVICE int __popcll(u64 a) { return __builtin_popcountll(a); }
DEVICE int __clz(int a) { return a == 0 ? 32 : __builtin_clz((u32)a); }
DEVICE int __clzll(i64 a) { return a == 0 ? 64 : __builtin_clzll((u64)a); }
DEVICE int __ffs(int a) { return __builtin_ffs(a); }
DEVICE int __ffsll(i64 a) { return __builtin_ffsll(a); }
inline u64 __brevll(u64 a) {
    u64 r = 0;
    for (int i = 0; i < 64; ++i) r |= ((a >> i) & 1) << (63 - i);
    return r;
}
DEVICE u32 __brev(u32 a) { return (u32)(__brevll(a) >> 32); }

DEVICE double __dadd_rn(double a, double b) { return a + b; }
DEVICE double __dsub_rn(double a, double b) { return a - b; }
DEVICE double __dmul_rn(double a, double b) { return a * b; }
DEVICE double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }
DEVICE double __ull2double_rn(u64 a) { return (double)a; }
DEVICE double __ll2double_rn(i64 a) { return (double)a; }

// A device gives the nearest integer of the type for what lies outside it, and the top bit alone
// for NaN; a C++ cast leaves both undefined.
inline u64 __double2ull_rn(double a) {
    if (std::isnan(a)) return 1ull << 63;
    const double r = std::nearbyint(a);
    if (r <= 0.0) return 0;
    return r >= 0x1p64 ? ~0ull : (u64)r;
}
inline i64 __double2ll_rn(double a) {
    const i64 least = -0x7fffffffffffffffll - 1;
    if (std::isnan(a)) return least;
    const double r = std::nearbyint(a);
    if (r < -0x1p63) return least;
    return r >= 0x1p63 ? 0x7fffffffffffffffll : (i64)r;
}
DEVICE double __longlong_as_double(i64 a) {
    double r;
    std::memcpy(&r, &a, sizeof r);
    return r;
}
DEVICE i64 __double_as_longlong(double a) {
    i64 r;
    std::memcpy(&r, &a, sizeof r);
    return r;
}

template <class T> DEVICE T __ldg(const T* p) { return *p; }

DEVICE uint2 make_uint2(u32 x, u32 y) { return {x, y}; }
DEVICE uint4 make_uint4(u32 x, u32 y, u32 z, u32 w) { return {x, y, z, w}; }
DEVICE ulonglong2 make_ulonglong2(u64 x, u64 y) { return {x, y}; }
DEVICE double2 make_double2(double x, double y) { return {x, y}; }

// The overloads of CUDA, where a mixture of signs is taken as unsigned.
#define EMULATED_LEAST_MOST(T, A, B)                                                              \
    DEVICE T min(A a, B b) { return (T)a < (T)b ? (T)a : (T)b; }                                  \
    DEVICE T max(A a, B b) { return (T)a > (T)b ? (T)a : (T)b; }
EMULATED_LEAST_MOST(int, int, int)
EMULATED_LEAST_MOST(u32, u32, u32)
EMULATED_LEAST_MOST(u32, int, u32)
EMULATED_LEAST_MOST(u32, u32, int)
EMULATED_LEAST_MOST(i64, i64, i64)
EMULATED_LEAST_MOST(u64, u64, u64)
EMULATED_LEAST_MOST(u64, i64, u64)
EMULATED_LEAST_MOST(u64, u64, i64)
DEVICE double min(double a, double b) { return std::fmin(a, b); }
DEVICE double max(double a, double b) { return std::fmax(a, b); }
