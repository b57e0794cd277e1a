"""Writes the fixtures of datasets under their first names, of sparse and compressed
elements, of tables made of datasets, and of files of comma-separated values:
programs/experimental.json.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_experimental.py
"""
import os
import tempfile

import gen_programs
from gen_programs import *  # noqa: F403
from gen_programs import P, fn, program
from gen_datasets_tools import collect, ints, rng, whole_of

A = np.array
L = lambda v: A(v, np.int64)
FAMILY = "experimental"
O = dict(output_types=[I64], output_shapes=[None])
VAR = T.variant
whole = whole_of(FAMILY)
os.chdir(tempfile.mkdtemp())

X = "Experimental"
key = lambda m: fn([I64], lambda p, x: [p.FloorMod(x, L(m))])
batch = fn([I64, VAR], lambda p, k, d: [p.BatchDatasetV2(d, L(100), A(False), output_types=[I64], output_shapes=[[None]])])
whole("first GroupByWindow", lambda p: p.ExperimentalGroupByWindowDataset(rng(p, 10), [], [], [], key_func=key(3), reduce_func=batch, window_size_func=fn([I64], lambda p, k: [p.AddV2(k, L(2))]), **O))
whole("first GroupByReducer", lambda p: p.ExperimentalGroupByReducerDataset(rng(p, 7), [], [], [], [], key_func=key(3), init_func=fn([I64], lambda p, k: [p.Mul(k, L(100))]),
      reduce_func=fn([I64, I64], lambda p, s, x: [p.AddV2(s, x)]), finalize_func=fn([I64], lambda p, s: [p.Mul(s, L(2))]), **O))
whole("first Unique", lambda p: p.ExperimentalUniqueDataset(ints(p, [3, 1, 3, 2, 1, 5]), **O))
whole("first IgnoreErrors", lambda p: p.ExperimentalIgnoreErrorsDataset(p.MapDataset(ints(p, [1, 0, 2, 0]), [], f=fn([I64], lambda p, x: [p.FloorDiv(L(10), x)]), **O), **O))
whole("first DirectedInterleave", lambda p: p.ExperimentalDirectedInterleaveDataset(ints(p, [0, 1, 1, 0]), [rng(p, 3), ints(p, [10, 11])], **O))
whole("first SlidingWindow", lambda p: p.ExperimentalSlidingWindowDataset(rng(p, 9), L(3), L(2), L(1), output_types=[I64], output_shapes=[[None]]))
whole("first Scan", lambda p: p.ExperimentalScanDataset(rng(p, 5), [L(1)], [], f=fn([I64, I64], lambda p, s, x: [p.AddV2(s, x), p.Mul(s, x)]), **O))
whole("first TakeWhile", lambda p: p.ExperimentalTakeWhileDataset(rng(p, 9), [], predicate=fn([I64], lambda p, x: [p.Less(x, L(4))]), **O))
whole("first Unbatch", lambda p: p.ExperimentalUnbatchDataset(p.BatchDatasetV2(rng(p, 5), L(2), A(False), output_types=[I64], output_shapes=[[None]]), **O))
whole("first MapAndBatch", lambda p: p.ExperimentalMapAndBatchDataset(rng(p, 5), [], L(2), L(1), A(False), f=fn([I64], lambda p, x: [p.Mul(x, L(3))]), output_types=[I64], output_shapes=[[None]]))
inner = fn([I64], lambda p, x: [p.RangeDataset(p.Mul(x, L(10)), p.AddV2(p.Mul(x, L(10)), x), L(1), output_types=[I64], output_shapes=[[]])])
whole("first ParallelInterleave", lambda p: p.ExperimentalParallelInterleaveDataset(rng(p, 5), [], L(2), L(1), A(False), L(1), L(1), f=inner, **O))
whole("first Sleep", lambda p: p.ExperimentalSleepDataset(rng(p, 3), L(1), **O))
whole("first statistics", lambda p: p.ExperimentalLatencyStatsDataset(p.ExperimentalBytesProducedStatsDataset(rng(p, 3), A(b"x"), **O), A(b"x"), **O))
whole("first wrappers", lambda p: p.ExperimentalNonSerializableDataset(p.ExperimentalMaxIntraOpParallelismDataset(p.ExperimentalPrivateThreadPoolDataset(rng(p, 3), L(1), **O), L(1), **O), **O))
whole("first ChooseFastest", lambda p: p.ExperimentalChooseFastestDataset([rng(p, 3), rng(p, 3)], num_experiments=1, **O))
whole("first AutoShard", lambda p: p.ExperimentalAutoShardDataset(rng(p, 3), L(1), L(0), **O))
for prefix in (X, ""):
    get = lambda p, op: getattr(p, prefix + op)
    whole(prefix + "thread pools", lambda p: get(p, "ThreadPoolDataset")(rng(p, 3), get(p, "ThreadPoolHandle")(num_threads=2, max_intra_op_parallelism=1, display_name="x", container="", shared_name=""), **O))
    whole(prefix + "set statistics", lambda p: get(p, "SetStatsAggregatorDataset")(rng(p, 3), get(p, "StatsAggregatorHandle")(container="", shared_name=""), A(b"t"), A(b"c"), **O))
