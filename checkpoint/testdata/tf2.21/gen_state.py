#!/usr/bin/env python3
"""Records the results of TensorFlow 2.21 for state files, managers and shard policies.

Writes, below the directory of this script:
  state/update.json      update_checkpoint_state: arguments and the text written
  state/read.json        get_checkpoint_state: text, directory and the completed paths
  state/sequences.json   CheckpointManager over scripted and random sequences:
                         files, state text and lists after every operation
  state/shards/<case>/   checkpoints written with MaxShardSizePolicy
  state/shards.json      the tensors that they contain

Run with a Python that has tensorflow 2.21.0: python gen_state.py
"""
import glob
import json
import os
import random
import shutil
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
import numpy as np
import tensorflow as tf
from tensorflow.python.checkpoint import checkpoint_management as cm
from tensorflow.python.checkpoint.sharding import sharding_policies

assert tf.__version__.startswith("2.21"), tf.__version__
HERE = os.path.dirname(os.path.abspath(__file__))
OUT = os.path.join(HERE, "state")


def dump(name, value):
    with open(os.path.join(OUT, name), "w") as f:
        f.write("[\n" + ",\n".join(json.dumps(v, separators=(",", ":")) for v in value) + "\n]\n")


def update():
    """Arguments of update_checkpoint_state and the text that it writes."""
    cases = []
    captured = []
    real = cm.file_io.atomic_write_string_to_file
    cm.file_io.atomic_write_string_to_file = lambda name, text: captured.append(text)
    odd = 'o"d\'d\\ \n\t\x01\x7fé漢😀'
    for dir_ in ["/models/run", "run", "./run", "a/b", "."]:
        for model, paths in [
            ("run/ckpt-1", []),
            ("run/ckpt-2", ["run/ckpt-1", "run/ckpt-2"]),
            ("run/ckpt-3", ["run/ckpt-1"]),
            ("ckpt-1", ["/elsewhere/ckpt-0", "other/ckpt-0"]),
            (odd, []),
            ("sub/ckpt-1", ["../up/ckpt-0"]),
        ]:
            for stamps, last in [(None, None), ([1.5, 1732158522.1234567, 1e16], 1732158522.25)]:
                for relative in [False, True]:
                    full = list(paths)
                    if not full or full[-1] != model:
                        full.append(model)
                    st = None if stamps is None else stamps[: len(full)]
                    if relative and dir_ != "/models/run" and any(p.startswith("/") for p in full):
                        continue  # TensorFlow applies relpath twice there, and writes a path that leads nowhere
                    captured.clear()
                    cm.update_checkpoint_state_internal(
                        dir_, model, list(paths), save_relative_paths=relative,
                        all_model_checkpoint_timestamps=st, last_preserved_timestamp=last)
                    cases.append(dict(dir=dir_, model=model, paths=paths, stamps=st or [], last=last or 0,
                                      relative=relative, text=captured[0]))
    for model, all_ in [("/models/run/ckpt-2", ["/models/run/ckpt-1", "/models/old/ckpt-0", "/models/run/ckpt-2"])]:
        for relative in [False, True]:
            captured.clear()
            cm.update_checkpoint_state_internal("/models/run", model, list(all_), save_relative_paths=relative)
            cases.append(dict(dir="/models/run", model=model, paths=all_, stamps=[], last=0, relative=relative, text=captured[0]))
    cm.file_io.atomic_write_string_to_file = real
    dump("update.json", cases)


def read():
    """Texts and the results of get_checkpoint_state; null if it ignores the file."""
    cases = []
    exists, load = cm.file_io.file_exists, cm.file_io.read_file_to_string
    cm.file_io.file_exists = lambda name: True
    for text in [
        'model_checkpoint_path: "ckpt-1"\nall_model_checkpoint_paths: "ckpt-0"\nall_model_checkpoint_paths: "/abs/ckpt-1"\n',
        'model_checkpoint_path: "./model.ckpt-687529"\nall_model_checkpoint_paths: "./model.ckpt-687500"\nall_model_checkpoint_paths: "./model.ckpt-687529"\n',
        "model_checkpoint_path: '/x/a' # comment\nall_model_checkpoint_paths: ['b', \"c\" \"d\"]\nlast_preserved_timestamp: 1e3\n",
        'model_checkpoint_path: "\\303\\251\\n\\\\"; all_model_checkpoint_timestamps: [1, 2.5, 1e400]',
        "", "model_checkpoint_path: ", 'model_checkpoint_path "x"', "all_model_checkpoint_paths: 'x'", "{}", 'unknown: 1 model_checkpoint_path: "a"',
    ]:
        for dir_ in ["run", "/models/run/", "."]:
            cm.file_io.read_file_to_string = lambda name: text
            case = dict(text=text, dir=dir_)
            try:
                s = cm.get_checkpoint_state(dir_)
            except ValueError:
                case["error"] = "incomplete"
            else:
                if s is None:
                    case["error"] = "ignored"
                else:
                    case.update(model=s.model_checkpoint_path, paths=list(s.all_model_checkpoint_paths),
                                stamps=[str(t) for t in s.all_model_checkpoint_timestamps], last=s.last_preserved_timestamp)
            cases.append(case)
    cm.file_io.file_exists, cm.file_io.read_file_to_string = exists, load
    dump("read.json", cases)


