// The calls of NVRTC; a part of driver.cpp.  The kernels are already in this library, so that
// compilation only hands out the image that cuModuleLoadData accepts.

enum NvrtcResult : int {
    NVRTC_SUCCESS = 0,
    NVRTC_INVALID_INPUT = 3,
    NVRTC_INVALID_PROGRAM = 4,
};

struct Program {
    bool compiled = false;
};

struct Programs {
    std::mutex mutex;
    Table<Program> table;
};

static Programs& programs() {
    static auto* it = new Programs;
    return *it;
}

#define ENTER_PROGRAM(handle)                               \
    std::lock_guard<std::mutex> lock(programs().mutex);     \
    Program* program = programs().table.find(handle);       \
    if (program == nullptr) return NVRTC_INVALID_PROGRAM

API nvrtcVersion(int* major, int* minor) {
    *major = 13;
    *minor = 0;
    return NVRTC_SUCCESS;
}

API nvrtcCreateProgram(Handle* program, const char* source, const char*, int headers,
                       const char* const*, const char* const*) {
    if (program == nullptr || source == nullptr || headers < 0) return NVRTC_INVALID_INPUT;
    std::lock_guard<std::mutex> lock(programs().mutex);
    *program = programs().table.add({});
    return NVRTC_SUCCESS;
}

API nvrtcCompileProgram(Handle handle, int count, const char* const* options) {
    ENTER_PROGRAM(handle);
    if (count < 0 || (count > 0 && options == nullptr)) return NVRTC_INVALID_INPUT;
    program->compiled = true;
    return NVRTC_SUCCESS;
}

static int image_bytes(Handle handle, size_t* bytes) {
    ENTER_PROGRAM(handle);
    if (!program->compiled) return NVRTC_INVALID_PROGRAM;
    *bytes = sizeof IMAGE;
    return NVRTC_SUCCESS;
}

static int image(Handle handle, char* out) {
    ENTER_PROGRAM(handle);
    if (!program->compiled) return NVRTC_INVALID_PROGRAM;
    std::memcpy(out, IMAGE, sizeof IMAGE);
    return NVRTC_SUCCESS;
}

API nvrtcGetCUBINSize(Handle handle, size_t* bytes) { return image_bytes(handle, bytes); }
API nvrtcGetCUBIN(Handle handle, char* out) { return image(handle, out); }
API nvrtcGetPTXSize(Handle handle, size_t* bytes) { return image_bytes(handle, bytes); }
API nvrtcGetPTX(Handle handle, char* out) { return image(handle, out); }

// The log is empty; its size counts the zero at its end.
API nvrtcGetProgramLogSize(Handle handle, size_t* bytes) {
    ENTER_PROGRAM(handle);
    *bytes = 1;
    return NVRTC_SUCCESS;
}

API nvrtcGetProgramLog(Handle handle, char* out) {
    ENTER_PROGRAM(handle);
    *out = 0;
    return NVRTC_SUCCESS;
}

API nvrtcDestroyProgram(Handle* handle) {
    if (handle == nullptr) return NVRTC_INVALID_INPUT;
    std::lock_guard<std::mutex> lock(programs().mutex);
    if (!programs().table.remove(*handle)) return NVRTC_INVALID_PROGRAM;
    *handle = nullptr;
    return NVRTC_SUCCESS;
}

extern "C" __attribute__((visibility("default"))) const char* nvrtcGetErrorString(int code) {
    switch (code) {
        case NVRTC_SUCCESS: return "NVRTC_SUCCESS";
        case NVRTC_INVALID_INPUT: return "NVRTC_ERROR_INVALID_INPUT";
        case NVRTC_INVALID_PROGRAM: return "NVRTC_ERROR_INVALID_PROGRAM";
        default: return "NVRTC_ERROR unknown";
    }
}
