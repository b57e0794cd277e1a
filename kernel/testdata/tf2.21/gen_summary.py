"""Writes the fixtures of summaries, file names and ops that hand values on:
summary.json and programs/summary.json.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_summary.py
"""
import gen_programs
import recorder
from gen_programs import P, I32, F32
from recorder import *  # noqa: F403

for d in F + I + U:
    case("summary", "ScalarSummary", [("tags", s("a", "b/c")), ("values", rand(d, (2,), 0, 9))])
    case("summary", "HistogramSummary", [("tag", one("h")), ("values", rand(d, (3, 40), -9, 90))])
case("summary", "ScalarSummary", [("tags", one("")), ("values", np.float32(-0.0))])
case("summary", "ScalarSummary", [("tags", s(shape=(0,))), ("values", np.zeros((0,), np.float32))])
for v in [[], [0.0], [-0.0], [1e-13, -1e-13, 1e21, -1e21, 1e-12], [1.5] * 7, [float(x) for x in range(-20, 20)]]:
    case("summary", "HistogramSummary", [("tag", one("x/y")), ("values", np.array(v, np.float64))])
S1 = tf.raw_ops.ScalarSummary(tags=["a", "b"], values=[1.5, 2.0]).numpy()
S2 = tf.raw_ops.HistogramSummary(tag="h", values=[1.0, 2.0]).numpy()
case("summary", "MergeSummary", [("inputs", [one(S1), s(S2, b"")])])
case("summary", "MergeSummary", [("inputs", [s()])])
for x in [rand("float32", (2, 3)), s("a", "", b"\xff"), np.int64(7), np.zeros((0,), np.int32), np.array([True, False])]:
    case("summary", "TensorSummaryV2", [("tag", one("t")), ("tensor", x), ("serialized_summary_metadata", one(b"\x12\x01n"))])
case("summary", "TensorSummaryV2", [("tag", one("")), ("tensor", np.float32(1)), ("serialized_summary_metadata", one(b""))])
case("summary", "ShardedFilespec", [("basename", one("dir/model")), ("num_shards", np.int32(12))])
for x in [rand("float32", (2,)), s("a", "b"), np.int64(3)]:
    for op in ("DebugIdentity", "DebugIdentityV2", "DebugIdentityV3", "Copy", "CopyHost", "GuaranteeConst"):
        case("summary", op, [("input", x)], raw=lambda input: tf.identity(input))  # eager calls want a session's names

p = P(I32)
a = p.VariableV2(shape=[], dtype=I32, shared_name="a")
b = p.VariableV2(shape=[], dtype=I32, shared_name="b")
set_ = [p.Assign(a, np.array(5, np.int32)), p.Assign(b, np.array(7, np.int32))]
t = p.ControlTrigger(control=set_)
r = p.RefIdentity(p.RefSelect(p.args[0], [a, b], control=[t]))
p.ret(p.Identity(p.AssignAdd(r, np.array(10, np.int32))))
gen_programs.program("summary", "RefSelect", p, [0], [1], ([2], "Index must be in the range"))
gen_programs.write()
recorder.write()