whole("set statistics V2", lambda p: p.SetStatsAggregatorDataset(rng(p, 3), p.StatsAggregatorHandleV2(container="", shared_name=""), A(b"t"), A(b"c"), **O))
p = P()
p.ret(p.ExperimentalDatasetCardinality(rng(p, 7)))
program(FAMILY, "first DatasetCardinality", p)
for op in ("IteratorGetDevice", "ExperimentalIteratorGetDevice"):
    p = P()
    p.ret(getattr(p, op)(p.IteratorV2(shared_name="", container="", output_types=[I64], output_shapes=[[]])))
    program(FAMILY, op, p)
whole("RandomDatasetV2", lambda p: p.TakeDataset(p.RandomDatasetV2(L(3), L(4), p.DummySeedGenerator(), rerandomize_each_iteration=False, output_types=[I64], output_shapes=[[]]), L(5), **O))

# Sparse elements, read back by DeserializeSparse.
for d, v in [(F32, A([[1, 2], [3, 4], [5, 6]], np.float32)), (STR, A([[b"a", b"b"], [b"", b"c"], [b"d", b"e"]], object))]:
    for op in ("DenseToSparseBatchDataset", X + "DenseToSparseBatchDataset"):
        for shape in ([2], [-1], [5]):
            p = P(d)
            ds = getattr(p, op)(p.TensorSliceDataset([p.args[0]], output_shapes=[[None]]), L(3), L(shape), output_types=[VAR], output_shapes=[[3]])
            e = p.DatasetToSingleElement(ds, output_types=[VAR], output_shapes=[[3]])
            p.ret(*p.DeserializeSparse(e, dtype=d))
            program(FAMILY, "%s of %s in %s" % (op, d.name, shape), p, [v], [v[:2]])
p = P(F32)
ds = p.DenseToSparseBatchDataset(p.TensorSliceDataset([p.args[0]], output_shapes=[[None]]), L(3), L([1]), output_types=[VAR], output_shapes=[[3]])
p.ret(*p.DeserializeSparse(p.DatasetToSingleElement(ds, output_types=[VAR], output_shapes=[[3]]), dtype=F32))
program(FAMILY, "DenseToSparseBatchDataset too small", p, ([[[1, 2]]], "larger"))
p = P(I64, F32, I64)
ds = p.SparseTensorSliceDataset(p.args[0], p.args[1], p.args[2])
SP = dict(output_types=[I64, F32, I64], output_shapes=[[None, None], [None], [None]])
parts = []
for skip in range(3):
    one = p.TakeDataset(p.SkipDataset(ds, L(skip), **SP), L(1), **SP)
    parts += p.DatasetToSingleElement(one, **SP)
p.ret(p.DatasetCardinality(ds), *parts)
program(FAMILY, "SparseTensorSliceDataset", p, [[[0, 1], [0, 3], [2, 0]], [1, 2, 3], [3, 4]], [[[1, 1]], [5], [3, 2]], [np.zeros((0, 2)), [], [3, 2]])

p = P(I64, STR)
e = p.CompressElement([p.args[0], p.args[1]])
p.ret(*p.UncompressElement(e, output_types=[I64, STR], output_shapes=[None, None]))
program(FAMILY, "CompressElement", p, [[1, 2, 3], [b"x", b""]], [5, b"long" * 100])

# A table of pairs.
p = P(STR, I64, STR)
h = p.HashTableV2(container="", shared_name="t", use_node_name_sharing=False, key_dtype=STR, value_dtype=I64)
done = p.InitializeTableFromDataset(h, p.TensorSliceDataset([p.args[0], p.args[1]], output_shapes=[[], []]))
p.ret(p.LookupTableFindV2(h, p.args[2], L(-1), control=[done]))
program(FAMILY, "InitializeTableFromDataset", p, [[b"a", b"b", b"c"], [5, 6, 7], [b"c", b"x", b"a"]])
p = P(I64)
q = p.FIFOQueueV2(component_types=[I64], shapes=[], capacity=5, container="", shared_name="fq")
put = p.QueueEnqueueV2(q, [p.args[0]], timeout_ms=-1)
size = p.QueueSize(p.FakeQueue(q), control=[put])
p.ret(size, p.QueueDequeue(p.FakeQueue(q), component_types=[I64], timeout_ms=-1, control=[size]))
program(FAMILY, "FakeQueue", p, [3], [[1, 2]])

# MapDefun.
for n in (0, 1, 3):
    p = P(F32, I64, F32)
    f = fn([F32, I64, F32], lambda p, x, k, w: [p.AddV2(p.Mul(x, x), w), p.Neg(k)])
    p.ret(*p.MapDefun([p.args[0], p.args[1]], [p.args[2]], f=f, output_types=[F32, I64], output_shapes=[[2], []], max_intra_op_parallelism=1))
    program(FAMILY, "MapDefun over %d" % n, p, [np.arange(2 * n).reshape(n, 2), np.arange(n), [10, 20]])
