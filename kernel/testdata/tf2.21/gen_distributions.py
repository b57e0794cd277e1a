"""Writes the fixtures of random numbers of distributions with parameters, of
orders and of candidates: calls whose numbers depend on their inputs alone, and
programs of ops that keep a state.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_distributions.py
"""
import numpy as np
import tensorflow as tf

import gen_programs as programs
from gen_programs import F32, I32, I64, P, T, old, program
from recorder import *

i32 = lambda *v: np.array(v, np.int32)
i64 = lambda *v: np.array(v, np.int64)
u64 = lambda *v: np.array(v, np.uint64)
HALVES = ["float16", "float32", "float64"]
COUNTED = HALVES + ["int32", "int64"]
INTS = ["int32", "int64", "uint32", "uint64"]


def draw(op, *inputs, **attrs):
    case("distributions", op, list(inputs), {k: tf.as_dtype(v) if k.lower().endswith("type") else v for k, v in attrs.items()})


def stateless():
    for d in HALVES:
        t = np_of(d)
        alpha = np.array([0.3, 1, 2.5, 40], t)
        draw("StatelessRandomGammaV2", ("shape", i32(7, 4)), ("seed", i64(7, -9)), ("alpha", alpha))
        draw("StatelessRandomGammaV2", ("shape", i64(5)), ("seed", i32(1, 2)), ("alpha", t(1)))
        draw("StatelessRandomGammaV2", ("shape", i64(0, 2)), ("seed", i32(1, 2)), ("alpha", np.ones(2, t)))
        draw("StatelessRandomGammaV3", ("shape", i32(9, 2, 2)), ("key", u64(5)), ("counter", u64(6, 7)), ("alg", np.int32(1)), ("alpha", alpha.reshape(2, 2)))
        draw("StatelessRandomGammaV3", ("shape", i64(3)), ("key", u64(1 << 60)), ("counter", u64((1 << 64) - 2, 0)), ("alg", np.int32(3)), ("alpha", t(0.7)))
        for out in COUNTED:
            draw("StatelessRandomBinomial", ("shape", i32(6, 2, 4)), ("seed", i64(3, 4)), ("counts", np.array([[5], [900]], t)),
                 ("probs", np.array([0.01, 0.3, 0.5, 0.97], t)), dtype=out)
        draw("StatelessRandomBinomial", ("shape", i64(4, 5)), ("seed", i32(3, 4)), ("counts", t(20)), ("probs", np.array([-1, 0, 1, 2, 0.5], t)), dtype="int32")
        draw("StatelessParameterizedTruncatedNormal", ("shape", i32(3, 2, 4)), ("seed", i64(3, 4)), ("means", np.array([[0], [3]], t)),
             ("stddevs", np.array([1, 2, 0.5, 3], t)), ("minvals", np.array([-1, 0, 4, -30], t)), ("maxvals", t(8)))
        draw("StatelessParameterizedTruncatedNormal", ("shape", i64(30)), ("seed", i32(3, 4)), ("means", t(0)), ("stddevs", t(1)), ("minvals", t(5)), ("maxvals", t(np.inf)))
        draw("StatelessParameterizedTruncatedNormal", ("shape", i64(30)), ("seed", i32(3, 4)), ("means", t(0)), ("stddevs", t(1)), ("minvals", t(-np.inf)), ("maxvals", t(-2)))
    for rate in COUNTED:
        for out in COUNTED:
            draw("StatelessRandomPoisson", ("shape", i32(8, 4)), ("seed", i64(7, -9)), ("lam", np.array([0, 3, 12, 200], np_of(rate))), dtype=out)
    draw("StatelessRandomPoisson", ("shape", i64(3, 1)), ("seed", i32(7, -9)), ("lam", np.array([np.inf], np.float32)), dtype="float32")
    for d in F:
        for out in ["int32", "int64"]:
            draw("StatelessMultinomial", ("logits", np.array([[0.1, 2, -1, 0.5], [3, 1, 1, -np.inf]], np_of(d))), ("num_samples", np.int32(9)), ("seed", i64(5, 6)), output_dtype=out)
    draw("StatelessMultinomial", ("logits", np.zeros((0, 3), np.float32)), ("num_samples", np.int32(2)), ("seed", i32(5, 6)))
    for d in F + I + U + C + ["bool"]:
        draw("StatelessShuffle", ("value", rand(d, (9, 2))), ("key", u64(5)), ("counter", u64(6, 7)), ("alg", np.int32(1)))
    draw("StatelessShuffle", ("value", s("a", "b", "c", "d", "e")), ("key", u64(5)), ("counter", u64(6, 7)), ("alg", np.int32(3)))
    draw("StatelessShuffle", ("value", np.zeros((1, 3), np.float32)), ("key", u64(5)), ("counter", u64(6, 7)), ("alg", np.int32(1)))
    for d in INTS:
        t = np_of(d)
        draw("RandomIndexShuffle", ("index", np.arange(20, dtype=t)), ("seed", i32(1, 2, 3)), ("max_index", t(19)))
        draw("RandomIndexShuffle", ("index", t(3)), ("seed", u64(1 << 40, 7, 9)), ("max_index", t(1 << 30)), rounds=8)
        draw("RandomIndexShuffle", ("index", np.array([0, 5, 70000], t)), ("seed", np.array([[1, -2, 3], [4, 5, 6], [7, 8, 9]], np.int64)), ("max_index", np.array([0, 65536, 100000], t)))
    draw("RandomIndexShuffle", ("index", np.int64(12345)), ("seed", np.array([1, 2, 3], np.uint32)), ("max_index", np.int64(1 << 50)))
    draw("RandomIndexShuffle", ("index", np.uint64(12345)), ("seed", np.array([1, 2, 3], np.uint32)), ("max_index", np.uint64((1 << 64) - 1)))
    draw("ComputeAccidentalHits", ("true_classes", i64(1, 2, 3, 4, 5, 6).reshape(3, 2)), ("sampled_candidates", i64(2, 9, 2, 6, 5)), num_true=2)
    draw("ComputeAccidentalHits", ("true_classes", i64(1, 2).reshape(2, 1)), ("sampled_candidates", i64(7)), num_true=1)


