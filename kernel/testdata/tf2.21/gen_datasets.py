"""Writes the fixtures of datasets that group, pick and cut: programs/datasets.json.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_datasets.py
"""

import gen_programs
from gen_programs import *  # noqa: F403
from gen_programs import P, fn, program
from gen_datasets_tools import collect, ints, rng, whole_of

A = np.array
L = lambda v: A(v, np.int64)
FAMILY = "datasets"
O = dict(output_types=[I64], output_shapes=[None])
VAR = T.variant
whole = whole_of(FAMILY)


key = lambda m: fn([I64], lambda p, x: [p.FloorMod(x, L(m))])
for size in (1, 2, 3, 100):
    for n in (0, 1, 10):
        batch = fn([I64, VAR], lambda p, k, d: [p.BatchDatasetV2(d, L(100), A(False), output_types=[I64], output_shapes=[[None]])])
        whole("windows of %d by the key over %d" % (size, n), lambda p: p.GroupByWindowDataset(rng(p, n), [], [], [], key_func=key(3), reduce_func=batch, window_size_func=fn([I64], lambda p, k: [p.AddV2(k, L(size))]), **O))
        whole("kept windows of %d over %d" % (size, n), lambda p: p.GroupByWindowDataset(rng(p, n), [], [], [], key_func=key(2), reduce_func=fn([I64, VAR], lambda p, k, d: [d]), window_size_func=fn([I64], lambda p, k: [p.Identity(L(size))]), **O))
p = P(I64)
p.ret(*collect(p, p.GroupByWindowDataset(rng(p, 5), [], [], [p.args[0]], key_func=key(2), reduce_func=fn([I64, VAR], lambda p, k, d: [d]), window_size_func=fn([I64, I64], lambda p, k, n: [n]), **O)))
program(FAMILY, "windows of no size", p, [2], ([0], "Window size"))
for n in (0, 7):
    whole("reduced by the key over %d" % n, lambda p: p.GroupByReducerDataset(rng(p, n), [], [], [], [], key_func=fn([I64], lambda p, x: [p.Sub(L(0), p.FloorMod(x, L(3)))]), init_func=fn([I64], lambda p, k: [p.Mul(k, L(100))]),
          reduce_func=fn([I64, I64], lambda p, s, x: [p.AddV2(s, x)]), finalize_func=fn([I64], lambda p, s: [p.Mul(s, L(2))]), **O))
whole("unique integers", lambda p: p.UniqueDataset(ints(p, [3, 1, 3, 2, 1, 5]), **O))
whole("unique strings", lambda p: p.UniqueDataset(p.TensorSliceDataset([A([b"a", b"b", b"a", b""], object)], output_shapes=[[]]), output_types=[STR], output_shapes=[[]]), STR)
whole("without errors", lambda p: p.IgnoreErrorsDataset(p.MapDataset(ints(p, [1, 0, 2, 0]), [], f=fn([I64], lambda p, x: [p.FloorDiv(L(10), x)]), **O), **O))
for stop in (False, True):
    whole("directed, stops %s" % stop, lambda p: p.DirectedInterleaveDataset(ints(p, [0, 1, 1, 0, 2, 1, 0, 0, 2, 2]), [rng(p, 3), ints(p, [10, 11]), ints(p, [20, 21, 22])], stop_on_empty_dataset=stop, **O))
p = P(I64)
p.ret(*collect(p, p.DirectedInterleaveDataset(p.TensorSliceDataset([p.args[0]], output_shapes=[[]]), [rng(p, 3)], **O)))
program(FAMILY, "directed outside", p, [[0, 0]], ([[0, 1]], "Selector index out of range"))
for size, shift, stride in [(2, 1, 1), (3, 2, 1), (2, 3, 2), (4, 4, 1), (20, 1, 1)]:
    whole("sliding windows %d %d %d" % (size, shift, stride), lambda p: p.SlidingWindowDataset(rng(p, 9), L(size), L(shift), L(stride), output_types=[I64], output_shapes=[[None]]))
for sizes in ([2], [3, 1], [1, 0, 2], [7]):
    for drop in (False, True):
        whole("batches again of %s, drop %s" % (sizes, drop), lambda p: p.RebatchDatasetV2(p.BatchDatasetV2(rng(p, 10), L(4), A(False), output_types=[I64], output_shapes=[[None]]), L(sizes), A(drop), output_types=[I64], output_shapes=[[None]]))
whole("a list", lambda p: p.ListDataset([L(5), L(6), L(7)], output_types=[I64], output_shapes=[[]]))
whole("a list of pairs", lambda p: p.ListDataset([L(5), A([1.5, 2], np.float32), L(6), A([3, 4], np.float32)], output_types=[I64, F32], output_shapes=[[], [2]]), I64, F32)
p = P(I64)
p.ret(p.GetElementAtIndex(rng(p, 5), p.args[0], output_types=[I64], output_shapes=[[]]))
program(FAMILY, "an element's place", p, [0], [4])
for seeds in ((1, 2), (3, 0), (0, 7)):
    whole("random numbers of %d %d" % seeds, lambda p: p.TakeDataset(p.RandomDataset(L(seeds[0]), L(seeds[1]), output_types=[I64], output_shapes=[[]]), L(9), **O))
    whole("a sample by %d %d" % seeds, lambda p: p.SamplingDataset(rng(p, 30), A(0.4, np.float32), L(seeds[0]), L(seeds[1]), **O))
inner = fn([I64], lambda p, x: [p.RangeDataset(p.Mul(x, L(10)), p.AddV2(p.Mul(x, L(10)), x), L(1), output_types=[I64], output_shapes=[[]])])
for cycle, block in [(1, 1), (2, 1), (2, 2), (3, 1)]:
    whole("old interleave %d %d" % (cycle, block), lambda p: p.ParallelInterleaveDataset(rng(p, 5), [], L(cycle), L(block), A(False), L(1), L(1), f=inner, **O))
    whole("old interleave V2 %d %d" % (cycle, block), lambda p: p.LegacyParallelInterleaveDatasetV2(rng(p, 5), [], L(cycle), L(block), L(1), L(1), f=inner, deterministic="true", **O))
whole("sharded by itself", lambda p: p.AutoShardDataset(rng(p, 3), L(1), L(0), **O))
whole("slept", lambda p: p.SleepDataset(rng(p, 3), L(1), **O))
whole("with latencies", lambda p: p.LatencyStatsDataset(rng(p, 3), A(b"x"), **O))
whole("with bytes", lambda p: p.BytesProducedStatsDataset(rng(p, 3), A(b"x"), **O))
whole("the fastest", lambda p: p.ChooseFastestDataset([rng(p, 3), rng(p, 3)], num_experiments=1, **O))
whole("wrapped", lambda p: p.UnwrapDatasetVariant(p.WrapDatasetVariant(rng(p, 3))))
gen_programs.write()