p = P(F32, I64)
p.ret(p.MapDefun([p.args[0], p.args[1]], [], f=fn([F32, I64], lambda p, x, k: [x]), output_types=[F32], output_shapes=[[]], max_intra_op_parallelism=1))
program(FAMILY, "MapDefun over rows that differ", p, [[1, 2], [1, 2]], ([[1, 2], [1]], "dimension 0"))

# Files.
p = P(STR)
name = A(b"records")
done = p.DatasetToTFRecord(p.TensorSliceDataset([p.args[0]], output_shapes=[[]]), name, A(b""))
p.ret(p.ReadFile(name, control=[done]))
program(FAMILY, "DatasetToTFRecord", p, [[b"one", b"", b"three" * 99]], [np.zeros([0], object)])
for op, how in [("DatasetToTFRecord", b"GZIP"), (X + "DatasetToTFRecord", b"ZLIB")]:
    p = P(STR)
    done = getattr(p, op)(p.TensorSliceDataset([p.args[0]], output_shapes=[[]]), A(b"packed"), A(how))
    p.ret(*collect(p, p.TFRecordDataset(p.Identity(A(b"packed"), control=[done]), A(how), L(0)), STR))
    program(FAMILY, op, p, [[b"one", b"", b"three" * 99]])
p = P(STR)
put = [p.WriteFile(A(n), p.args[0]) for n in (b"found/b1", b"found/a2", b"found/c")]
p.ret(*collect(p, p.ExperimentalMatchingFilesDataset(p.Identity(A([b"found/?1", b"found/a*"]), control=put)), STR))
program(FAMILY, "first MatchingFiles", p, [b"x"])
DD = [A([7], np.int32), A([b"d"], object)]
CSV = dict(types=[I32, STR], defaults=DD, op="CSVDataset", header=False, delim=b",", quotes=True, na=b"NA", cols=[], exclude=None, names=b"csv", how=b"", size=4)


def csv(name, *texts, **kw):
    k = dict(CSV, **kw)
    p = P(STR)
    f = p.WriteFile(A(b"csv"), p.args[0])
    more = [] if k["exclude"] is None else [L(k["exclude"])]
    ds = getattr(p, k["op"])(p.Identity(A(k["names"]), control=[f]), A(k["how"]), L(k["size"]), A(k["header"]), A(k["delim"]), A(k["quotes"]), A(k["na"]), L(k["cols"]), k["defaults"], *more, output_shapes=[[]] * len(k["types"]))
    p.ret(*collect(p, ds, *k["types"]))
    program(FAMILY, "CSV " + name, p, *[([t[0]], t[1]) if isinstance(t, tuple) else [t] for t in texts])


csv("plain", b"1,2\n3,4\n", b"1,2\r\n3,4", b"1,2\r3,4\r", b"1,\n", b",", b'1,"a""b,\nc"\n2,x', b"NA,NA\n", b'1,"NA"\n', b'1,"a"', b" 1 , b \n", b'"1",x\n', b"")
csv("damaged", (b"1,2\n\n3,4", "Expect 2"), (b'1,"a"b\n', "quote"), (b'1,a"b\n', "Unquoted"), (b"1,2,3\n", "have more"), (b"1\n", "Expect 2"), (b"x,1\n", "not a valid"), (b'1,"a', "Reached end"), (b"1,2,\n", "have more"), (b"1,a\r\r\n2,b", "Expect 2"))
csv("header", b"h1,h2\n1,2\n", b'"h\n1",h2\n1,2\n', b"h", (b"", "header"), header=True)
csv("no quotes", b'1,"a""b"\n', (b'1,a"b,c"\n', "have more"), quotes=False)
csv("columns", b"1,2,3,4\n5,6,7,8\n", (b"1,2\n", "Expect 2"), cols=[0, 2])
csv("columns that fall", (b"1,2\n", "increasing"), cols=[2, 0])
csv("one column for two types", (b"1,2\n", "match"), cols=[0])
csv("other delimiter", b"1;2\n", delim=b";")
csv("long delimiter", (b"1;2\n", "1 char"), delim=b";;")
csv("required", (b",a\n", "required"), b"1,a\n", defaults=[A([], np.int32), A([b"d"], object)])
csv("empty lines", b"\n1\n", types=[I32], defaults=[A([5], np.int32)])
csv("all types", b"1,2,3.5,4.5,x\n,,,,\n", types=[I32, I64, F32, T.float64, STR], defaults=[A(9, np.int32), L([8]), A([7], np.float32), A([6.5]), A([b"d"], object)])
csv("twice", b"1,2\n", b"1,2", names=[b"csv", b"csv"])
csv("unknown compression", (b"1,2", "compression"), how=b"BAD")
csv("V2 without columns", b"1,2,3\n", (b"1,2,3,4\n", "have more"), op="CSVDatasetV2", exclude=[1])
csv("V2", b"1,2\n", op="CSVDatasetV2", exclude=[])
csv("V2 both", (b"1,2,3\n", "Either"), op="CSVDatasetV2", exclude=[1], cols=[0, 2])
csv("first", b"1,2\n", op="ExperimentalCSVDataset")
gen_programs.write()
