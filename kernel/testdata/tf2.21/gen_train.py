"""Writes train.json and programs/train.json: the optimizers' ops that the other
scripts don't record.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_train.py
"""
import recorder
from recorder import *
import gen_programs
from gen_programs import P, program, F32, I32

recorder.rng = np.random.default_rng(20260808)
INDICES = [np.array([2, 0], np.int32), np.array([3, 1, 3], np.int64)]
for d in F:
    t = np_of(d)
    V = lambda lo=-2, hi=2: rand(d, (4, 3), lo, hi)
    A = lambda: rand(d, (4, 3), 0.1, 2)
    for l1, l2 in [(0.1, 0.2), (0.0, 0.3)]:
        reg = [("l1", t(l1)), ("l2", t(l2))]
        lr, step = ("lr", t(0.1)), ("global_step", np.int64(3))
        case("train", "ResourceApplyAdagradDA", [("var", V()), ("gradient_accumulator", V()), ("gradient_squared_accumulator", A()), ("grad", V()), lr] + reg + [step], nvars=3)
        case("train", "ResourceApplyProximalAdagrad", [("var", V()), ("accum", A()), lr] + reg + [("grad", V())], nvars=2)
        case("train", "ResourceApplyProximalGradientDescent", [("var", V()), ("alpha", t(0.1))] + reg + [("delta", V())], nvars=1)
        for at in INDICES:
            G, I_ = ("grad", rand(d, (len(at), 3), -2, 2)), ("indices", at)
            case("train", "ResourceSparseApplyAdagradDA", [("var", V()), ("gradient_accumulator", V()), ("gradient_squared_accumulator", A()), G, I_, lr] + reg + [step], nvars=3)
            case("train", "ResourceSparseApplyProximalAdagrad", [("var", V()), ("accum", A()), lr] + reg + [G, I_], nvars=2)
            case("train", "ResourceSparseApplyProximalGradientDescent", [("var", V()), ("alpha", t(0.1))] + reg + [G, I_], nvars=1)
    case("train", "ResourceApplyAddSign", [("var", V()), ("m", V()), ("lr", t(0.1)), ("alpha", t(1.25)), ("sign_decay", t(0.5)), ("beta", t(0.9)), ("grad", V())], nvars=2)
    case("train", "ResourceApplyPowerSign", [("var", V()), ("m", V()), ("lr", t(0.1)), ("logbase", t(0.75)), ("sign_decay", t(0.5)), ("beta", t(0.9)), ("grad", V())], nvars=2)
write()

# The forms for the variables of TensorFlow 1.
g = [[0.5, -1.0], [2.0, 0.25]]
X = "grad"
IX = "indices"
for name, slots, rest, attrs in [
        ("ApplyFtrl", 2, [X, 0.1, 0.01, 0.02, -0.5], [{}, {"multiply_linear_by_lr": True}]),
        ("ApplyFtrlV2", 2, [X, 0.1, 0.01, 0.02, 0.03, -0.5], [{"multiply_linear_by_lr": True}]),
        ("ApplyAdagradDA", 2, [X, 0.1, 0.01, 0.02, np.int64(3)], [{}]),
        ("ApplyAddSign", 1, [0.1, 1.25, 0.5, 0.9, X], [{}]),
        ("ApplyPowerSign", 1, [0.1, 0.75, 0.5, 0.9, X], [{}]),
        ("ApplyProximalAdagrad", 1, [0.1, 0.01, 0.02, X], [{}]),
        ("ApplyProximalGradientDescent", 0, [0.1, 0.01, 0.02, X], [{}]),
        ("SparseApplyMomentum", 1, [0.1, X, IX, 0.9], [{}, {"use_nesterov": True}]),
        ("SparseApplyAdagrad", 1, [0.1, X, IX], [{}, {"update_slots": False}]),
        ("SparseApplyAdagradV2", 1, [0.1, 1e-6, X, IX], [{}, {"update_slots": False}]),
        ("SparseApplyAdadelta", 2, [0.1, 0.95, 1e-6, X, IX], [{}]),
        ("SparseApplyRMSProp", 2, [0.1, 0.9, 0.5, 1e-6, X, IX], [{}]),
        ("SparseApplyCenteredRMSProp", 3, [0.1, 0.9, 0.5, 10.0, X, IX], [{}]),
        ("SparseApplyFtrl", 2, [X, IX, 0.1, 0.01, 0.02, -0.5], [{}, {"multiply_linear_by_lr": True}]),
        ("SparseApplyFtrlV2", 2, [X, IX, 0.1, 0.01, 0.02, 0.03, -0.5], [{}, {"multiply_linear_by_lr": True}]),
        ("SparseApplyAdagradDA", 2, [X, IX, 0.1, 0.01, 0.02, np.int64(3)], [{}]),
        ("SparseApplyProximalAdagrad", 1, [0.1, 0.01, 0.02, X, IX], [{}]),
        ("SparseApplyProximalGradientDescent", 0, [0.1, 0.01, 0.02, X, IX], [{}])]:
    for d in [F32, tf.float64]:
        for a in attrs:
            p = P(d, I32)
            vs = []
            for i in range(slots + 1):
                v = p.VariableV2(shape=[3, 2] if "Sparse" in name else [2, 2], dtype=d, container="", shared_name="o%d" % i)
                first = np.array([[0.5, 0.25], [0.125, 1.0], [0.75, 2.0]], d.as_numpy_dtype) * (i + 1)
                vs.append(p.Assign(v, first if "Sparse" in name else first[:2], validate_shape=True, use_locking=True))
            args = [p.args[0] if isinstance(h, str) and h == X else p.args[1] if isinstance(h, str) else h if isinstance(h, np.int64) else p.const(np.array(h, d.as_numpy_dtype)) for h in rest]
            args = [p.const(np.array(h)) if isinstance(h, np.int64) else h for h in args]
            done = getattr(p, name)(*vs, *args, **a)
            p.ret(*[p.Identity(v, control=[done]) for v in [done] + vs[1:]])
            runs = [[g, [2, 0]], [g, [1, 1]]] if "Sparse" in name else [[g, [0]], [[[1.0, 2.0], [-1.0, 0.0]], [0]]]
            if "Sparse" in name:
                runs.append(([g, [3, 0]], "ind"))
            program("train", name + " of " + d.name + "".join(" " + k for k in a), p, *runs)
gen_programs.write()
