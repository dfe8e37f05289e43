"""Runs a WebAssembly program that uses WASI under wasmtime: ``python wasi.py PROGRAM.wasm``."""

import sys

import wasmtime

engine = wasmtime.Engine()
linker = wasmtime.Linker(engine)
linker.define_wasi()
store = wasmtime.Store(engine)
wasi = wasmtime.WasiConfig()
wasi.inherit_stdout()
wasi.inherit_stderr()
store.set_wasi(wasi)
program = linker.instantiate(store, wasmtime.Module.from_file(engine, sys.argv[1]))
try:
    program.exports(store)["_start"](store)
except wasmtime.ExitTrap as end:
    sys.exit(end.code)
