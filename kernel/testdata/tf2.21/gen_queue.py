"""Writes the fixtures of queues: programs/queue.json.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_queue.py
"""
import gen_programs
from gen_programs import *  # noqa: F403
from gen_programs import P, program

FAMILY = "queue"
A = np.array


class Q:
    """A queue of a program, whose ops run one after the other."""

    def __init__(self, p, kind, v2, types, shapes, capacity=-1, **kw):
        self.p, self.v, self.types, self.last = p, "V2" if v2 else "", types, []
        if kind == "PriorityQueue":
            self.types = [I64] + types
        self.h = getattr(p, kind + self.v)(component_types=types, shapes=shapes, capacity=capacity, container="", shared_name="q", **kw)

    def op(self, name, *a, **kw):
        r = getattr(self.p, "Queue" + name + self.v)(self.h, *a, control=self.last, **kw)
        self.last = [r[0] if isinstance(r, list) else r]
        return r if isinstance(r, list) else [r]

    def put(self, *v):
        self.op("Enqueue", list(v))

    def many(self, *v):
        self.op("EnqueueMany", list(v))

    def get(self):
        return self.op("Dequeue", component_types=self.types)

    def take(self, n, upto=False):
        return self.op("DequeueUpTo" if upto else "DequeueMany", A(n, np.int32), component_types=self.types)

    def size(self):
        return self.op("Size")

    def close(self, cancel=False):
        self.op("Close", cancel_pending_enqueues=cancel)

    def closed(self):
        return self.op("IsClosed")


f32 = lambda v: A(v, np.float32)
for v2 in (True, False):
    v = "V2" if v2 else "V1"
    for d in [F32, I32, I64, BOOL, STR, T.float64, T.uint8, T.complex64]:
        p = P(d)
        q = Q(p, "FIFOQueue", v2, [d, I32], [[2], []])
        q.many(p.args[0], A([7, 8, 9], np.int32))
        a = q.size() + q.get() + q.take(2) + q.size() + q.take(0)
        p.ret(*a)
        program(FAMILY, "FIFOQueue%s of %s" % (v, d.name), p, [[[b"a", b"b"], [b"c", b""], [b"e", b"ff"]] if d == STR else [[1, 0], [0, 1], [1, 1]]])
    p = P(F32)
    q = Q(p, "FIFOQueue", v2, [F32], [])
    q.put(p.args[0])
    q.put(f32([[1, 2]]))
    p.ret(*q.get(), *q.size(), *q.closed())
    program(FAMILY, "FIFOQueue%s of any shapes, over calls" % v, p, [1.0], [[2.0, 3.0]], [4.0], [5.0])
    p = P(I32)
    q = Q(p, "FIFOQueue", v2, [F32], [[]], capacity=5)
    q.many(f32([1, 2, 3]))
    q.close()
    a = q.closed() + q.op("DequeueUpTo", p.args[0], component_types=[F32]) + q.size()
    p.ret(*a)
    program(FAMILY, "FIFOQueue%s that is closed" % v, p, [2], ([2], "closed"))
    p = P(I32)
    q = Q(p, "FIFOQueue", v2, [F32], [[]])
    q.many(f32([1, 2, 3]))
    q.close(True)
    a = q.op("DequeueMany", p.args[0], component_types=[F32])
    p.ret(*a)
    program(FAMILY, "FIFOQueue%s with too few elements" % v, p, ([4], "insufficient elements"), ([4], "closed"))
    p = P(F32)
    q = Q(p, "FIFOQueue", v2, [F32], [[2]])
    q.put(p.args[0])
    p.ret(*q.get())
    program(FAMILY, "FIFOQueue%s of another shape" % v, p, [[1.0, 2.0]], ([[1.0]], "hape"))
    p = P(I32)
    q = Q(p, "FIFOQueue", v2, [F32], [])
    q.put(f32(1))
    p.ret(*q.op("DequeueMany", p.args[0], component_types=[F32]))
    program(FAMILY, "FIFOQueue%s of any shapes in batches" % v, p, ([1], "specified shapes"))
    p = P()
    q = Q(p, "PaddingFIFOQueue", v2, [F32, STR], [[None, 2], [None]])
    for n in (1, 3, 0, 2):
        q.put(f32(np.arange(2 * n).reshape(n, 2)), A([b"x"] * (n + 1), object))
    p.ret(*q.get(), *q.take(3), *q.size())
    program(FAMILY, "PaddingFIFOQueue" + v, p, [], [])
    p = P()
    q = Q(p, "PaddingFIFOQueue", v2, [F32], [[None, 2]])
    q.put(f32([[1, 2]]))
    q.close()
    p.ret(*q.take(3, True), *q.take(0))
    program(FAMILY, "PaddingFIFOQueue%s with fewer" % v, p, [])
    for seeds in [(1, 2), (7, 0)]:
        p = P()
        q = Q(p, "RandomShuffleQueue", v2, [F32, I32], [[], []], min_after_dequeue=2, seed=seeds[0], seed2=seeds[1])
        q.many(f32(np.arange(8)), A(np.arange(8) * 10, np.int32))
        a = q.get() + q.take(3) + q.size()
        q.many(f32([20, 21, 22]), A([200, 210, 220], np.int32))
        a += q.take(3)
        p.ret(*a, *q.size())
        program(FAMILY, "RandomShuffleQueue%s, seeds %s %s" % (v, *seeds), p, [], [])
    p = P()
    q = Q(p, "RandomShuffleQueue", v2, [F32], [[]], min_after_dequeue=3, seed=3, seed2=4)
    q.many(f32(np.arange(4)))
    q.close()
    p.ret(*q.take(9, True))
    program(FAMILY, "RandomShuffleQueue%s that is closed" % v, p, [], ([], "closed"))
    p = P()
    q = Q(p, "PriorityQueue", v2, [STR], [[]])
    order = [5, 3, 8, 3, 1, 9, 3, 5, 5, -2, 8]
    q.many(A(order, np.int64), A([("%d-%d" % (x, i)).encode() for i, x in enumerate(order)], object))
    a = q.get() + q.take(4)
    q.put(A(4, np.int64), A(b"later", object))
    a += q.take(5)
    q.close()
    p.ret(*a, *q.take(2))
    program(FAMILY, "PriorityQueue" + v, p, [])
gen_programs.write()