def variables():
    def rng(op, *inputs, state=(1, 2, 3), **attrs):
        case("distributions", op, [("resource", i64(*state))] + list(inputs), {k: tf.as_dtype(v) for k, v in attrs.items()}, nvars=1)

    alg = ("algorithm", np.int64(1))
    for d in F:
        for op in ["StatefulUniform", "StatefulStandardNormalV2", "StatefulTruncatedNormal"]:
            rng(op, alg, ("shape", i64(3, 3)), dtype=d)
            rng(op, ("algorithm", np.int64(3)), ("shape", i32(0)), dtype=d, state=(-1, 2, 3, 9))
        p, d = P(), tf.as_dtype(d)
        v = p.VarHandleOp(dtype=I64, shape=[4], shared_name="state", container="")
        a = p.AssignVariableOp(v, i64(1, 1, 2, 3), dtype=I64)
        x = p.StatefulStandardNormal(v, i64(3, 3), dtype=d, shape_dtype=I64, control=[a])
        y = p.StatefulStandardNormal(v, i64(2), dtype=d, shape_dtype=I64, control=[x])
        p.ret(x, y)
        old("distributions", "StatefulStandardNormal of " + d.name, p, [], producer=25)
    for d in INTS:
        rng("StatefulUniformFullInt", alg, ("shape", i64(7)), dtype=d)
    for d in ["int32", "int64"]:
        t = np_of(d)
        rng("StatefulUniformInt", alg, ("shape", i32(7)), ("minval", t(-5)), ("maxval", t(1000)))
    for d in HALVES:
        for out in COUNTED:
            # A variable with separate memory: TensorFlow advances the state in the memory of a constant.
            p, out = P(I64), tf.as_dtype(out)
            v = p.VarHandleOp(dtype=I64, shape=[3], shared_name="state", container="")
            a = p.AssignVariableOp(v, p.AddV2(p.args[0], i64(0, 1, 2)))
            x = p.StatefulRandomBinomial(v, np.array(1, np.int64), i32(5, 2), np.array([7, 300], np_of(d)), np.array(0.3, np_of(d)), dtype=out, control=[a])
            y = p.StatefulRandomBinomial(v, np.array(1, np.int64), i32(3), np.array(300, np_of(d)), np.array(0.6, np_of(d)), dtype=out, control=[x])
            p.ret(x, y, p.ReadVariableOp(v, dtype=I64, control=[y]))
            program("distributions", "StatefulRandomBinomial of %s %s" % (d, out.name), p, [1], [5])
    for delta in [0, 2, -2, 1 << 58]:
        rng("RngSkip", alg, ("delta", np.int64(delta)), state=(1537, 2, 3))
    rng("RngReadAndSkip", ("alg", np.int32(1)), ("delta", np.uint64((1 << 64) - 2)), state=(1537, 2, 3))


