"""Objects of TensorFlow and tf_keras whose checkpoints ours have to equal, and the values that are read back from ours."""
import os
import shutil

import numpy as np
import tensorflow as tf
import tf_keras
from tensorflow.python.ops import resource_variable_ops
from tensorflow.python.saved_model import registration
from tensorflow.python.trackable import autotrackable

OPTIMIZERS = {
    "adam": lambda: tf_keras.optimizers.legacy.Adam(0.1),
    "sgd": lambda: tf_keras.optimizers.legacy.SGD(0.01),
    "momentum": lambda: tf_keras.optimizers.legacy.SGD(0.01, momentum=0.9, nesterov=True),
    "rmsprop": lambda: tf_keras.optimizers.legacy.RMSprop(0.01, momentum=0.5, centered=True),
    "adagrad": lambda: tf_keras.optimizers.legacy.Adagrad(0.1),
    "nadam": lambda: tf_keras.optimizers.legacy.Nadam(0.1),
}


class Net(tf_keras.Model):
    def __init__(self):
        super().__init__()
        self.l1 = tf_keras.layers.Dense(5)

    def call(self, x):
        return self.l1(x)


def toy_dataset():
    inputs = tf.range(10.)[:, None]
    labels = inputs * 5. + tf.range(5.)[None, :]
    return tf.data.Dataset.from_tensor_slices(dict(x=inputs, y=labels)).repeat(10).batch(2)


def guide(optimizer):
    tf_keras.backend.reset_uids()
    net, opt = Net(), OPTIMIZERS[optimizer]()
    return tf.train.Checkpoint(step=tf.Variable(1), optimizer=opt, net=net)


def train(ckpt, steps):
    losses = []
    for example in toy_dataset().take(steps):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.abs(ckpt.net(example["x"]) - example["y"]))
        variables = ckpt.net.trainable_variables
        ckpt.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        ckpt.step.assign_add(1)
        losses.append(float(loss))
    return losses


def write_guide(folder, optimizer):
    """The state before training as "start", after twenty steps as ckpt-1, and after a restart and five more as ckpt-2."""
    tf.random.set_seed(7)
    ckpt = guide(optimizer)
    built(ckpt).write(folder + "/start")
    manager = tf.train.CheckpointManager(ckpt, folder, max_to_keep=3)
    train(ckpt, 20)
    manager.save()
    # Built before the restore: slots that a restore makes while a layer is built are named after the layer's scope instead
    # of the optimizer's, so that TensorFlow's names would depend on how often the program was started.
    again = built(guide(optimizer))
    manager = tf.train.CheckpointManager(again, folder, max_to_keep=3)
    again.restore(manager.latest_checkpoint)
    train(again, 5)
    manager.save()


def built(ckpt):
    """Makes the variables that a first step would make."""
    ckpt.net(tf.zeros([1, 1]))
    opt = ckpt.optimizer
    name = opt._name if hasattr(opt, "_name") else opt.name
    with tf.name_scope(name), tf.init_scope():  # as in apply_gradients
        (opt._create_all_weights if hasattr(opt, "_create_all_weights") else opt.build)(ckpt.net.trainable_variables)
    return ckpt


def check_guide(folder, optimizer):
    ckpt = guide(optimizer)
    status = ckpt.restore(tf.train.latest_checkpoint(folder))
    built(ckpt)
    status.assert_consumed()
    return [] if int(ckpt.step) == 26 and int(ckpt.optimizer.iterations) == 25 else ["step %d" % int(ckpt.step)]


class Part(resource_variable_ops.ResourceVariable):
    """The registration document's part, which holds one number of a stack."""

    def __init__(self, value):
        self._init_from_args(value)

    @classmethod
    def _deserialize_from_proto(cls, **kwargs):
        return cls([0.0, 0.0])


class Stack(autotrackable.AutoTrackable):
    def __init__(self, parts=None):
        self.parts = parts

    @tf.function(input_signature=[])
    def value(self):
        return tf.stack(self.parts)


def _slices(trackables):
    stacks = [(prefix, obj) for prefix, obj in trackables.items() if not isinstance(obj, Part)]
    return [prefix + "/value" for prefix, _ in stacks], [obj for _, obj in stacks]


def save_stacks(trackables, file_prefix):
    names, stacks = _slices(trackables)
    tf.raw_ops.SaveV2(prefix=file_prefix, tensor_names=names, shape_and_slices=[""] * len(names),
                      tensors=[tf.identity(s.value()) for s in stacks])
    return file_prefix


