// Package data contains the kernels of input pipelines in graphs: datasets
// (variants), and iterators and queues (resources).
//
// A [Dataset] is a description that never changes. An iterator reads it once,
// one element per request. Iterators are nested as their datasets are. They
// take no more memory than their current elements, except for batches, shuffle
// buffers and caches. Nothing runs in the background: work that TensorFlow does
// in parallel or ahead is done in the call that needs it, in TensorFlow's
// order. The end of a call's context stops a pipeline without end.
//
// The elements of iterators outlive calls. So elements, and captures of
// functions, own their memory, which is never changed. An iterator uses the
// call only to run functions and to reach files under its grant.
//
// A call waits for an element of a queue, or for room in it, only if its context
// can end. Otherwise it returns an error at once.
package data

import "github.com/cairnml/cairn/engine"

// Kernels returns the family's table. Package kernel adds the checks of inputs' ranks.
func Kernels() []engine.Kernel {
	// Numbers are mostly indices of inputs; the functions' comments describe them.
	table := []engine.Kernel{
		{Op: "TensorDataset", Run: tensorDataset},
		{Op: "TensorSliceDataset", Run: tensorSliceDataset},
		{Op: "RangeDataset", Run: rangeDataset},
		{Op: "ConcatenateDataset", Run: concatenated},
		{Op: "ZipDataset", Run: zipped},
		{Op: "TakeDataset", Run: taken},
		{Op: "SkipDataset", Run: skipped},
		{Op: "RepeatDataset", Run: repeated},
		{Op: "ShardDataset", Run: sharded},
		{Op: "AssertCardinalityDataset", Run: assertSize},
		{Op: "BatchDataset", Run: batched(0)},
		{Op: "BatchDatasetV2", Run: batched(2)},
		{Op: "ParallelBatchDataset", Run: batched(3)},
		{Op: "PaddedBatchDataset", Run: paddedBatched(false)},
		{Op: "PaddedBatchDatasetV2", Run: paddedBatched(true)},
		{Op: "MapAndBatchDataset", Prepare: mappedInBatches},
		{Op: "UnbatchDataset", Run: unbatched},
		{Op: "WindowDataset", Run: windowed},
		{Op: "MapDataset", Prepare: mapped},
		{Op: "ParallelMapDataset", Prepare: mapped},
		{Op: "ParallelMapDatasetV2", Prepare: mapped},
		{Op: "FilterDataset", Prepare: filtered},
		{Op: "ParallelFilterDataset", Prepare: filtered},
		{Op: "TakeWhileDataset", Prepare: takeWhile},
		{Op: "ScanDataset", Prepare: scanned},
		{Op: "ReduceDataset", Prepare: reduced},
		{Op: "FlatMapDataset", Prepare: flatMapped},
		{Op: "InterleaveDataset", Prepare: interleaved},
		{Op: "ParallelInterleaveDatasetV2", Prepare: interleaved},
		{Op: "ParallelInterleaveDatasetV3", Prepare: interleaved},
		{Op: "ParallelInterleaveDatasetV4", Prepare: interleaved},
		{Op: "ShuffleDataset", Run: shuffled(2, 0, 0)},
		{Op: "ShuffleDatasetV2", Run: shuffled(0, 2, 0)},
		{Op: "ShuffleDatasetV3", Run: shuffled(2, 4, 0)},
		{Op: "ShuffleAndRepeatDataset", Run: shuffled(2, 0, 4)},
		{Op: "ShuffleAndRepeatDatasetV2", Run: shuffled(2, 5, 4)},
		{Op: "AnonymousSeedGenerator", Run: seedGenerator(true)},
		{Op: "AnonymousRandomSeedGenerator", Run: seedGenerator(false)},
		{Op: "DummySeedGenerator", Run: dummyHandle},
		{Op: "DeleteSeedGenerator", Run: deleteHandle},
		{Op: "DeleteRandomSeedGenerator", Run: deleteHandle},
		{Op: "CacheDataset", Run: cached},
		{Op: "CacheDatasetV2", Run: cached},
		{Op: "AnonymousMemoryCache", Run: newMemory},
		{Op: "DummyMemoryCache", Run: dummyHandle},
		{Op: "DeleteMemoryCache", Run: deleteHandle},
		{Op: "Iterator", Prepare: namedIterator},
		{Op: "IteratorV2", Prepare: namedIterator},
		{Op: "OneShotIterator", Prepare: oneShot},
		{Op: "AnonymousIterator", Run: anonymous},
		{Op: "AnonymousIteratorV2", Run: anonymous},
		{Op: "AnonymousIteratorV3", Run: anonymous},
		{Op: "MakeIterator", Run: makeIterator},
		{Op: "IteratorGetNext", Run: getNext},
		{Op: "IteratorGetNextSync", Run: getNext},
		{Op: "IteratorGetNextAsOptional", Run: getNextAsOptional},
		{Op: "IteratorToStringHandle", Run: toString},
		{Op: "IteratorFromStringHandle", Run: fromString},
		{Op: "IteratorFromStringHandleV2", Run: fromString},
		{Op: "DeleteIterator", Run: deleteHandle},
		{Op: "DatasetToSingleElement", Run: alone(singleElement)},
		{Op: "DatasetCardinality", Run: cardinality},
	}
	table = append(table, []engine.Kernel{
		{Op: "TextLineDataset", Run: ofFiles(1, textLines)},
		{Op: "TFRecordDataset", Run: ofFiles(1, recordsFrom)},
		{Op: "TFRecordDatasetV2", Run: ofFiles(1, recordsFrom)},
		{Op: "FixedLengthRecordDataset", Run: ofFiles(0, fixedLength)},
		{Op: "FixedLengthRecordDatasetV2", Run: ofFiles(5, fixedLength)},
		{Op: "MatchingFilesDataset", Run: matchingFiles},
		{Op: "GroupByWindowDataset", Prepare: groupByWindow},
		{Op: "GroupByReducerDataset", Prepare: groupByReducer},
		{Op: "UniqueDataset", Run: uniqueElements},
		{Op: "IgnoreErrorsDataset", Run: withoutErrors},
		{Op: "DirectedInterleaveDataset", Run: directed},
		{Op: "SlidingWindowDataset", Run: slidingWindows},
		{Op: "RebatchDatasetV2", Run: rebatched},
		{Op: "RebatchDataset", Run: shared},
		{Op: "ListDataset", Run: listed},
		{Op: "GetElementAtIndex", Run: alone(elementAt)},
		{Op: "RandomDataset", Run: randomNumbers},
		{Op: "SamplingDataset", Run: sampled},
		{Op: "ParallelInterleaveDataset", Prepare: interleaved},
		{Op: "LegacyParallelInterleaveDatasetV2", Prepare: interleaved},
	}...)
	for _, op := range []string{"PrefetchDataset", "OptionsDataset", "ModelDataset", "OptimizeDataset", "OptimizeDatasetV2", "FinalizeDataset",
		"MaxIntraOpParallelismDataset", "PrivateThreadPoolDataset", "NonSerializableDataset", "RewriteDataset", "AutoShardDataset", "SleepDataset", "LatencyStatsDataset",
		"BytesProducedStatsDataset", "ChooseFastestDataset", "WrapDatasetVariant", "UnwrapDatasetVariant"} {
		table = append(table, engine.Kernel{Op: op, Run: same})
	}
	table = append(append(table, aside()...), []engine.Kernel{
		{Op: "DenseToSparseBatchDataset", Run: denseToSparse},
		{Op: "SparseTensorSliceDataset", Run: sparseSlices},
		{Op: "DatasetToTFRecord", Run: toRecords},
		{Op: "CSVDataset", Run: csvFiles},
		{Op: "CSVDatasetV2", Run: csvFiles},
	}...)
	table = renamed(table)
	for _, more := range [][]engine.Kernel{queues(), staged(), mutexes(), accumulators(), barriers(), readers()} {
		table = append(table, more...)
	}
	return table
}