def twice(name, p, *runs):
    program("distributions", name, p, *(runs or [[], []]))


def nodes():
    for d in [T.half, T.float32, T.float64]:
        nt = d.as_numpy_dtype
        for st in [I32, I64]:
            p = P(st)
            alpha = np.array([0.3, 1, 2.5, 40], nt)
            p.ret(p.RandomGamma(p.args[0], alpha, seed=3, seed2=4), p.RandomGamma(p.args[0], np.array(0.9, nt), seed=5, seed2=0))
            twice("RandomGamma of %s %s" % (d.name, st.name), p, [[6]], [[2, 2]], [[0]])
        p = P(I32)
        rate = np.array([0, 3, 12, 200], nt)
        p.ret(p.RandomPoisson(p.args[0], rate, S=I32, dtype=d, seed=3, seed2=4))
        old("distributions", "RandomPoisson of " + d.name, p, [[6]], [[2, 2]], producer=20)
        for r in [T.half, T.float32, T.float64, I32, I64]:
            p = P(I32)
            p.ret(p.RandomPoissonV2(p.args[0], np.array([0, 3, 12, 200], r.as_numpy_dtype), seed=3, seed2=4, dtype=d),
                  *[p.RandomPoissonV2(p.args[0], np.array([2, 14], r.as_numpy_dtype), seed=3, seed2=4, dtype=w) for w in [I32, I64]])
            twice("RandomPoissonV2 of %s %s" % (d.name, r.name), p, [[6]], [[2, 2]])
        p = P(I32, d, d, d, d)
        p.ret(p.ParameterizedTruncatedNormal(*p.args, seed=3, seed2=4))
        twice("ParameterizedTruncatedNormal of " + d.name, p, [[3, 5], 0, 1, -1, 2], [[2, 70], [0], 2, 3, 4], [[3, 4], [0, 1, 2], 1, [-1, 3, 2.5], [3, 3.5, 20]],
              [[7], 0, 1, 6, np.inf], ([[2, 2], 0, -1, 0, 1], "Invalid parameters"))
    for d in [T.uint8, T.int8, T.int16, T.int32, T.int64, F32, T.float64]:
        p = P(I64)
        p.ret(p.RandomCrop(np.arange(60).reshape(5, 4, 3).astype(d.as_numpy_dtype), p.args[0], T=d, seed=3, seed2=4))
        old("distributions", "RandomCrop of " + d.name, p, [[2, 2]], [[5, 2]], [[3, 4]], [[2, 2]], [[5, 4]], ([[6, 1]], "height"), producer=7)


def samplers():
    truth = np.array([[1, 2], [0, 9], [3, 3]], np.int64)
    for unique in [False, True]:
        for op in ["UniformCandidateSampler", "LogUniformCandidateSampler", "LearnedUnigramCandidateSampler", "ThreadUnsafeUnigramCandidateSampler"]:
            for n in [10, 1000]:
                p = P(I64)
                p.ret(*getattr(p, op)(p.args[0], num_true=2, num_sampled=7, unique=unique, range_max=n, seed=3, seed2=4))
                twice("%s %s of %d" % (op, unique, n), p, [truth], [truth], [truth], ([truth - 1], "true_candidate"))
        for attrs in [dict(unigrams=[3.0, 1.0, 0.5, 2.0, 4.0, 1.0, 1.0, 9.0, 0.0, 2.0]), dict(unigrams=[3.0, 1.0, 2.0, 4.0, 1.0, 1.0, 9.0, 2.5], distortion=0.75, num_reserved_ids=2),
                      dict(unigrams=[float(i % 5 + 1) for i in range(20)], num_shards=2, shard=1)]:
            p = P(I64)
            p.ret(*p.FixedUnigramCandidateSampler(p.args[0], num_true=2, num_sampled=5, unique=unique, range_max=10, seed=3, seed2=4, **attrs))
            twice("FixedUnigramCandidateSampler %s %s" % (unique, sorted(attrs)), p, [truth], [truth])
        p = P(I64)
        p.ret(*p.AllCandidateSampler(p.args[0], num_true=2, num_sampled=10, unique=unique, seed=3, seed2=4))
        twice("AllCandidateSampler %s" % unique, p, [truth])


if __name__ == "__main__":
    stateless()
    variables()
    write()
    nodes()
    samplers()
    programs.write()
