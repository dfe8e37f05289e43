// The calls of the driver that concern streams, graphs, events and errors; a part of driver.cpp.

API cuStreamCreate(Handle* stream, unsigned flags) {
    ENTER;
    if (flags > 1) return INVALID_VALUE;
    Stream made;
    made.flags = flags;
    *stream = d.streams.add(std::move(made));
    return SUCCESS;
}

API cuStreamDestroy_v2(Handle stream) {
    ENTER;
    return d.streams.remove(stream) ? SUCCESS : INVALID_HANDLE;
}

API cuStreamSynchronize(Handle stream) {
    ENTER;
    Stream* s = find_stream(stream);
    if (s == nullptr) return INVALID_HANDLE;
    if (s->capture != 0) return invalidate(*s, CAPTURE_UNSUPPORTED);
    return is_default(stream) ? outside_capture(true) : SUCCESS;
}

API cuStreamBeginCapture_v2(Handle stream, int mode) {
    ENTER;
    Stream* s = find_stream(stream);
    if (s == nullptr) return INVALID_HANDLE;
    if (mode < 0 || mode > 2) return INVALID_VALUE;
    if (is_default(stream)) return CAPTURE_UNSUPPORTED;
    if (s->capture != 0) return ILLEGAL_STATE;
    s->capture = 1;
    s->capture_mode = mode;
    s->capture_thread = std::this_thread::get_id();
    return SUCCESS;
}

API cuStreamEndCapture(Handle stream, Handle* graph) {
    ENTER;
    *graph = nullptr;
    Stream* s = find_stream(stream);
    if (s == nullptr) return INVALID_HANDLE;
    if (s->capture == 0) return ILLEGAL_STATE;
    if (s->capture_mode != 2 && s->capture_thread != std::this_thread::get_id()) {
        return CAPTURE_WRONG_THREAD;
    }
    const bool whole = s->capture == 1;
    s->capture = 0;
    std::vector<Work> nodes;
    nodes.swap(s->nodes);
    if (!whole) return CAPTURE_INVALIDATED;
    *graph = d.graphs.add({std::move(nodes)});
    return SUCCESS;
}

API cuStreamIsCapturing(Handle stream, int* status) {
    ENTER;
    Stream* s = find_stream(stream);
    if (s == nullptr) return INVALID_HANDLE;
    *status = s->capture;
    return SUCCESS;
}

// Graphs.

API cuGraphInstantiateWithFlags(Handle* executable, Handle graph, u64) {
    ENTER;
    Graph* g = d.graphs.find(graph);
    if (g == nullptr) return INVALID_HANDLE;
    *executable = d.executables.add(*g);
    return SUCCESS;
}

API cuGraphLaunch(Handle executable, Handle stream) {
    ENTER;
    Graph* g = d.executables.find(executable);
    Stream* s = find_stream(stream);
    if (g == nullptr || s == nullptr) return INVALID_HANDLE;
    if (s->capture != 0) return invalidate(*s, CAPTURE_UNSUPPORTED);
    return submit(stream, [g]() -> Result {
        for (const Work& work : g->nodes) {
            if (Result e = work()) return e;
        }
        return SUCCESS;
    });
}

API cuGraphExecDestroy(Handle executable) {
    ENTER;
    return d.executables.remove(executable) ? SUCCESS : INVALID_HANDLE;
}

API cuGraphDestroy(Handle graph) {
    ENTER;
    return d.graphs.remove(graph) ? SUCCESS : INVALID_HANDLE;
}

API cuGraphGetNodes(Handle graph, Handle* nodes, size_t* count) {
    ENTER;
    Graph* g = d.graphs.find(graph);
    if (g == nullptr) return INVALID_HANDLE;
    if (count == nullptr) return INVALID_VALUE;
    if (nodes != nullptr) return NOT_SUPPORTED;  // a node has no handle here, only a number
    *count = g->nodes.size();
    return SUCCESS;
}

// Events.

API cuEventCreate(Handle* event, unsigned flags) {
    ENTER;
    Event made;
    made.flags = flags;
    *event = d.events.add(made);
    return SUCCESS;
}

API cuEventRecord(Handle event, Handle stream) {
    ENTER;
    Event* e = d.events.find(event);
    Stream* s = find_stream(stream);
    if (e == nullptr || s == nullptr) return INVALID_HANDLE;
    if (s->capture == 2) return CAPTURE_INVALIDATED;
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    e->recorded = true;
    e->captured = s->capture == 1;
    e->at_ms = std::chrono::duration<double, std::milli>(now).count();
    return SUCCESS;
}

API cuEventSynchronize(Handle event) {
    ENTER;
    Event* e = d.events.find(event);
    if (e == nullptr) return INVALID_HANDLE;
    return e->captured ? CAPTURED_EVENT : SUCCESS;
}

API cuEventElapsedTime(float* ms, Handle begin, Handle end) {
    ENTER;
    constexpr unsigned WITHOUT_TIMING = 2;
    Event* a = d.events.find(begin);
    Event* b = d.events.find(end);
    if (a == nullptr || b == nullptr || !a->recorded || !b->recorded) return INVALID_HANDLE;
    if ((a->flags | b->flags) & WITHOUT_TIMING) return INVALID_HANDLE;
    if (a->captured || b->captured) return CAPTURED_EVENT;
    *ms = (float)(b->at_ms - a->at_ms);
    return SUCCESS;
}

API cuEventDestroy_v2(Handle event) {
    ENTER;
    return d.events.remove(event) ? SUCCESS : INVALID_HANDLE;
}

// Errors.

struct ErrorText {
    int code;
    const char* name;
    const char* text;
};

static const ErrorText ERRORS[] = {
    {SUCCESS, "CUDA_SUCCESS", "no error"},
    {INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {ILLEGAL_STATE, "CUDA_ERROR_ILLEGAL_STATE",
     "the operation cannot be performed in the present state"},
    {NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {LAUNCH_OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
     "too many resources requested for launch"},
    {CONTEXT_IS_DESTROYED, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed"},
    {LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {CAPTURE_INVALIDATED, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
     "operation failed due to a previous error during capture"},
    {CAPTURE_IMPLICIT, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT",
     "operation would make the legacy stream depend on a capturing blocking stream"},
    {CAPTURED_EVENT, "CUDA_ERROR_CAPTURED_EVENT",
     "operation not permitted on an event last recorded in a capturing stream"},
    {CAPTURE_WRONG_THREAD, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD",
     "attempt to terminate a thread-local capture sequence from another thread"},
};

static const ErrorText* error_text(int code) {
    for (const ErrorText& e : ERRORS) {
        if (e.code == code) return &e;
    }
    return nullptr;
}

API cuGetErrorName(int code, const char** name) {
    const ErrorText* e = error_text(code);
    *name = e == nullptr ? nullptr : e->name;
    return e == nullptr ? INVALID_VALUE : SUCCESS;
}

API cuGetErrorString(int code, const char** text) {
    const ErrorText* e = error_text(code);
    *text = e == nullptr ? nullptr : e->text;
    return e == nullptr ? INVALID_VALUE : SUCCESS;
}
