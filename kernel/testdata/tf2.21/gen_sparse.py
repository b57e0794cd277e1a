"""Writes sparse.json: the fixtures of ops for sparse gradients.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_sparse.py
"""
import numpy as np
import tensorflow as tf

from recorder import *

i32 = lambda *v: np.array(v, np.int32)
i64 = lambda *v: np.array(v, np.int64)

for d in F + I + U + ["bool"]:
    v = rand(d, (9,), 0, 3)
    if d in F:
        v = np.round(v.astype(np.float64)).astype(np_of(d))
    for out in (tf.int32, tf.int64):
        case("sparse", "Unique", [("x", v)], {"out_idx": out})
    case("sparse", "UniqueWithCounts", [("x", v)], {"out_idx": tf.int32})
case("sparse", "Unique", [("x", np.array([b"b", b"a", b"b", b""], object))], {"out_idx": tf.int32})
case("sparse", "UniqueWithCounts", [("x", np.array([b"b", b"a", b"b", b""], object))], {"out_idx": tf.int64})
case("sparse", "Unique", [("x", i32())], {"out_idx": tf.int32})
case("sparse", "Unique", [("x", np.array([0.0, -0.0, np.nan, np.nan, 0.0], np.float32))], {"out_idx": tf.int32})

INDICES = [i32(2, 0), i64(3, 1, 3)]
for d in F:
    t = np_of(d)
    for at in INDICES:
        V = lambda lo=-2, hi=2: rand(d, (4, 3), lo, hi)
        P = lambda: rand(d, (4, 3), 0.1, 2)
        G = ("grad", rand(d, (len(at), 3), -2, 2))
        I_ = ("indices", at)
        lr = ("lr", t(0.1))
        for nesterov in (False, True):
            n = {"use_nesterov": nesterov}
            case("sparse", "ResourceSparseApplyMomentum", [("var", V()), ("accum", V()), lr, G, I_, ("momentum", t(0.9))], n, nvars=2)
            case("sparse", "ResourceSparseApplyKerasMomentum", [("var", V()), ("accum", V()), lr, G, I_, ("momentum", t(0.9))], n, nvars=2)
        for slots in (True, False):
            case("sparse", "ResourceSparseApplyAdagrad", [("var", V()), ("accum", P()), lr, G, I_], {"update_slots": slots}, nvars=2)
            case("sparse", "ResourceSparseApplyAdagradV2", [("var", V()), ("accum", P()), lr, ("epsilon", t(1e-3)), G, I_], {"update_slots": slots}, nvars=2)
        case("sparse", "ResourceSparseApplyAdadelta", [("var", V()), ("accum", P()), ("accum_update", P()), ("lr", t(0.5)), ("rho", t(0.9)), ("epsilon", t(1e-2)), G, I_], nvars=3)
        case("sparse", "ResourceSparseApplyRMSProp", [("var", V()), ("ms", P()), ("mom", V()), lr, ("rho", t(0.9)), ("momentum", t(0.5)), ("epsilon", t(1e-2)), G, I_], nvars=3)
        case("sparse", "ResourceSparseApplyCenteredRMSProp", [("var", V()), ("mg", rand(d, (4, 3), -0.1, 0.1)), ("ms", rand(d, (4, 3), 1, 2)), ("mom", V()), lr, ("rho", t(0.9)), ("momentum", t(0.5)), ("epsilon", t(1e-2)), G, I_], nvars=4)
        for power in (-0.5, -0.7):
            case("sparse", "ResourceSparseApplyFtrl", [("var", V()), ("accum", P()), ("linear", V()), G, I_, ("lr", t(0.5)), ("l1", t(0.1)), ("l2", t(0.2)), ("lr_power", t(power))], nvars=3)
            case("sparse", "ResourceSparseApplyFtrlV2", [("var", V()), ("accum", P()), ("linear", V()), G, I_, ("lr", t(0.5)), ("l1", t(0.1)), ("l2", t(0.2)), ("l2_shrinkage", t(0.05)), ("lr_power", t(power))], nvars=3)
    case("sparse", "ResourceApplyFtrl", [("var", V()), ("accum", P()), ("linear", V()), ("grad", V()), ("lr", t(0.5)), ("l1", t(0.1)), ("l2", t(0.2)), ("lr_power", t(-0.5))], nvars=3)

write()