class Clock:
    now = 1700000000.0


class Run:
    """A scripted life of managers in one directory."""

    def __init__(self, directory):
        self.dir = directory
        self.step = tf.Variable(0, dtype=tf.int64, name="step")
        self.fresh()

    def fresh(self):
        self.ck = tf.train.Checkpoint(step=self.step)

    def do(self, op):
        kind = op["op"]
        result = None
        if kind == "manager":
            self.manager = tf.train.CheckpointManager(
                self.ck, self.dir, max_to_keep=op.get("max"), keep_checkpoint_every_n_hours=op.get("hours"),
                checkpoint_name=op.get("name", "ckpt"), checkpoint_interval=op.get("interval"),
                step_counter=self.step if op.get("interval") else None, last_checkpoint_step=op.get("last_step"))
        elif kind == "save":
            result = self.manager.save(checkpoint_number=op.get("number"), check_interval=not op.get("force", False))
        elif kind == "plain":
            result = self.ck.save(os.path.join(self.dir, op.get("name", "ckpt")))
        elif kind == "clock":
            Clock.now += op["by"]
        elif kind == "step":
            self.step.assign_add(op["by"])
        elif kind == "fresh":
            self.fresh()
        elif kind == "restore":
            result = self.manager.restore_or_initialize()
        else:
            raise ValueError(kind)
        return result

    def look(self, op, result):
        files = sorted(os.path.relpath(f, self.dir) for f in glob.glob(os.path.join(self.dir, "**"), recursive=True) if os.path.isfile(f))
        state = None
        if os.path.exists(os.path.join(self.dir, "checkpoint")):
            with open(os.path.join(self.dir, "checkpoint")) as f:
                state = f.read()
        m = getattr(self, "manager", None)
        return dict(op, result=result, files=files, state=state, step_now=int(self.step.numpy()),
                    counter=int(self.ck.save_counter.numpy()),
                    checkpoints=m.checkpoints if m else [], latest=m.latest_checkpoint if m else None)


