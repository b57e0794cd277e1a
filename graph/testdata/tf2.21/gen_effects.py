"""Writes effects.txt: the lists of op names in TensorFlow's automatic control dependencies.
Usage: python gen_effects.py (TensorFlow 2.21)"""
import tensorflow as tf
from tensorflow.python.framework import auto_control_deps as acd, auto_control_deps_utils as utils, op_def_registry

class Op:
    def __init__(self, name, stateful): self.type, self._is_stateful = name, stateful

kept = sorted(n for n in tf.raw_ops.__dict__
              if n[0] != '_' and (d := op_def_registry.get(n)) is not None and acd.op_is_stateful(Op(n, d.is_stateful)))
with open('effects.txt', 'w') as f:
    for name, ops in [('async', acd.ASYNC_STATEFUL_OPS), ('legacy random', acd.LEGACY_RANDOM_OPS), ('must run', acd.MUST_RUN_ORDER_INSENSITIVE_STATEFUL_OPS),
                      ('skipped', acd.SKIPPED_ORDER_INSENSITIVE_STATEFUL_OPS), ('stateless, ordered', acd._ALLOWLIST_STATELESS_OPS),
                      ('reads', utils.RESOURCE_READ_OPS), ('ordered', kept)]:
        f.write('%s: %s\n' % (name, ' '.join(sorted(ops))))
