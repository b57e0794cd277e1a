"""Writes the fixtures of random numbers that are drawn from two seeds.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_stateless.py
"""
import numpy as np
import tensorflow as tf

from recorder import *

i32 = lambda *v: np.array(v, np.int32)
i64 = lambda *v: np.array(v, np.int64)
for d in ["int32", "int64", "uint32", "uint64"]:
    for shape in [i32(3, 3), i64(0)]:
        case("stateless", "StatelessRandomUniformFullInt", [("shape", shape), ("seed", i64(7, -9))], {"dtype": tf.as_dtype(d)})
for d in ["int32", "int64"]:
    t = np_of(d)
    for lo, hi in [(0, 10), (-5, 1000)]:
        case("stateless", "StatelessRandomUniformInt", [("shape", i32(7)), ("seed", i32(7, -9)), ("minval", t(lo)), ("maxval", t(hi))])
case("stateless", "StatelessRandomGetKeyCounterAlg", [("seed", i32(5, 6))])
case("stateless", "StatelessRandomGetKeyCounterAlg", [("seed", i64(-5, 1 << 40))])

write()
