"""The process that serves one model file on loopback, and that ends when its parent does, however that ends."""

import importlib
import json
import os
import sys
import threading
import time
from typing import Any

LOOPBACK = "127.0.0.1"
LOG_ERRORS_ONLY = 1
LOG_SECONDS = 0.5  # the library writes its log, and why it failed, from a thread of its own
HTTP_THREADS = 4  # beside those that compute: a request that streams holds one
MOST_THREADS = 8  # that compute: one a core, and no more than help
SLOTS = 2  # a review beside the conversation that it is a fork of
CACHE_MIB = 1024


def main() -> None:
    """Serve what the first line of standard input describes; say where on standard output; end with the input."""
    order = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    library = importlib.import_module("xllamacpp")  # large, and reads the environment: only this process loads it
    try:
        server = library.Server(_parameters(library, order))
    except RuntimeError as error:
        time.sleep(LOG_SECONDS)
        sys.stderr.write(f"{error}\n")
        sys.exit(1)
    sys.stdout.write(f"{json.dumps({'address': server.listening_address})}\n")
    sys.stdout.flush()
    threading.Event().wait()


def _end_with_parent() -> None:
    """A pipe closes with the process that holds its other end, even where that is killed."""
    while os.read(sys.stdin.fileno(), 1024):
        continue
    os._exit(0)


def _parameters(library: Any, order: dict[str, Any]) -> Any:
    made = library.CommonParams()
    made.model.path = order["path"]
    made.model_alias = {order["name"]}
    made.hostnames = [LOOPBACK]
    made.port = 0
    made.api_keys = [order["key"]]
    made.n_threads_http = HTTP_THREADS
    made.ui = False
    made.verbosity = LOG_ERRORS_ONLY
    made.n_ctx = order["context_tokens"]
    # One store of tokens for all slots; an idle slot's are put aside in memory, and come back when they are asked for.
    made.n_parallel = SLOTS
    made.kv_unified = True
    made.cache_idle_slots = True
    made.cache_prompt = True
    made.cache_ram_mib = CACHE_MIB
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    made.cpuparams.n_threads = made.cpuparams_batch.n_threads = min(cores, MOST_THREADS)
    made.warmup = False
    made.fit_params = False  # else it may silently take a shorter context than it was told
    if order["template"]:
        made.chat_template = order["template"]
    return made


if __name__ == "__main__":
    main()
