package graph

// effectList lists the ops that aren't pure, with their effects. It was checked
// by hand; a test checks that it has every stateful op. An op that is stateful
// in TensorFlow but returns the same outputs for the same inputs has no effect
// here. An exact name comes before the prefixes ("*"). Of several prefixes that match, the first one in the list
// counts, so the order of the rows matters. A scan, the passes and the order of eager effects depend on it.
var effectList = []struct {
	effect Effect
	ops    string
}{
	{0, `DeviceIndex GuaranteeConst Empty StatelessRandomGetAlg IsTensorFloat32Enabled DummyMemoryCache DummySeedGenerator
		If While Case StatefulPartitionedCall _If _While RiscWhile XlaIf XlaWhile _Arg _Retval _DeviceArg _DeviceRetval
		RequiresOlderGraphVersion GraphDefVersion TestAttr RangeDataset TensorDataset TensorSliceDataset
		SparseTensorSliceDataset ListDataset XlaDequantize ConvertToCooTensor XlaSparseCore* DtypeWithDefaultOp
		StubResourceHandleOp ResourceUsingOp ResourceInitializedOp ExperimentalGroupByReducerDataset GroupByReducerDataset
		GlobalShuffleDataset ExperimentalIteratorGetDevice IteratorGetDevice DevicePlacementOp
		DeepCopy SyncDevice RefIdentity RefEnter RefExit RefMerge RefNextIteration RefSelect RefSwitch DebugGradientRefIdentity
		SymbolicGradient StatelessIf StatelessWhile StatelessCase PartitionedCall BatchFunction FinalizeDataset
		BoostedTreesAggregateStats BoostedTreesBucketize BoostedTreesCalculateBestFeatureSplit
		BoostedTreesCalculateBestFeatureSplitV2 BoostedTreesCalculateBestGainsPerFeature BoostedTreesMakeQuantileSummaries
		BoostedTreesMakeStatsSummary BoostedTreesSparseAggregateStats BoostedTreesSparseCalculateBestFeatureSplit`},
	{Checks, `Assert CheckNumerics CheckNumericsV2 Print PrintV2 Abort DebugIdentity* DebugNanCount DebugNumericSummary*
		TPUCompileSucceededAssert SleepOp SleepIdentityOp`},
	{Random, `RandomUniform RandomUniformInt RandomStandardNormal TruncatedNormal ParameterizedTruncatedNormal Multinomial
		RandomShuffle RandomGamma RandomPoisson RandomPoissonV2 RandomCrop NonDeterministicInts Skipgram
		SampleDistortedBoundingBox SampleDistortedBoundingBoxV2 AllCandidateSampler FixedUnigramCandidateSampler
		LearnedUnigramCandidateSampler LogUniformCandidateSampler ThreadUnsafeUnigramCandidateSampler
		UniformCandidateSampler RandomDataset RandomDatasetV2 ExperimentalRandomDataset ShuffleDataset ShuffleAndRepeatDataset ShuffleDatasetV2 ShuffleDatasetV3
		ShuffleAndRepeatDatasetV2 AnonymousSeedGenerator AnonymousRandomSeedGenerator`},
	{Random | Reads | Writes, `RngReadAndSkip RngSkip Stateful*`},
	{Reads, `ReadVariableOp _ReadVariablesOp ReadVariableXlaSplitND VariableShape VarIsInitializedOp IsVariableInitialized
		ResourceGather ResourceGatherNd LookupTableFind* LookupTableSize* LookupTableExport* QueueSize* QueueIsClosed*
		TensorArrayRead* TensorArrayGather* TensorArrayConcat* TensorArraySize* TensorArrayPack StageSize StagePeek MapSize
		MapPeek MapIncompleteSize OrderedMapSize OrderedMapPeek OrderedMapIncompleteSize BarrierReadySize
		BarrierIncompleteSize AccumulatorNumAccumulated ResourceAccumulatorNumAccumulated ReaderNum* ReaderSerializeState*
		IteratorToStringHandle IteratorFromStringHandle* MultiDeviceIteratorToStringHandle
		MultiDeviceIteratorFromStringHandle SerializeIterator IteratorGetModelProto GetSessionTensor GlobalIterId
		BoostedTreesPredict BoostedTreesExampleDebugOutputs BoostedTreesGetEnsembleStates BoostedTreesSerializeEnsemble
		BoostedTreesQuantileStreamResourceGetBucketBoundaries IsBoostedTrees* IsResourceHandleRefCounting Timestamp
		ExperimentalStatsAggregatorSummary StatsAggregatorSummary TakeManySparseFromTensorsMap TwoRefsIn RefIn
		RefInputFloatInput* RefInputIntInput`},
	{Writes, `VarHandleOp _VarHandlesOp _XlaAotOnlyVarHandleOp VariableV2 Variable TemporaryVariable
		HashTable HashTableV2 AnonymousHashTable MutableHashTable* MutableDenseHashTable* AnonymousMutable*
		FIFOQueue* PaddingFIFOQueue* PriorityQueue* RandomShuffleQueue* FakeQueue Barrier Stack StackV2 TensorArray
		TensorArrayV2 TensorArrayV3 TensorArrayGrad* Iterator IteratorV2 OneShotIterator AnonymousIterator*
		AnonymousMultiDeviceIterator* MultiDeviceIterator AnonymousMemoryCache ConditionalAccumulator
		SparseConditionalAccumulator ResourceConditionalAccumulator MutexV2 MutexLock ConsumeMutexLock
		BoostedTreesEnsembleResourceHandleOp BoostedTreesQuantileStreamResourceHandleOp StatsAggregatorHandle*
		ExperimentalStatsAggregatorHandle ThreadPoolHandle ThreadPoolDataset ExperimentalThreadPoolHandle
		ExperimentalThreadPoolDataset MakeWeakResourceHandle DummyIterationCounter ResourceCreateOp
		GetSessionHandle* SetStatsAggregatorDataset ExperimentalSetStatsAggregatorDataset StatsAggregatorSetSummaryWriter`},
	{Reads | Writes, `Assign AssignAdd AssignSub AssignVariableOp AssignAddVariableOp AssignSubVariableOp
		AssignVariableXlaConcatND CountUpTo ResourceCountUpTo ResourceApply* ResourceSparseApply* ResourceScatter*
		ResourceStridedSliceAssign StridedSliceAssign Apply* SparseApply* ScatterAdd ScatterSub ScatterMul ScatterDiv
		ScatterMin ScatterMax ScatterUpdate ScatterNdUpdate ScatterNdAdd ScatterNdSub ScatterNdMin ScatterNdMax
		SdcaShrinkL1 NegTrain DestroyResourceOp DestroyTemporaryVariable DisableCopyOnRead LookupTableInsert* LookupTableImport*
		LookupTableRemoveV2 InitializeTable InitializeTableV2 InitializeTableFromDataset QueueEnqueue* QueueDequeue*
		QueueClose* BarrierClose BarrierInsertMany BarrierTakeMany StackPush* StackPop* StackClose* TensorArrayWrite*
		TensorArrayScatter* TensorArraySplit* TensorArrayUnpack TensorArrayClose* Stage Unstage StageClear MapStage
		MapUnstage* MapClear OrderedMapStage OrderedMapUnstage* OrderedMapClear Accumulator* ResourceAccumulator*
		SparseAccumulator* IteratorGetNext* MakeIterator DeserializeIterator MultiDeviceIteratorInit
		MultiDeviceIteratorGetNextFromShard DatasetToSingleElement ReduceDataset DeleteIterator DeleteMemoryCache
		DeleteMultiDeviceIterator DeleteRandomSeedGenerator DeleteSeedGenerator DeleteSessionTensor
		AddSparseToTensorsMap AddManySparseToTensorsMap BoostedTrees* CalibrationStatisticsSaver
		_ParallelConcatStart _ScopedAllocator*`},
	{FileReads, `TextLineReader* TFRecordReader* FixedLengthRecordReader* WholeFileReader* LMDBReader IdentityReader* ReaderRead*
		ReaderReset* ReaderRestoreState* SnapshotNestedDatasetReader`},
	{FileWrites, `SummaryWriter CloseSummaryWriter FlushSummaryWriter WriteAudioSummary WriteGraphSummary WriteHistogramSummary
		WriteImageSummary WriteRawProtoSummary WriteScalarSummary WriteSummary ImportEvent GetMinibatch* StoreMinibatchStatisticsInFdo`},
	{Network, `Send Recv _Send _Recv _HostSend _HostRecv Collective* Nccl* _Nccl* AllToAll CrossReplicaSum Rpc*
		DeleteRpcFutureResource Infeed* Outfeed* XlaSend* XlaRecv* _XlaSend* _XlaRecv*
		TPU* _TPU* Configure* _Configure* Connect* _Disconnect* _Initialize* Shutdown* _Shutdown* _Wait* _SetGlobalTPUArray
		DTensorSetGlobalTPUArray Finalize* Enqueue* DynamicEnqueue* RecvTPU* SendTPU* LoadTPU* LoadAllTPU* RetrieveTPU*
		RetrieveAllTPU* CollateTPU* ExecuteTPU* IsTPU* UpdateTaskIdAndGlobalCoreArray WorkerHeartbeat ComputeDedup*
		PrelinearizeTuple Prelinearize`},
	{Code, `GeneratorDataset XlaLaunch XlaHostCompute _XlaHostCompute* _XlaCompile* _XlaRun`},
	{Random | Reads, `CudnnRNN CudnnRNNV2 CudnnRNNV3 CudnnRNNBackprop CudnnRNNBackpropV2 CudnnRNNBackpropV3`},
}
