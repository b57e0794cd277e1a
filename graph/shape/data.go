package shape

import (
	"fmt"

	"github.com/cairnml/cairn/graph"
)

// dataRules returns the rules of datasets, iterators and queues: handles are
// scalars, and elements have the types and shapes of the attributes.
func dataRules() map[string]Rule {
	return join(
		rules(scalarsOut, "ThreadPoolDataset", "SetStatsAggregatorDataset", "ThreadPoolHandle", "StatsAggregatorHandle",
			"StatsAggregatorHandleV2", "IteratorGetDevice", "CompressElement", "RandomDatasetV2", "DenseToSparseBatchDataset",
			"SparseTensorSliceDataset", "CSVDataset", "CSVDatasetV2", "ExperimentalAutoShardDataset",
			"ExperimentalBytesProducedStatsDataset", "ExperimentalChooseFastestDataset", "ExperimentalDatasetCardinality",
			"ExperimentalDenseToSparseBatchDataset", "ExperimentalDirectedInterleaveDataset", "ExperimentalGroupByReducerDataset",
			"ExperimentalGroupByWindowDataset", "ExperimentalIgnoreErrorsDataset", "ExperimentalIteratorGetDevice",
			"ExperimentalLatencyStatsDataset", "ExperimentalMapAndBatchDataset", "ExperimentalMatchingFilesDataset",
			"ExperimentalMaxIntraOpParallelismDataset", "ExperimentalNonSerializableDataset", "ExperimentalParallelInterleaveDataset",
			"ExperimentalPrivateThreadPoolDataset", "ExperimentalScanDataset",
			"ExperimentalSetStatsAggregatorDataset", "ExperimentalSleepDataset", "ExperimentalSlidingWindowDataset",
			"ExperimentalStatsAggregatorHandle", "ExperimentalTakeWhileDataset", "ExperimentalThreadPoolDataset",
			"ExperimentalThreadPoolHandle", "ExperimentalUnbatchDataset", "ExperimentalUniqueDataset", "ExperimentalCSVDataset",
			"ExperimentalRebatchDataset"),
		rules(nothing, "DatasetToTFRecord", "ExperimentalDatasetToTFRecord", "InitializeTableFromDataset"),
		rules(tableReference, "FakeQueue"),
		rules(inRows, "MapDefun"),
		rules(scalarsOut, "CompositeTensorVariantFromComponents"),
		rules(nothing, "CompositeTensorVariantToComponents"),
		rules(remapped, "GenerateVocabRemapping"),
		rules(scalarsOut, "ParseExampleDataset", "ParseExampleDatasetV2", "ExperimentalParseExampleDataset", "ImageSummary", "AudioSummary",
			"AudioSummaryV2", "MutexV2", "MutexLock", "ResourceConditionalAccumulator", "AccumulatorNumAccumulated",
			"ResourceAccumulatorNumAccumulated", "BarrierReadySize", "BarrierIncompleteSize", "TextLineReaderV2", "TFRecordReaderV2",
			"FixedLengthRecordReaderV2", "WholeFileReaderV2", "IdentityReaderV2", "ReaderRead", "ReaderReadV2",
			"ReaderNumRecordsProduced", "ReaderNumRecordsProducedV2", "ReaderNumWorkUnitsCompleted", "ReaderNumWorkUnitsCompletedV2",
			"ReaderSerializeState", "ReaderSerializeStateV2"),
		rules(tableReference, "ConditionalAccumulator", "SparseConditionalAccumulator", "Barrier", "TextLineReader", "TFRecordReader",
			"FixedLengthRecordReader", "WholeFileReader", "IdentityReader"),
		rules(nothing, "ConsumeMutexLock", "AccumulatorApplyGradient", "ResourceAccumulatorApplyGradient", "AccumulatorTakeGradient",
			"ResourceAccumulatorTakeGradient", "AccumulatorSetGlobalStep", "ResourceAccumulatorSetGlobalStep",
			"SparseAccumulatorApplyGradient", "SparseAccumulatorTakeGradient", "BarrierInsertMany", "BarrierTakeMany", "BarrierClose",
			"ReaderReset", "ReaderResetV2", "ReaderRestoreState", "ReaderRestoreStateV2"),
		rules(upToRows, "ReaderReadUpTo", "ReaderReadUpToV2"),
		rules(asAttributes, "UncompressElement"),
		rules(scalarsOut, "TensorDataset", "TensorSliceDataset", "RangeDataset", "ConcatenateDataset", "ZipDataset", "TakeDataset",
			"SkipDataset", "RepeatDataset", "ShardDataset", "AssertCardinalityDataset", "BatchDataset", "BatchDatasetV2",
			"ParallelBatchDataset", "PaddedBatchDataset", "PaddedBatchDatasetV2", "MapAndBatchDataset", "UnbatchDataset",
			"WindowDataset", "MapDataset", "ParallelMapDataset", "ParallelMapDatasetV2", "FilterDataset", "ParallelFilterDataset",
			"TakeWhileDataset", "ScanDataset", "FlatMapDataset", "InterleaveDataset", "ParallelInterleaveDatasetV2",
			"ParallelInterleaveDatasetV3", "ParallelInterleaveDatasetV4", "ShuffleDataset", "ShuffleDatasetV2",
			"ShuffleDatasetV3", "ShuffleAndRepeatDataset", "ShuffleAndRepeatDatasetV2", "AnonymousSeedGenerator",
			"AnonymousRandomSeedGenerator", "DummySeedGenerator", "CacheDataset", "CacheDatasetV2", "AnonymousMemoryCache",
			"DummyMemoryCache", "PrefetchDataset", "OptionsDataset", "ModelDataset", "OptimizeDataset", "OptimizeDatasetV2",
			"FinalizeDataset", "MaxIntraOpParallelismDataset", "PrivateThreadPoolDataset", "NonSerializableDataset", "RewriteDataset",
			"Iterator", "IteratorV2", "OneShotIterator", "AnonymousIterator", "AnonymousIteratorV2", "AnonymousIteratorV3",
			"IteratorGetNextAsOptional", "IteratorToStringHandle", "IteratorFromStringHandle", "IteratorFromStringHandleV2",
			"TextLineDataset", "TFRecordDataset", "TFRecordDatasetV2", "FixedLengthRecordDataset", "FixedLengthRecordDatasetV2",
			"MatchingFilesDataset", "GroupByWindowDataset", "GroupByReducerDataset", "UniqueDataset", "IgnoreErrorsDataset",
			"DirectedInterleaveDataset", "SlidingWindowDataset", "RebatchDataset", "RebatchDatasetV2", "ListDataset", "RandomDataset", "SamplingDataset",
			"ParallelInterleaveDataset", "LegacyParallelInterleaveDatasetV2", "AutoShardDataset",
			"SleepDataset", "LatencyStatsDataset", "BytesProducedStatsDataset", "ChooseFastestDataset", "WrapDatasetVariant",
			"UnwrapDatasetVariant", "DatasetCardinality", "FIFOQueueV2", "PaddingFIFOQueueV2", "RandomShuffleQueueV2", "PriorityQueueV2", "QueueSize",
			"QueueSizeV2", "QueueIsClosed", "QueueIsClosedV2"),
		rules(tableReference, "FIFOQueue", "PaddingFIFOQueue", "RandomShuffleQueue", "PriorityQueue"),
		rules(nothing, "QueueEnqueue", "QueueEnqueueV2", "QueueEnqueueMany", "QueueEnqueueManyV2", "QueueDequeue", "QueueDequeueV2",
			"QueueDequeueUpTo", "QueueDequeueUpToV2", "QueueClose", "QueueCloseV2", "QueueDequeueMany", "QueueDequeueManyV2"),
		rules(nothing, "BatchFunction", "Stage", "Unstage", "StagePeek", "StageClear", "MapStage", "MapUnstage", "MapPeek", "MapClear", "OrderedMapStage",
			"OrderedMapUnstage", "OrderedMapPeek", "OrderedMapClear", "MapUnstageNoKey", "OrderedMapUnstageNoKey"),
		rules(scalarsOut, "StageSize", "MapSize", "MapIncompleteSize", "OrderedMapSize", "OrderedMapIncompleteSize"),
		rules(nothing, "MakeIterator", "DeleteIterator", "DeleteSeedGenerator", "DeleteRandomSeedGenerator", "DeleteMemoryCache"),
		rules(asAttributes, "IteratorGetNext", "IteratorGetNextSync", "DatasetToSingleElement", "ReduceDataset", "GetElementAtIndex"))
}

