#!/usr/bin/env python3
"""Kills a Go process in a loop of managed saves; TensorFlow checks the files that remain.

The Go side is TestKilledInALoopOfSaves in package checkpoint: a process that
trains and saves is killed (SIGKILL) at random moments, and after each kill the
checkpoint that it named as saved has to be there. Here it runs in batches over
one directory. After each batch TensorFlow finds the latest checkpoint, reads every
tensor, and restores it into its own objects; every weight has to be the
step's number.

Before that, TensorFlow's CheckpointManager and ours take turns in one directory.

usage: kill_check.py [--rounds 500] [--batch 50] [--dir DIRECTORY] [--go go]
Needs tensorflow 2.21 and the Go tool; run it from anywhere in the repository.
"""
import argparse
import os
import subprocess
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
import numpy as np
import tensorflow as tf

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def look(folder):
    """Reads and restores the latest checkpoint; returns its path and step."""
    latest = tf.train.latest_checkpoint(folder)
    if latest is None:
        raise SystemExit("TensorFlow finds no latest checkpoint in %s" % folder)
    state = tf.train.get_checkpoint_state(folder)
    for path in state.all_model_checkpoint_paths:
        reader = tf.train.load_checkpoint(path)
        step = int(reader.get_tensor("step/.ATTRIBUTES/VARIABLE_VALUE"))
        for key in reader.get_variable_to_shape_map():
            value = reader.get_tensor(key)
            if key.startswith("weight/") and not np.all(value == step):
                raise SystemExit("%s: step %d, but weights %r" % (path, step, np.unique(value)))
    step = tf.Variable(-1, dtype=tf.int64)
    weight = tf.Variable(tf.zeros([100000]))
    tf.train.Checkpoint(step=step, weight=weight).restore(latest).assert_consumed()
    if not np.all(weight.numpy() == step.numpy()):
        raise SystemExit("%s: restored step %d, weights %r" % (latest, step.numpy(), np.unique(weight.numpy())))
    return latest, int(step.numpy())


def turns(binary, folder, rounds=4):
    """Managers of both sides take turns in one directory: each continues from the other's state."""
    step = tf.Variable(0, dtype=tf.int64)
    weight = tf.Variable(tf.zeros([100000]))
    checkpoint = tf.train.Checkpoint(step=step, weight=weight)
    for turn in range(rounds):
        subprocess.run([binary, "-test.run=^TestTakesItsTurnWithTensorFlow$", "-turn.dir=%s" % folder],
                       cwd=os.path.join(ROOT, "checkpoint"), check=True, stdout=subprocess.DEVNULL)
        look(folder)
        manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=3, keep_checkpoint_every_n_hours=1e-3 / 3600)
        if manager.restore_or_initialize() is None or int(step) != 4 * turn + 2 or not np.all(weight.numpy() == float(step)):
            raise SystemExit("turn %d: TensorFlow restores step %d, weights %r" % (turn, int(step), np.unique(weight.numpy())))
        if [os.path.basename(p) for p in manager.checkpoints] != ["ckpt-%d" % n for n in range(max(1, 4 * turn), 4 * turn + 3)]:
            raise SystemExit("turn %d: TensorFlow manages %r" % (turn, manager.checkpoints))
        for _ in range(2):
            step.assign_add(1)
            weight.assign(tf.fill([100000], tf.cast(step, tf.float32)))
            manager.save()
    print("ok: managers of both sides took %d turns in one folder" % (2 * rounds), flush=True)


def main():
    flags = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    flags.add_argument("--rounds", type=int, default=500)
    flags.add_argument("--batch", type=int, default=50)
    flags.add_argument("--dir", default=None, help="where to save; default: a temporary folder")
    flags.add_argument("--go", default="go")
    args = flags.parse_args()
    with tempfile.TemporaryDirectory() as temp:
        binary = os.path.join(temp, "checkpoint.test")
        subprocess.run([args.go, "test", "-c", "-o", binary, "./checkpoint"], cwd=ROOT, check=True)
        turns(binary, os.path.join(temp, "turns"))
        folder = args.dir or os.path.join(temp, "run")
        done = 0
        while done < args.rounds:
            n = min(args.batch, args.rounds - done)
            subprocess.run(
                [binary, "-test.run=^TestKilledInALoopOfSaves$", "-test.timeout=30m",
                 "-kill.rounds=%d" % n, "-kill.dir=%s" % folder, "-kill.seed=%d" % (done + 1)],
                cwd=os.path.join(ROOT, "checkpoint"), check=True, stdout=subprocess.DEVNULL)
            done += n
            latest, step = look(folder)
            print("%d kills: TensorFlow restores %s, step %d" % (done, os.path.basename(latest), step), flush=True)
    print("ok: %d kills, every latest checkpoint whole" % done)


if __name__ == "__main__":
    sys.exit(main())