def restore_stacks(trackables, merged_prefix):
    names, stacks = _slices(trackables)
    values = tf.raw_ops.RestoreV2(prefix=merged_prefix, tensor_names=names, shape_and_slices=[""] * len(names),
                                  dtypes=[s.value().dtype for s in stacks])
    for stack, v in zip(stacks, values):
        for part, x in zip(stack.parts, tf.unstack(tf.reshape(v, stack.value().shape))):
            part.assign(x)


def register_stacks():
    registration.register_checkpoint_saver(
        package="Custom", name="stacks", predicate=lambda x: isinstance(x, (Stack, Part)),
        save_fn=save_stacks, restore_fn=restore_stacks)


def stacks(zero=False):
    k = 0.0 if zero else 1.0
    part = lambda *x: Part(tf.constant([k * v for v in x], tf.float32))
    return tf.train.Checkpoint(
        bias=tf.Variable([k * 0.5], name="bias"),
        first=Stack([part(1, 2), part(3, 4), part(5, 6)]),
        second=Stack([part(7)]),
        step=tf.Variable(int(k * 9), name="step", dtype=tf.int64))


def containers(zero=False):
    k = 0.0 if zero else 1.0
    v = lambda *x: tf.Variable([k * y for y in x], name="v")
    shared = v(1, 2)
    return tf.train.Checkpoint(
        listed=[v(3), [v(4), [shared]], []], mapped={"b": {"y": v(5), "x": v(6)}, "a": [v(7), shared]}, shared=shared)


def many(zero=False):
    m = tf.Module()
    m.v = [tf.Variable([0.0, 0.0] if zero else [i, i / 2], dtype=tf.float32, name="v") for i in range(10000)]
    return tf.train.Checkpoint(model=m)


def values(ckpt):
    """All variables of a checkpoint, in the order of nodes."""
    from tensorflow.python.checkpoint import trackable_view
    return [o.numpy() for o in trackable_view.TrackableView(ckpt).descendants() if isinstance(o, tf.Variable)]


PLAIN = {"stacked parts": stacks, "containers": containers, "10,000 objects": many}


def write_plain(case, folder):
    PLAIN[case]().write(folder + "/ckpt")


def check_plain(case, folder):
    got = PLAIN[case](zero=True)
    got.read(folder + "/ckpt").assert_consumed()
    wrong = [] if case == "10,000 objects" else [
        "%r, want %r" % (a, b) for a, b in zip(values(got), values(PLAIN[case]())) if not np.array_equal(a, b)]
    if case == "10,000 objects":
        wrong = [str(i) for i, v in enumerate(got.model.v) if v.numpy().tolist() != [i, i / 2]]
    return wrong


MANAGERS = {"relative": "ckpt", "named": "my model \u00e9\"x"}


def write_manager(folder, name):
    """Five saves of which three stay; the fifth after a restart."""
    shutil.rmtree(folder, ignore_errors=True)
    v = tf.Variable(0.0, name="v")
    ckpt = tf.train.Checkpoint(v=v)
    manager = tf.train.CheckpointManager(ckpt, folder, max_to_keep=3, checkpoint_name=name)
    for i in range(4):
        v.assign(i)
        manager.save()
    ckpt = tf.train.Checkpoint(v=tf.Variable(0.0, name="v"))
    manager = tf.train.CheckpointManager(ckpt, folder, max_to_keep=3, checkpoint_name=name)
    ckpt.restore(manager.latest_checkpoint)
    ckpt.v.assign(4)
    manager.save()


def check_manager(folder, name):
    v = tf.Variable(0.0)
    ckpt = tf.train.Checkpoint(v=v)
    manager = tf.train.CheckpointManager(ckpt, folder, max_to_keep=3, checkpoint_name=name)
    want = [os.path.join(folder, "%s-%d" % (name, i)) for i in (3, 4, 5)]
    if manager.checkpoints != want or manager.latest_checkpoint != want[-1]:
        return ["%r, want %r" % (manager.checkpoints, want)]
    ckpt.restore(manager.latest_checkpoint).assert_consumed()
    return [] if v.numpy() == 4 and int(ckpt.save_counter) == 5 else ["%r after %d saves" % (v.numpy(), int(ckpt.save_counter))]
