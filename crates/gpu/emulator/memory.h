// The calls of the driver that concern memory; a part of driver.cpp.

API cuMemAlloc_v2(Pointer* out, size_t bytes) {
    ENTER;
    if (Result e = outside_capture(false)) return e;
    return out == nullptr ? INVALID_VALUE : allocate(out, bytes);
}

API cuMemFree_v2(Pointer p) {
    ENTER;
    if (Result e = outside_capture(false)) return e;
    if (p == 0) return SUCCESS;
    auto at = d.allocations.find(p);
    if (at == d.allocations.end()) return INVALID_VALUE;
    release(at);
    return SUCCESS;
}

API cuMemGetInfo_v2(size_t* available, size_t* total) {
    ENTER;
    *total = d.memory_most;
    *available = d.memory_most - d.memory_used;
    return SUCCESS;
}

static Result copy_in(Pointer to, const void* from, size_t bytes) {
    if (from == nullptr && bytes != 0) return INVALID_VALUE;
    if (Result e = reach(to, bytes)) return e;
    if (bytes != 0) std::memcpy(bytes_at(to), from, bytes);
    return SUCCESS;
}

static Result copy_out(void* to, Pointer from, size_t bytes) {
    if (to == nullptr && bytes != 0) return INVALID_VALUE;
    if (Result e = reach(from, bytes)) return e;
    if (bytes != 0) std::memcpy(to, bytes_at(from), bytes);
    return SUCCESS;
}

API cuMemcpyHtoD_v2(Pointer to, const void* from, size_t bytes) {
    ENTER;
    if (Result e = outside_capture(true)) return e;
    return copy_in(to, from, bytes);
}

API cuMemcpyDtoH_v2(void* to, Pointer from, size_t bytes) {
    ENTER;
    if (Result e = outside_capture(true)) return e;
    return copy_out(to, from, bytes);
}

// A call that a stream records is checked when it is recorded and again whenever it runs, since
// memory may be freed in between.  A recorded copy reads and writes the host's memory when it runs.

API cuMemcpyHtoDAsync_v2(Pointer to, const void* from, size_t bytes, Handle stream) {
    ENTER;
    if (Result e = reach(to, bytes)) return e;
    return submit(stream, [=] { return copy_in(to, from, bytes); });
}

API cuMemcpyDtoHAsync_v2(void* to, Pointer from, size_t bytes, Handle stream) {
    ENTER;
    if (Result e = reach(from, bytes)) return e;
    return submit(stream, [=] { return copy_out(to, from, bytes); });
}

API cuMemcpyDtoDAsync_v2(Pointer to, Pointer from, size_t bytes, Handle stream) {
    ENTER;
    if (Result e = reach(to, bytes)) return e;
    if (Result e = reach(from, bytes)) return e;
    return submit(stream, [=]() -> Result {
        if (Result e = reach(to, bytes)) return e;
        if (Result e = reach(from, bytes)) return e;
        if (bytes != 0) std::memmove(bytes_at(to), bytes_at(from), bytes);
        return SUCCESS;
    });
}

API cuMemsetD8Async(Pointer to, u8 value, size_t count, Handle stream) {
    ENTER;
    if (Result e = reach(to, count)) return e;
    return submit(stream, [=]() -> Result {
        if (Result e = reach(to, count)) return e;
        if (count != 0) std::memset(bytes_at(to), value, count);
        return SUCCESS;
    });
}

API cuMemsetD32Async(Pointer to, u32 value, size_t count, Handle stream) {
    ENTER;
    if (to % 4 != 0 || count > SIZE_MAX / 4) return INVALID_VALUE;
    if (Result e = reach(to, 4 * count)) return e;
    return submit(stream, [=]() -> Result {
        if (Result e = reach(to, 4 * count)) return e;
        if (count != 0) std::fill_n(reinterpret_cast<u32*>(to), count, value);
        return SUCCESS;
    });
}