def scripts():
    M = lambda **k: dict(op="manager", **k)
    S = dict(op="save")
    C = lambda by: dict(op="clock", by=by)
    T = lambda by: dict(op="step", by=by)
    F, R, P = dict(op="fresh"), dict(op="restore"), dict(op="plain")
    yield "deletion", [M(max=3)] + [S, C(1)] * 6
    yield "keep_all", [M(max=None)] + [S, C(1)] * 5 + [M(max=None), S, M(max=3), S, S]
    yield "keep_every", [M(max=2, hours=3 / 3600), *[S, C(1.25)] * 8, M(max=2, hours=3 / 3600), *[S, C(1.25)] * 4, M(max=1), S, C(2), S]
    yield "three_lives", [M(max=1, hours=2), S, C(3600 * 2.5), S, C(3600), S, C(3600 * 3), S, M(max=1, hours=3), S, C(3600 * 4), S, C(60), S, M(max=1), S, C(7200 * 9), S]
    yield "unmanaged", [P, P, C(5), M(max=1), S, C(1), S, C(1), S]
    yield "plain_after", [M(max=2), S, C(1), S, P, C(1), M(max=2), S]
    yield "clock_reset", [M(max=1, hours=1), S, C(4000), S, C(4000), S, C(-20000), M(max=1, hours=1), S, C(1), S, C(5000), S, C(5000), S]
    yield "numbers", [M(max=3), dict(S, number=5), dict(S, number=7), dict(S, number=5), S, C(1), dict(S, number=7), dict(S, number=10), dict(S, number=0)]
    yield "names", [M(max=1, name="model"), S, C(1), S, M(max=2, name="other"), S, S]
    yield "interval", [T(1), M(max=3, interval=2), S, T(1), S, T(1), S, dict(S, force=True), T(1), dict(S, force=True), S]
    yield "interval_last", [M(max=3, interval=2, last_step=-1), S, T(1), S, T(2), S, M(max=3, interval=2, last_step=100), S, dict(S, force=True)]
    yield "interval_restore", [M(max=3, interval=2), S, T(3), S, F, M(max=3, interval=2), R, S, T(1), S, T(1), S]
    yield "restore_and_on", [M(max=2), R, S, C(1), S, F, M(max=2), R, S, C(1), S]
    yield "start_again", [M(max=2), S, C(1), S, C(1), S, F, M(max=2), S, C(1), S, C(1), S]
    yield "sub_folder", [M(max=1, name="sub/ckpt"), S, C(1), S]
    for seed in range(24):
        rnd = random.Random(seed)
        ops = [M(max=rnd.choice([None, 1, 2, 3]), hours=rnd.choice([None, 1, 0.5]))]
        for _ in range(rnd.randrange(6, 18)):
            ops.append(rnd.choice([S, S, S, S, C(rnd.choice([1, 1000, 1800, 4000.125])), C(900), T(1), dict(S, number=rnd.randrange(6)), P,
                                   M(max=rnd.choice([None, 1, 2, 3]), hours=rnd.choice([None, 1, 0.5])), R, F, C(-3000)]))
        yield "random_%02d" % seed, ops


def sequences():
    cm.time.time = lambda: Clock.now
    out = []
    for name, ops in scripts():
        with tempfile.TemporaryDirectory() as tmp:
            os.chdir(tmp)
            Clock.now = 1700000000.0
            run, looks = Run("run"), []
            for op in ops:
                looks.append(run.look(op, run.do(op)))
                Clock.now += 0.125
            out.append(dict(name=name, ops=looks))
            os.chdir("/")
    dump("sequences.json", out)


def shards():
    f = lambda *s: np.arange(int(np.prod(s)), dtype=np.float32).reshape(s)
    cases = [
        ("vector", 300, {"a": f(100)}),
        ("two", 48, {"a": f(10), "b": f(5, 4), "c": np.float32(3)}),
        ("exact", 40, {"a": f(10), "b": f(10)}),
        ("wide", 300, {"a": f(2, 100)}),
        ("matrix", 44, {"a": f(7, 5), "b": f(3)}),
        ("cube", 100, {"a": f(3, 4, 5)}),
        ("inner", 52, {"a": f(2, 3, 11), "b": np.arange(12, dtype=np.int16).reshape(2, 6)}),
        ("strings", 6, {"a": np.array([b"ab", b"cdef", b"g", b"hij"], dtype=object)}),
        ("long_string", 10, {"a": np.array(b"a long scalar string", dtype=object), "b": f(2)}),
        ("large_scalar", 4, {"a": np.float64(3), "b": f(2)}),
        ("many", 700, {"a%d" % i: f(i + 1, 7) for i in range(12)}),
        ("one_file", 1 << 20, {"a": f(4, 4), "b": f(3)}),
    ]
    listing = []
    shutil.rmtree(os.path.join(OUT, "shards"), ignore_errors=True)
    for name, size, values in cases:
        folder = os.path.join(OUT, "shards", name)
        os.makedirs(folder)
        ck = tf.train.Checkpoint(**{k: tf.Variable(v, name=k) for k, v in values.items()})
        ck.write(os.path.join(folder, "c"), options=tf.train.CheckpointOptions(
            experimental_sharding_callback=sharding_policies.MaxShardSizePolicy(size)))
        listing.append(dict(name=name, size=size, values=[
            dict(name=k, dtype=tf.as_dtype(ck._trackable_children()[k].dtype).name, shape=list(np.shape(v)),
                 strings=[s.decode() for s in np.ravel(v)] if np.asarray(v).dtype == object else None,
                 first=None if np.asarray(v).dtype == object else float(np.ravel(v)[0]))
            for k, v in values.items()]))
    dump("shards.json", listing)


if __name__ == "__main__":
    os.makedirs(OUT, exist_ok=True)
    shards()
    update()
    read()
    sequences()
