package graph

// referenceList has the inputs and attributes of TensorFlow's ops that name something outside of the graph,
// with the op's effect on it. A test checks every input and attribute that holds strings: each is here, or in
// the test's list of harmless ones. harmless and narrow are those of [referenceRow]; nil means that no value is
// harmless, and that the effect is always the row's. [Node.References] reads the list, for effects, the refusals
// of engine/files.go and savedmodel/scan. A row that is too narrow hides a file or an address from them.
var referenceList = []struct {
	effect   Effect
	args     string
	ops      string
	harmless func(value string) bool
	narrow   func(values []string) Effect
}{
	{FileReads, "filename", `ReadFile InitializeTableFromTextFile InitializeTableFromTextFileV2`, nil, nil},
	{FileReads, "filename", `Skipgram`, isEmpty, nil},
	{FileReads, "filenames", `TextLineDataset TFRecordDataset TFRecordDatasetV2 FixedLengthRecordDataset FixedLengthRecordDatasetV2
		CSVDataset CSVDatasetV2 ExperimentalCSVDataset LMDBDataset ExperimentalLMDBDataset`, nil, nil},
	{FileReads, "file_pattern", `RecordInput Restore RestoreSlice`, nil, nil},
	{FileReads, "pattern", `MatchingFiles`, nil, nil},
	{FileReads, "patterns", `MatchingFilesDataset ExperimentalMatchingFilesDataset`, nil, nil},
	{FileReads, "prefix", `RestoreV2 DTensorRestoreV2`, nil, nil},
	{FileReads, "ckpt_path", `LoadAndRemapMatrix`, nil, nil},
	{FileReads, "new_vocab_file old_vocab_file", `GenerateVocabRemapping`, nil, nil},
	{FileReads, "vocab_file", `FixedUnigramCandidateSampler`, isEmpty, nil},
	{FileReads, "memory_region_name", `ImmutableConst`, nil, nil},
	{FileReads, "descriptor_source", `DecodeProtoV2 EncodeProto`, isDescriptor, nil},
	{FileReads, "data_source_name", `SqlDataset ExperimentalSqlDataset`, nil, nil},
	{FileReads, "path", `LoadDataset`, nil, nil},
	{FileReads, "shard_dir", `SnapshotDatasetReader`, nil, nil},
	{FileReads, "chunk_file", `SnapshotChunkDataset`, nil, nil},
	{FileReads, "snapshot_path", `ListSnapshotChunksDataset`, nil, nil},

	{FileWrites, "filename", `WriteFile Save SaveSlices DatasetToTFRecord ExperimentalDatasetToTFRecord`, nil, nil},
	{FileWrites, "prefix", `SaveV2`, nil, nil},
	{FileWrites, "path", `SaveDataset SaveDatasetV2`, nil, nil},
	{FileWrites, "logdir", `CreateSummaryFileWriter`, nil, nil},
	{FileWrites, "db_uri", `CreateSummaryDbWriter`, nil, nil},
	{FileWrites, "log_dir_path", `DumpTensor`, nil, nil},
	{FileWrites, "output_file_path", `CalibrationStatisticsSaver`, nil, nil},
	{FileWrites, "output_stream", `PrintV2`, isStream, nil},

	{Files, "checkpoint_prefixes destination_prefix", `MergeV2Checkpoints`, nil, nil},
	{Files, "filename", `CacheDataset CacheDatasetV2`, isEmpty, nil},
	{Files, "path", `SnapshotDataset SnapshotDatasetV2`, nil, nil},
	{Files, "scheme", `FileSystemSetConfiguration`, nil, nil}, // how all later files are reached

	{Network | FileWrites, "debug_urls", `DebugIdentity DebugIdentityV2 DebugIdentityV3 DebugNanCount DebugNumericSummary`, isEmpty, debugEffect},
	{Network, "debug_ops_spec", `Copy CopyHost`, hasNoAddress, nil},
	{Network | FileWrites, "directory address", `DistributedSave`, nil, nil},
	{Network, "address", `DataServiceDataset DataServiceDatasetV2 DataServiceDatasetV3 DataServiceDatasetV4 RegisterDataset RegisterDatasetV2`, nil, nil},
	{Network, "server_address", `RpcClient RpcServer`, nil, nil},
	{Network, "method_name", `RpcCall RpcServerRegister`, nil, nil},
	{Network, "target", `RemoteCall`, nil, nil},
	{Network, "send_device recv_device", `Send Recv _Send _Recv _HostSend _HostRecv`, nil, nil},

	{Code, "graph_def", `DatasetFromGraph`, nil, nil},
	{Code, "module", `XlaCallModule`, nil, nil},
	{Code, "mlir_module", `MlirPassthroughOp _TPUCompileMlir`, nil, nil},
	{Code, "host_mlir_module", `_XlaHostComputeMlir`, nil, nil},
	{Code, "token", `PyFunc PyFuncStateless EagerPyFunc`, nil, nil},
	{Code, "target_name", `XlaCustomCall`, nil, nil},
	{Code, "call_target_name", `XlaCustomCallV2`, nil, nil},
}