// scalarsOut infers outputs that are all scalars.
func scalarsOut(c *Inference) error {
	for i := range c.Out {
		c.set(i, graph.ShapeOf())
	}
	return nil
}

// asAttributes infers outputs with the shapes of the attribute output_shapes.
func asAttributes(c *Inference) error {
	for i, s := range c.Attrs.Shapes("output_shapes") {
		if i < len(c.Out) {
			c.set(i, s)
		}
	}
	return nil
}

// inRows infers outputs of rows with the shapes of the attribute output_shapes.
// Their number is that of the first argument's rows.
func inRows(c *Inference) error {
	if len(c.In) == 0 {
		return nil
	}
	if s := c.shape(0); s.HasRank() && s.Rank() == 0 {
		return fmt.Errorf("argument 0 is a scalar, which has no rows")
	}
	for i, s := range c.Attrs.Shapes("output_shapes") {
		if i < len(c.Out) && s.HasRank() {
			rows := graph.NewDim()
			if first := c.shape(0); first.HasRank() {
				rows = first.Dim(0)
			}
			c.setDims(i, append([]int{rows}, s.Dims()...)...)
		}
	}
	return nil
}

// upToRows infers vectors of one length that is not known.
func upToRows(c *Inference) error {
	n := graph.NewDim()
	for i := range c.Out {
		c.setDims(i, n)
	}
	return nil
}

// remapped infers a vector of num_new_vocab elements, and a number.
func remapped(c *Inference) error {
	n := c.Attrs.Int("num_new_vocab", 0)
	if n < 0 || n != int64(int(n)) {
		return fmt.Errorf("num_new_vocab is %d", n)
	}
	c.setDims(0, int(n))
	c.set(1, graph.ShapeOf())
	return nil
}
