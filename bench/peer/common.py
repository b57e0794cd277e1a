"""The parts that the Python peers share: the tensors, and the loop that answers the bench."""
import os
import sys
import threading
import time

import numpy as np


def shapes(kind):
    return {
        "big": [(1024, 2560)] * 100,
        "many": [(256,)] * 10000,
        "most": [(256,)] * 100000,
        "one": [(100000, 256)],
    }[kind]


def arrays(kind):
    rng = np.random.default_rng(0)
    return [rng.standard_normal(s, dtype=np.float32) for s in shapes(kind)]


def some(values):
    """About a hundred of them, for the proof that they were read."""
    return values[::max(1, len(values) // 100)]


def batches(folder):
    """The name of a model's input, and its values for batches of 1 and 8."""
    with np.load(os.path.join(folder, "case.npz")) as case:
        (key,) = [k for k in case.files if k.startswith("in:")]
        x = case[key]
    return key[len("in:"):], {size: np.concatenate([x] * ((size + 1) // 2))[:size] for size in (1, 8)}


def at_once(work, callers=2):
    """Do a work in as many threads at once."""
    def run():
        threads = [threading.Thread(target=work) for _ in range(callers)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()

    return run


def serve(verbs):
    """Answer each line of stdin, a verb, with the seconds that it took."""
    print("ready", flush=True)
    for line in sys.stdin:
        work = verbs[line.strip()]
        begin = time.perf_counter()
        work()
        print(time.perf_counter() - begin, flush=True)
