"""Writes partial.pb.gz: random programs that compute shapes from shapes, with TensorFlow's inference of each node.

Run it in this directory: python gen_partial.py

Strides are positive: TensorFlow takes a part of a shape in reverse order for a scalar, which is wrong.
"""
import gzip
import random

import tensorflow as tf
R = tf.raw_ops


def program(r):
    ph = []
    for k in range(r.randint(1, 3)):
        rank = r.randint(0, 4)
        shape = None if r.random() < 0.1 else [r.choice([None, None, 1, 2, 3, 4, 5]) for _ in range(rank)]
        ph.append(tf.raw_ops.Placeholder(dtype=tf.float32, shape=tf.TensorShape(shape)))
    vecs, scals = [], []   # int tensors, with dtype kept equal by casts
    def const(v, d): return tf.constant(v, dtype=d)
    def vec(d):
        v = r.choice(vecs)
        return v if v.dtype == d else R.Cast(x=v, DstT=d)
    def scal(d):
        if not scals or r.random() < 0.25: return const(r.choice([-1, 0, 1, 2, 3, 4]), d)
        v = r.choice(scals)
        return v if v.dtype == d else R.Cast(x=v, DstT=d)
    for p in ph:
        vecs.append(R.Shape(input=p, out_type=r.choice([tf.int32, tf.int64])))
    for _ in range(r.randint(2, 9)):
        d = r.choice([tf.int32, tf.int64])
        k = r.randint(0, 17)
        try:
            if k == 0: vecs.append(R.Pack(values=[scal(d) for _ in range(r.randint(1, 4))], axis=0))
            elif k in (1, 2): vecs.append(R.ConcatV2(values=[vec(d) for _ in range(r.randint(2, 3))], axis=r.choice([0, -1, 0])))
            elif k in (3, 4):
                scals.append(R.StridedSlice(input=vec(d), begin=[r.randint(-3, 3)], end=[0], strides=[1], shrink_axis_mask=1))
            elif k in (5, 6):
                vecs.append(R.StridedSlice(input=vec(d), begin=[r.randint(-4, 4)], end=[r.randint(-4, 5)], strides=[r.choice([1, 1, 1, 2, 3])],
                    begin_mask=r.randint(0, 1), end_mask=r.randint(0, 1)))
            elif k == 7: vecs.append(R.Cast(x=vec(d), DstT=tf.int64 if d == tf.int32 else tf.int32))
            elif k == 8:
                f = r.choice([R.AddV2, R.Mul, R.Sub, R.Maximum, R.Minimum, R.FloorDiv])
                scals.append(f(x=scal(d), y=scal(d)))
            elif k == 9:
                f = r.choice([R.AddV2, R.Mul, R.Maximum])
                vecs.append(f(x=vec(d), y=r.choice([vec, scal])(d)))
            elif k == 10: scals.append(R.Rank(input=r.choice(ph)))
            elif k == 11: scals.append(R.Size(input=r.choice(ph), out_type=d))
            elif k == 12: scals.append(R.Prod(input=vec(d), axis=[0], keep_dims=False))
            elif k == 13: vecs.append(const([r.choice([-1, 0, 1, 2, 3]) for _ in range(r.randint(0, 3))], d))
            elif k == 14: vecs.append(R.GatherV2(params=vec(d), indices=[r.randint(0, 3) for _ in range(r.randint(1, 3))], axis=0))
            elif k == 15: vecs.append(R.Slice(input=vec(d), begin=[r.randint(0, 2)], size=[r.choice([-1, 1, 2])]))
            elif k == 16: vecs.append(r.choice([R.Identity, R.StopGradient] if r.random() < .8 else [R.Identity])(input=vec(d)))
            elif k == 17: vecs.append(R.ExpandDims(input=scal(d), axis=r.choice([0, -1])))
        except ValueError: pass
    for _ in range(4):
        d = r.choice([tf.int32, tf.int64]); p = r.choice(ph); k = r.randint(0, 12)
        try:
            if k in (0, 1, 2): q = R.Reshape(tensor=p, shape=vec(d))
            elif k == 3: q = R.Fill(dims=vec(d), value=1.0)
            elif k == 4: q = R.BroadcastTo(input=p, shape=vec(d))
            elif k == 5: q = R.RandomUniform(shape=vec(d), dtype=tf.float32)
            elif k == 6: q = R.Tile(input=p, multiples=vec(d))
            elif k == 7: q = R.Slice(input=p, begin=vec(d), size=vec(d))
            elif k == 8: q = R.Transpose(x=p, perm=vec(d))
            elif k == 9: q = R.ExpandDims(input=p, axis=scal(d))
            elif k == 10: q = R.OneHot(indices=vec(d), depth=scal(tf.int32), on_value=1.0, off_value=0.0)
            elif k == 11: q = R.Range(start=scal(d), limit=scal(d), delta=const(r.choice([1, 2]), d))
            elif k == 12: q = R.Sum(input=p, axis=vec(d), keep_dims=r.random() < .5)
            ph.append(q)
        except ValueError: pass

r = random.Random(4)
with tf.Graph().as_default() as g:
    for i in range(300):
        with tf.name_scope("p%d" % i):
            program(r)
with gzip.GzipFile("partial.pb.gz", "wb", mtime=0) as f:
    f.write(g.as_graph_def(add_shapes=True).SerializeToString(deterministic=True))
