"""Writes the fixtures of datasets and iterators: programs/data.json.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_data.py
"""
import gen_programs
from gen_programs import *  # noqa: F403
from gen_programs import P, fn, program

A = np.array
L = lambda v: A(v, np.int64)
B = lambda v: A(v)
FAMILY = "data"
ANY = [None]


O = dict(output_types=[I64], output_shapes=ANY)


def collect(p, ds, *types):
    """All elements of a dataset: the values of each component in a row, and how many each element has."""
    types = types or (I64,)

    def add(p, *a):
        n = len(types)
        state, e = a[:2 * n], a[2 * n:]
        out = []
        for k in range(n):
            out.append(p.ConcatV2([state[2 * k], p.Reshape(e[k], [-1])], 0))
            out.append(p.ConcatV2([state[2 * k + 1], p.Shape(e[k], out_type=I64), L([-1])], 0))
        return out

    empty = []
    for d in types:
        empty += [np.zeros([0], object if d == STR else tf.as_dtype(d).as_numpy_dtype), L([])]
    state = [I64 if k % 2 else types[k // 2] for k in range(2 * len(types))]
    f = fn(state + list(types), add)
    out = p.ReduceDataset(ds, empty, [], f=f, output_types=state, output_shapes=[[None]] * len(state), use_inter_op_parallelism=False)
    return out if isinstance(out, list) else [out]


def whole(name, build, *types, runs=([],), args=(), card=True):
    p = P(*args)
    ds = build(p, *p.args)
    p.ret(*collect(p, ds, *types), *([p.DatasetCardinality(ds)] if card else []))
    program(FAMILY, name, p, *runs)


def rng(p, *v):
    v = [0, v[0], 1] if len(v) == 1 else (list(v) + [1])[:3]
    return p.RangeDataset(*[L(x) for x in v], output_types=[I64], output_shapes=[[]])


# TensorFlow can't rewrite datasets of some old ops; these options switch that off.
PLAIN = "\x12\x00\x1a\x04\x08\x00p\x00*\x00:\x02\x08\x00b\x00"
plain = lambda p, ds: p.OptionsDataset(ds, serialized_options=PLAIN, **O)

# --- sources ---------------------------------------------------------------------
for d in [T.float32, T.float64, T.half, T.bfloat16, T.int8, T.int16, I32, I64, T.uint8, T.uint16, T.uint32, T.uint64, BOOL, STR, T.complex64, T.complex128]:
    v = A([[b"a", b"bc"], [b"", b"d"], [b"e", b"f"]], object) if d == STR else A([[1, 0], [0, 4], [5, 6]]).astype(d.as_numpy_dtype)
    whole("slices of " + d.name, lambda p: p.TensorSliceDataset([v], output_shapes=[[2]]), d)
    whole("one tensor of " + d.name, lambda p: p.TensorDataset([v], output_shapes=[[3, 2]]), d)
    whole("batches of " + d.name, lambda p: p.BatchDatasetV2(p.TensorSliceDataset([v], output_shapes=[[2]]), L(2), B(False), output_types=[d], output_shapes=[None]), d)
    pad = A(b"pad", object) if d == STR else A(1).astype(d.as_numpy_dtype)
    rows = lambda p: p.TensorSliceDataset([v], output_shapes=[[2]])
    whole("padded batches of " + d.name, lambda p: p.PaddedBatchDatasetV2(rows(p), L(2), [L([3])], [pad], B(False), output_shapes=[[None, 3]]), d)
two = lambda p: p.TensorSliceDataset([A([[1.5, 2], [3, 4], [5, 6]], np.float32), L([7, 8, 9])], output_shapes=[[2], []])
whole("slices of two tensors", two, F32, I64)
whole("no rows", lambda p: p.TensorSliceDataset([A([], np.float32)], output_shapes=[[]]), F32)
p = P(I64)
p.ret(*collect(p, p.TensorSliceDataset([p.args[0], L([1, 2])], output_shapes=[None, []]), I64, I64))
program(FAMILY, "slices of tensors of different sizes", p, [[3, 4]], ([[3, 4, 5]], "dim"))
for v in [(0, 5, 1), (3, 3, 1), (5, 0, 1), (0, 10, 3), (10, 0, -3), (1, -1, -1), (-5, 5, 4)]:
    whole("range %d %d %d" % v, lambda p: rng(p, *v))
for d in [T.int32, T.uint8, T.float32, T.float64, T.half]:
    whole("range of " + d.name, lambda p: p.RangeDataset(L(0), L(4), L(1), output_types=[d], output_shapes=[[]]), d)
p = P(I64)
p.ret(*collect(p, p.RangeDataset(L(0), L(4), p.args[0], output_types=[I64], output_shapes=[[]])))
program(FAMILY, "range by nothing", p, [2], ([0], "step"))

# --- counts ----------------------------------------------------------------------
for n in (0, 2, 5, 9, -1):
    whole("take %d" % n, lambda p: p.TakeDataset(rng(p, 5), L(n), **O))
    whole("skip %d" % n, lambda p: p.SkipDataset(rng(p, 5), L(n), **O))
    whole("repeat and take, %d times" % n, lambda p: p.TakeDataset(p.RepeatDataset(rng(p, 3), L(n), **O), L(20), **O))
whole("repeat nothing without end", lambda p: p.RepeatDataset(rng(p, 0), L(-1), **O))
whole("repeat what a filter leaves nothing of", lambda p: p.RepeatDataset(p.FilterDataset(rng(p, 3), [], predicate=fn([I64], lambda p, x: p.Less(x, L(0))), **O), L(-1), **O))
whole("concatenate", lambda p: p.ConcatenateDataset(rng(p, 2), p.ConcatenateDataset(rng(p, 0), rng(p, 5, 7), **O), **O))
whole("zip", lambda p: p.ZipDataset([rng(p, 3), rng(p, 5, 9), two(p)], output_types=[I64, I64, F32, I64], output_shapes=[None] * 4), I64, I64, F32, I64)
whole("zip with one without end", lambda p: p.ZipDataset([rng(p, 3), p.RepeatDataset(rng(p, 2), L(-1), **O)], output_types=[I64, I64], output_shapes=[None] * 2), I64, I64)
for n, i in [(3, 0), (3, 1), (3, 2), (1, 0), (9, 8)]:
    whole("shard %d of %d" % (i, n), lambda p: p.ShardDataset(rng(p, 7), L(n), L(i), **O))
p = P(I64, I64)
p.ret(*collect(p, p.ShardDataset(rng(p, 3), p.args[0], p.args[1], require_non_empty=True, **O)))
program(FAMILY, "shards that must have elements", p, [2, 1], ([2, 2], "index"), ([0, 0], "num_shards"))
whole("unbatch", lambda p: p.UnbatchDataset(p.BatchDatasetV2(two(p), L(2), B(False), output_types=[F32, I64], output_shapes=[[None, 2], [None]]), output_types=[F32, I64], output_shapes=[[2], []]), F32, I64)
whole("unbatch batches of a known size", lambda p: p.UnbatchDataset(p.BatchDatasetV2(rng(p, 7), L(2), B(True), output_types=[I64], output_shapes=[[2]]), output_types=[I64], output_shapes=[[]]))
p = P(I64)
p.ret(*collect(p, p.AssertCardinalityDataset(rng(p, 3), p.args[0], **O)), p.DatasetCardinality(p.AssertCardinalityDataset(rng(p, 3), p.args[0], **O)))
program(FAMILY, "cardinality that is asserted", p, [3], ([2], "at least 3 elements"), ([4], "contained"), ([-1], "contained"), ([-2], "contained"))
for op, kw in [("PrefetchDataset", 1), ("MaxIntraOpParallelismDataset", 1), ("PrivateThreadPoolDataset", 1)]:
    whole(op, lambda p: getattr(p, op)(rng(p, 3), L(2), **O))
for op, kw in [("OptionsDataset", dict(serialized_options="")), ("ModelDataset", {}), ("FinalizeDataset", {}), ("NonSerializableDataset", {})]:
    whole(op, lambda p: getattr(p, op)(rng(p, 3), **kw, **O))
whole("RewriteDataset", lambda p: p.RewriteDataset(rng(p, 3), A(b"replicate_on_split", object), **O))
whole("OptimizeDataset", lambda p: p.OptimizeDataset(rng(p, 3), A([], object), **O))
whole("OptimizeDatasetV2", lambda p: p.OptimizeDatasetV2(rng(p, 3), A([], object), A([], object), A([], object), **O))

# --- batches ---------------------------------------------------------------------
for n, drop in [(1, False), (3, False), (3, True), (10, False), (10, True), (7, True)]:
    whole("batches of %d%s" % (n, ", whole ones" if drop else ""), lambda p: p.BatchDatasetV2(rng(p, 7), L(n), B(drop), **O))
    whole("parallel batches of %d%s" % (n, ", whole ones" if drop else ""), lambda p: p.ParallelBatchDataset(rng(p, 7), L(n), L(2), B(drop), **O))
    whole("map and batches of %d%s" % (n, ", whole ones" if drop else ""), lambda p: p.MapAndBatchDataset(rng(p, 7), [L(10)], L(n), L(2), B(drop), f=fn([I64, I64], lambda p, x, y: p.Mul(x, y)), preserve_cardinality=True, **O))
whole("BatchDataset", lambda p: plain(p, p.BatchDataset(rng(p, 5), L(2), **O)))
upto = lambda p: p.MapDataset(rng(p, 5), [], f=fn([I64], lambda p, x: p.Range(L(0), x, L(1))), preserve_cardinality=True, **O)
p = P(I64)
p.ret(*collect(p, p.BatchDatasetV2(upto(p), p.args[0], B(False), **O)))
program(FAMILY, "batches of different shapes", p, [1], ([2], "batch"), ([0], "Batch size"))
for shape in ([-1], [6]):
    for drop in (False, True):
        whole("padded to %s%s" % (shape, ", whole ones" if drop else ""), lambda p: p.PaddedBatchDatasetV2(upto(p), L(2), [L(shape)], [L(-7)], B(drop), output_shapes=[None]))
whole("PaddedBatchDataset", lambda p: plain(p, p.PaddedBatchDataset(upto(p), L(3), [L([-1])], [L(0)], output_shapes=[None])))
p = P(I64)
p.ret(*collect(p, p.PaddedBatchDatasetV2(upto(p), L(3), [p.args[0]], [L(0)], B(False), output_shapes=[None])))
program(FAMILY, "padded to too few", p, [[4]], ([[3]], "pad"), ([[2, 2]], "rank"))
square = lambda p: p.MapDataset(rng(p, 4), [], f=fn([I64], lambda p, x: p.Fill(p.Pack([x, p.FloorMod(p.Mul(x, L(2)), L(3))]), p.Cast(x, DstT=F32))), output_types=[F32], output_shapes=[None])
whole("padded matrices", lambda p: p.PaddedBatchDatasetV2(square(p), L(4), [L([-1, -1])], [A(0.5, np.float32)], B(False), output_shapes=[None]), F32)
whole("padded matrices in larger ones", lambda p: p.PaddedBatchDatasetV2(square(p), L(2), [L([4, 3])], [A(-1, np.float32)], B(False), output_shapes=[None]), F32)

# --- windows ---------------------------------------------------------------------
flat = lambda p, ds: p.FlatMapDataset(ds, [], f=fn([VAR], lambda p, w: p.BatchDatasetV2(w, L(100), B(False), **O)), **O)
for size, shift, stride, drop in [(2, 2, 1, False), (3, 1, 1, True), (3, 1, 1, False), (2, 3, 2, False), (2, 1, 3, True), (3, 5, 1, False), (1, 4, 1, True), (4, 2, 2, True)]:
    p = P()
    w = p.WindowDataset(rng(p, 7), L(size), L(shift), L(stride), B(drop), output_types=[VAR], output_shapes=[[]])
    p.ret(*collect(p, flat(p, w)), p.DatasetCardinality(w))
    program(FAMILY, "windows %d %d %d %s" % (size, shift, stride, drop), p)
p = P(I64, I64, I64)
p.ret(*collect(p, flat(p, p.WindowDataset(rng(p, 7), *p.args, B(False), output_types=[VAR], output_shapes=[[]]))))
program(FAMILY, "windows of wrong sizes", p, [1, 1, 1], ([0, 1, 1], "size"), ([1, 0, 1], "shift"), ([1, 1, 0], "stride"))

# --- functions -------------------------------------------------------------------
times = lambda: fn([I64, I64], lambda p, x, y: p.Mul(x, y))
for keep in (False, True):
    whole("MapDataset %s" % keep, lambda p, y: p.MapDataset(rng(p, 4), [y], f=times(), preserve_cardinality=keep, **O), args=[I64], runs=([3], [-2]))
whole("ParallelMapDataset", lambda p, y: p.ParallelMapDataset(rng(p, 4), [y], A(3, np.int32), f=times(), **O), args=[I64], runs=([3], [-2]))
whole("ParallelMapDatasetV2", lambda p, y: p.ParallelMapDatasetV2(rng(p, 4), [y], L(-1), f=times(), deterministic="true", **O), args=[I64], runs=([3], [-2]))
odd = lambda: fn([I64, I64], lambda p, x, n: p.Equal(p.FloorMod(x, n), L(1)))
whole("FilterDataset", lambda p, n: p.FilterDataset(rng(p, 9), [n], predicate=odd(), **O), args=[I64], runs=([2], [4], [1]))
whole("ParallelFilterDataset", lambda p, n: plain(p, p.ParallelFilterDataset(rng(p, 9), [n], L(2), predicate=odd(), deterministic="true", **O)), args=[I64], runs=([2], [4]))
whole("TakeWhileDataset", lambda p, n: p.TakeWhileDataset(p.ConcatenateDataset(rng(p, 5), rng(p, 2), **O), [n], predicate=fn([I64, I64], lambda p, x, n: p.Less(x, n)), **O), args=[I64], runs=([3], [9], [0]))
whole("ScanDataset", lambda p, s: p.ScanDataset(rng(p, 5), [s], [L(100)], f=fn([I64] * 3, lambda p, s, x, c: [p.AddV2(s, x), p.AddV2(s, c)]), preserve_cardinality=True, **O), args=[I64], runs=([0], [7]))
p = P(I64)
p.ret(p.ReduceDataset(rng(p, 5), [p.args[0]], [L(2)], f=fn([I64] * 3, lambda p, s, x, c: p.AddV2(p.Mul(s, c), x)), output_types=[I64], output_shapes=[[]]))
program(FAMILY, "ReduceDataset", p, [0], [7])
p = P(I64)
bad = p.ReduceDataset(p.MapDataset(rng(p, 5), [p.args[0]], f=fn([I64] * 2, lambda p, x, y: p.FloorDiv(y, x)), **O), [L(0)], [], f=fn([I64] * 2, lambda p, s, x: p.AddV2(s, x)), output_types=[I64], output_shapes=[[]])
p.ret(bad)
program(FAMILY, "a function that fails", p, ([7], "zero"))
sub = lambda: fn([I64, I64], lambda p, x, c: p.RangeDataset(p.Mul(x, c), p.AddV2(p.Mul(x, c), x), L(1), output_types=[I64], output_shapes=[[]]))
whole("FlatMapDataset", lambda p, c: p.FlatMapDataset(rng(p, 5), [c], f=sub(), **O), args=[I64], runs=([10], [100]), card=False)
for cycle, block in [(1, 1), (2, 1), (2, 2), (3, 1), (3, 2), (7, 1), (4, 3), (2, 5)]:
    whole("interleave %d %d" % (cycle, block), lambda p, c: p.InterleaveDataset(rng(p, 6), [c], L(cycle), L(block), f=sub(), **O), args=[I64], runs=([10],), card=False)
    whole("interleave downwards %d %d" % (cycle, block), lambda p, c: p.InterleaveDataset(rng(p, 5, -1, -1), [c], L(cycle), L(block), f=sub(), **O), args=[I64], runs=([10],), card=False)
    for v, extra in [(2, [L(2)]), (3, [L(2)]), (4, [L(2), L(2), L(2)])] if cycle < 7 else []:
        kw = dict(sloppy=False) if v == 2 else dict(deterministic="true")
        whole("parallel interleave V%d %d %d" % (v, cycle, block), lambda p, c: getattr(p, "ParallelInterleaveDatasetV%d" % v)(rng(p, 6), [c], L(cycle), L(block), *extra[:-1], L(min(2, cycle)), f=sub(), **kw, **O), args=[I64], runs=([10],), card=False)
        whole("parallel interleave downwards V%d %d %d" % (v, cycle, block), lambda p, c: getattr(p, "ParallelInterleaveDatasetV%d" % v)(rng(p, 5, -1, -1), [c], L(cycle), L(block), *extra[:-1], L(min(2, cycle)), f=sub(), **kw, **O), args=[I64], runs=([10],), card=False)
p = P(I64, I64)
p.ret(*collect(p, p.InterleaveDataset(rng(p, 6), [L(1)], *p.args, f=sub(), **O)))
program(FAMILY, "interleave of wrong sizes", p, [1, 1], ([0, 1], "cycle_length"), ([1, 0], "block_length"))

# --- shuffling -------------------------------------------------------------------
rep = lambda p, ds, n: p.RepeatDataset(ds, L(n), **O)
for n, buf in [(10, 10), (10, 3), (10, 1), (10, 100), (5, 4), (1, 2), (0, 3)]:
    for seed in [(1, 2), (-5, 1 << 40)] if n == 10 else [(42, 0)]:
        for again in (True, False):
            whole("shuffle %d in %d, seeds %d %d, %s" % (n, buf, *seed, again), lambda p: rep(p, p.ShuffleDataset(rng(p, n), L(buf), L(seed[0]), L(seed[1]), reshuffle_each_iteration=again, **O), 3), runs=([], []))
for again in (True, False):
    whole("ShuffleDatasetV3 %s" % again, lambda p: rep(p, p.ShuffleDatasetV3(rng(p, 8), L(4), L(5), L(6), p.DummySeedGenerator(), reshuffle_each_iteration=again, **O), 3), runs=([], []))
    p = P()
    h, d = p.AnonymousSeedGenerator(L(5), L(6), B(again))
    ds = rep(p, p.ShuffleDatasetV3(rng(p, 8), L(4), L(0), L(0), h, reshuffle_each_iteration=again, **O), 2)
    r = collect(p, ds)
    p.ret(*r, p.DeleteSeedGenerator(h, d, control=r[:1]))
    p.results = r
    program(FAMILY, "AnonymousSeedGenerator %s" % again, p, [], [])
p = P()
h, d = p.AnonymousSeedGenerator(L(5), L(6), B(True))
r = collect(p, rep(p, p.ShuffleDatasetV2(rng(p, 8), L(4), h, **O), 2))
x = p.DeleteSeedGenerator(h, d, control=r[:1])
p.ret(*r)
program(FAMILY, "ShuffleDatasetV2", p, [], [])
for count in (1, 2, 5):
    for n, buf in [(4, 3), (4, 6), (3, 50), (1, 9)]:
        whole("ShuffleAndRepeatDataset %d %d %d" % (count, n, buf), lambda p: rep(p, p.ShuffleAndRepeatDataset(rng(p, n), L(buf), L(5), L(6), L(count), reshuffle_each_iteration=True, **O), 2))
whole("ShuffleAndRepeatDataset without end", lambda p: p.TakeDataset(p.ShuffleAndRepeatDataset(rng(p, 3), L(50), L(5), L(6), L(-1), reshuffle_each_iteration=True, **O), L(40), **O))
whole("ShuffleAndRepeatDatasetV2", lambda p: p.ShuffleAndRepeatDatasetV2(rng(p, 4), L(9), L(5), L(6), L(3), p.DummySeedGenerator(), reshuffle_each_iteration=True, **O))
whole("shuffle twice", lambda p: rep(p, p.ShuffleDataset(p.ShuffleDataset(rng(p, 6), L(4), L(1), L(2), reshuffle_each_iteration=True, **O), L(3), L(3), L(4), reshuffle_each_iteration=True, **O), 4))
p = P(I64)
p.ret(*collect(p, p.ShuffleDataset(rng(p, 5), p.args[0], L(1), L(2), reshuffle_each_iteration=True, **O)))
program(FAMILY, "shuffle in buffers of odd sizes", p, [2], ([0], "buffer_size"), ([-1], "buffer_size"), [-2])

# --- caches ----------------------------------------------------------------------
draws = lambda p: p.MapDataset(rng(p, 4), [], f=fn([I64], lambda p, x: p.AddV2(p.Mul(x, L(1000)), p.Cast(p.RandomUniform([], dtype=F32, seed=3, seed2=4), DstT=I64))), **O)
for op, extra in [("CacheDataset", lambda p: []), ("CacheDatasetV2", lambda p: [p.DummyMemoryCache()])]:
    whole(op, lambda p: rep(p, getattr(p, op)(rng(p, 4), A(b"", object), *extra(p), **O), 3))
    whole(op + " not read to its end", lambda p: p.ConcatenateDataset(p.TakeDataset(getattr(p, op)(rng(p, 4), A(b"", object), *extra(p), **O), L(2), **O), rng(p, 2), **O))
p = P()
h, d = p.AnonymousMemoryCache()
ds = p.CacheDatasetV2(rng(p, 4), A(b"", object), h, **O)
r = collect(p, rep(p, ds, 2))
x = p.DeleteMemoryCache(h, d, control=r[:1])
p.ret(*r)
program(FAMILY, "AnonymousMemoryCache", p, [], [])
# Cached elements were computed once: the function counts its calls in a variable.
p = P()
v = p.VarHandleOp(dtype=I64, shape=[], shared_name="calls")
a = p.AssignVariableOp(v, L(0))
count = p.MapDataset(rng(p, 4), [v], f=fn([I64, RES], lambda p, x, v: p.AddV2(x, p.Mul(L(10), p.ReadVariableOp(v, dtype=I64, control=[p.AssignAddVariableOp(v, L(1))])))), **O)
r = collect(p, rep(p, p.CacheDataset(count, A(b"", object), **O), 3))
p.steps[r[0][0]]["control"] = [a[0]]
p.ret(*r, p.ReadVariableOp(v, dtype=I64, control=r[:1]))
program(FAMILY, "a cache of what changes", p, [], [])

# --- iterators -------------------------------------------------------------------
E = dict(output_types=[I64], output_shapes=[[]])
for op in ("Iterator", "IteratorV2"):
    for name in ("it", ""):
        if op == "IteratorV2" and not name:
            pass
        p = P(BOOL)
        it = getattr(p, op)(shared_name=name, container="", **E)
        made = p.If(p.args[0], [it], Tout=[I64], then_branch=fn([RES], lambda p, it: p.Identity(L(0), control=[p.MakeIterator(rng(p, 5), it)])), else_branch=fn([RES], lambda p, it: p.Identity(L(1))), output_shapes=[[]])
        x = p.IteratorGetNext(it, control=[made], **E)
        y = p.IteratorGetNextSync(it, control=[x], **E)
        p.ret(x, y)
        program(FAMILY, "%s called %r" % (op, name), p, *(([([False], "not been initialized")] if name else []) + [[True], [False], ([False], "End of sequence"), [True]]))
p = P()
factory = fn([], lambda p: p.BatchDatasetV2(rng(p, 5), L(2), B(False), output_types=[I64], output_shapes=[[None]]))
it = p.OneShotIterator(dataset_factory=factory, output_types=[I64], output_shapes=[[None]], container="", shared_name="")
p.ret(p.IteratorGetNext(it, output_types=[I64], output_shapes=[[None]]))
program(FAMILY, "OneShotIterator", p, [], [], [], ([], "End of sequence"), ([], "End of sequence"))
p = P()
it = p.OneShotIterator(dataset_factory=fn([], lambda p: two(p)), output_types=[F32, I64], output_shapes=[[2], []], container="", shared_name="")
o = p.IteratorGetNextAsOptional(it, output_types=[F32, I64], output_shapes=[[2], []])
p.ret(p.OptionalHasValue(o), *p.If(p.OptionalHasValue(o), [o], Tout=[F32, I64], then_branch=fn([VAR], lambda p, o: p.OptionalGetValue(o, output_types=[F32, I64], output_shapes=[[2], []])), else_branch=fn([VAR], lambda p, o: [p.Identity(A([0, 0], np.float32)), p.Identity(L(0))]), output_shapes=[[2], []]))
program(FAMILY, "IteratorGetNextAsOptional", p, [], [], [], [], [])
for op in ("AnonymousIterator", "AnonymousIteratorV2", "AnonymousIteratorV3"):
    p = P()
    it = getattr(p, op)(**E)
    it, d = it if isinstance(it, list) else (it, None)
    m = p.MakeIterator(rng(p, 3), it)
    a = p.IteratorGetNext(it, control=[m], **E)
    b = p.IteratorGetNext(it, control=[a], **E)
    if d is not None:
        p.DeleteIterator(it, d, control=[b])
    p.ret(a, b)
    program(FAMILY, op, p, [], [])
for op in ("IteratorFromStringHandle", "IteratorFromStringHandleV2"):
    p = P()
    it = p.IteratorV2(shared_name="named", container="", **E)
    m = p.MakeIterator(rng(p, 3), it)
    again = getattr(p, op)(p.IteratorToStringHandle(it), **E)
    a = p.IteratorGetNext(it, control=[m], **E)
    b = p.IteratorGetNext(again, control=[a], **E)
    p.ret(a, b)
    program(FAMILY, op, p, [], [])
p = P(I64)
p.ret(p.DatasetToSingleElement(p.BatchDatasetV2(p.RangeDataset(L(0), p.args[0], L(1), **E), L(3), B(False), **O), **O))
program(FAMILY, "DatasetToSingleElement", p, [2], [3], ([4], "more than one element"), ([0], "empty"))
p = P()
it = p.AnonymousIteratorV3(output_types=[F32], output_shapes=[[]])
p.ret(p.IteratorGetNext(it, control=[p.MakeIterator(rng(p, 3), it)], output_types=[F32], output_shapes=[[]]))
program(FAMILY, "an iterator of another type", p, ([], "type"))
gen_programs.write()
