"""Writes the fixtures of staging areas and of BatchFunction: programs/stage.json.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_stage.py
"""
import gen_programs
from gen_programs import *  # noqa: F403
from gen_programs import P, fn, program

A = np.array
FAMILY = "stage"
L = lambda v: A(v, np.int64)
N = dict(container="", shared_name="area")
kinds = dict(dtypes=[I64, F32], **N)


class Ops:
    """Ops of one area, one after the other."""

    def __init__(self, p):
        self.p, self.last = p, []

    def __call__(self, op, *a, **kw):
        r = getattr(self.p, op)(*a, control=self.last, **kw)
        self.last = [r[0] if isinstance(r, list) else r]
        return r if isinstance(r, list) else [r]


for capacity in (0, 3):
    p = P(I64)
    o, at = Ops(p), dict(capacity=capacity, **kinds)
    o("Stage", [p.args[0], A([1, 2], np.float32)], capacity=capacity, **N)
    o("Stage", [L(8), A([3], np.float32)], capacity=capacity, **N)
    out = o("StageSize", **at) + o("StagePeek", A(1, np.int32), **at) + o("Unstage", **at) + o("StageSize", **at)
    o("Stage", [L(9), A([4], np.float32)], capacity=capacity, **N)
    out += o("Unstage", **at) + o("StageSize", **at)
    o("StageClear", **at)
    p.ret(*(out + o("StageSize", **at)))
    program(FAMILY, "Stage with room for %d" % capacity, p, [5], [7])
for prefix in ("", "Ordered"):
    p = P(I64)
    o, at = Ops(p), dict(capacity=0, memory_limit=0, **kinds)
    put = lambda k, i, v: o(prefix + "MapStage", L(k), A(i, np.int32), v, **at)
    both = A([0, 1], np.int32)
    put(5, [0, 1], [p.args[0], A([1, 2], np.float32)])
    put(3, [1], [A([3], np.float32)])
    out = o(prefix + "MapSize", **at) + o(prefix + "MapIncompleteSize", **at)
    out += o(prefix + "MapPeek", L(5), A([1], np.int32), dtypes=[F32], **N) if False else []
    put(3, [0], [L(30)])
    out += o(prefix + "MapSize", **at) + o(prefix + "MapIncompleteSize", **at)
    out += o(prefix + "MapPeek", L(3), both, **at)
    out += o(prefix + "MapUnstage", L(3), both, **at) + o(prefix + "MapSize", **at)
    out += o(prefix + "MapUnstageNoKey", both, **at) + o(prefix + "MapSize", **at)
    put(1, [0, 1], [L(1), A([1], np.float32)])
    o(prefix + "MapClear", **at)
    p.ret(*(out + o(prefix + "MapSize", **at)))
    program(FAMILY, prefix + "MapStage", p, [5], [7])
p = P(I64)
o, at = Ops(p), dict(capacity=0, memory_limit=0, **kinds)
for k in (4, -2, 9):
    o("OrderedMapStage", L(k), A([0, 1], np.int32), [L(k * 10), A([k], np.float32)], **at)
p.ret(*(o("OrderedMapUnstageNoKey", A([0, 1], np.int32), **at) + o("OrderedMapUnstageNoKey", A([0, 1], np.int32), **at) + o("OrderedMapUnstageNoKey", A([0, 1], np.int32), **at) + [p.args[0]]))
program(FAMILY, "keys in order", p, [5])
B = dict(num_batch_threads=1, max_batch_size=3, batch_timeout_micros=0, container="", shared_name="b", batching_queue="")
p = P(F32, F32)
f = fn([F32, F32], lambda p, x, w: [p.MatMul(x, w), p.Neg(x)])
p.ret(*p.BatchFunction([p.args[0]], [p.args[1]], f=f, Tout=[F32, F32], **B))
w = [[1, 2], [3, 4]]
program(FAMILY, "a batch", p, [[[1, 2]], w], [[[1, 2], [3, 4], [5, 6]], w], ([[[1, 2]] * 4, w], "larger than"), ([1, w], "dimension"))
p = P(F32)
p.ret(p.DebugGradientIdentity(p.args[0]))
program(FAMILY, "DebugGradientIdentity", p, [[1, 2]])
gen_programs.write()
