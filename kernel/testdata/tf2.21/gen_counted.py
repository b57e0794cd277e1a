"""Writes the fixtures of loops over whole numbers and of weights that are shrunk: programs/counted.json.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_counted.py
"""
import gen_programs
from gen_programs import *  # noqa: F403
from gen_programs import P, fn, program

A = np.array
FAMILY = "counted"

body = fn([I32, F32, I32], lambda p, i, x, n: [p.Mul(x, p.Cast(i, DstT=F32, Truncate=False)), p.AddV2(n, i)])
p = P(I32, I32, I32, F32)
p.ret(*p.For(p.args[0], p.args[1], p.args[2], [p.args[3], A(7, np.int32)], body=body))
program(FAMILY, "For", p, [1, 5, 1, 0.5], [5, -4, -3, 2.0], [3, 3, 1, 1.5], [0, 7, 3, 1.0])

for l1, l2 in [(0.5, 2.0), (1.0, 0.5), (0.1, 0.0), (0.0, 1.0)]:
    p = P()
    refs, deps = [], []
    for k, v in enumerate([A([1, -0.2, 0.3, -3, 0], np.float32), A([[0.7], [-9]], np.float32)]):
        r = p.VariableV2(shape=list(v.shape), dtype=F32, container="", shared_name="w%d" % k)
        deps.append(p.Assign(r, v, validate_shape=True, use_locking=True))
        refs.append(r)
    done = p.SdcaShrinkL1(refs, l1=l1, l2=l2, control=deps)
    p.ret(*[p.Identity(r, control=[done]) for r in refs])
    program(FAMILY, "shrink %g %g" % (l1, l2), p, [])

gen_programs.write()
