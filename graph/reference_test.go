package graph

import (
	"slices"
	"strings"
	"testing"

	"github.com/cairnml/cairn/tensor"
)

// plainStrings are names of inputs and attributes that hold strings and name
// nothing outside of the graph, whatever op has them: ways to compute, keys,
// data, names of state.
const plainStrings = `a activation_mode align ancestors b bad_indices_policy batch_padding_policy batching_queue bytes c cardinality_options combiner
	combiners communication_hint compilation_status compression compression_type container containers contents context_dense_keys
	context_ragged_keys context_sparse_keys counter_prefix data data_format dct_method debug_name delimiter dense_keys density_unit
	description deterministic dim_args_spec dimension_numbers direction disabled_checks display_name dst_format dynamic_key element_spec
	encoding end equation error_msg errors feature_list_dense_keys feature_list_dense_missing_assumed_empty feature_list_ragged_keys
	feature_list_sparse_keys field_delim field_names fill fill_mode filter_format final_op format frame_name fused_ops handle id ids input
	input_bytes input_encoding input_layout input_layouts input_mode input_order input_quant_mode input_specs inputs interpolation
	json_examples kernel_type keys labels layout left_pad loss_type manual_sharding merge_op mesh message message_format message_type
	metadata method mixed_priority_policy mode mode_override na_value names noise old_tensor_name op_name op_names op_type
	optimization_configs optimizations optimizations_default optimizations_disabled optimizations_enabled output_encoding output_layout
	output_quant_mode output_specs padding padding_map placeholder platforms pooling_type precision_config ragged_keys reader_handle
	records reduce_op reduce_type reduction reduction_type rewrite rewrite_name right_pad rnn_mode round_mode row_partition_types sa_name
	sep separator serialized serialized_sparse serialized_summary_metadata set_operation shape_and_slice shape_and_slices shapes_and_slices
	sharding shared_name shared_names source sparse_keys split_type split_types src_format stack_name state string_handle string_list_val
	string_tensor string_val summary_metadata table_handle table_name tag tags template tensor tensor_array_name tensor_name tensor_names
	tfdbg_context_id tfdbg_run_id transformations tree_ensemble_serialized tuple_mask unit var_name xmp_metadata`

// besides are names that go with a reference, or with a connection that the op
// has anyway: each op that has one must have an effect of Outside.
const besides = `backend_config batch common_config config cross_trainer_cache_options data_transfer_protocol dataset_id device_name device_type
	driver_name embedding_config embedding_partitions event executor_type experiment_name file_name filename_suffix func_name
	hbm_buffers_config host_compute_core io_of_node job_name key memory_config memory_configs mini_batch_in_csr mini_batch_splits
	network_configs new_format_key node_name processing_mode program_key protocol query queue_handle reader_path_prefix reader_prefix
	recv_key request requested_dataset_id run_name send_key snapshot_name step_marker_location target_workers topology
	tpu_compile_options_proto tpu_embedding_config tpu_topology user_name value writer_path_prefix writer_prefix`

// without are arguments that look like references and are none, with the reason.
var without = map[string]string{
	"AnonymousMultiDeviceIterator.devices":   "devices of the process, where its elements are placed",
	"AnonymousMultiDeviceIteratorV3.devices": "devices of the process, where its elements are placed",
	"MultiDeviceIterator.devices":            "devices of the process, where its elements are placed",
	"DeviceIndex.device_names":               "compared with the device that the op runs on",
	"VarHandleOp.allowed_devices":            "bounds the placement",
	"PartitionedCall.config_proto":           "settings of the runtime for the function, which is in the graph",
	"StatefulPartitionedCall.config_proto":   "settings of the runtime for the function, which is in the graph",
	"PartitionedCall.executor_type":          "one of the executors of the runtime",
	"StatefulPartitionedCall.executor_type":  "one of the executors of the runtime",
	"OptionsDataset.serialized_options":      "settings of tf.data, which name no function",
	"DatasetToGraph.stateful_whitelist":      "names of ops; the graph is given, not run",
	"ShardedFilename.basename":               "the name is made, no file is opened",
	"ShardedFilespec.basename":               "the name is made, no file is opened",
	"RegexFullMatch.pattern":                 "a regular expression",
	"RegexReplace.pattern":                   "a regular expression",
	"StaticRegexFullMatch.pattern":           "a regular expression",
	"StaticRegexReplace.pattern":             "a regular expression",
	"PartitionedCall.config":                 "settings of the optimizer for the function, which is in the graph",
	"StatefulPartitionedCall.config":         "settings of the optimizer for the function, which is in the graph",
	"MergeDedupData.config":                  "settings of the embeddings whose data is in the inputs",
	"SplitDedupData.config":                  "settings of the embeddings whose data is in the inputs",
	"DTensorAllReduce.device_type":           "a kind of device of the mesh that the graph runs on",
	"DTensorReduceScatter.device_type":       "a kind of device of the mesh that the graph runs on",
}

// TestEveryStringThatNamesSomethingOutsideHasAnEffect walks all inputs and
// attributes of TensorFlow's ops that hold strings.
func TestEveryStringThatNamesSomethingOutsideHasAnEffect(t *testing.T) {
	plain, beside := strings.Fields(plainStrings), strings.Fields(besides)
	ops, used := 0, map[string]bool{}
	for d := range Ops() {
		ops++
		check := func(name string) {
			used[name] = true
			for _, r := range referencesByOp()[d.Name] {
				if slices.Contains(r.args, name) {
					return
				}
			}
			full := d.Name + "." + name
			switch {
			case without[full] != "":
				used[full] = true
			case slices.Contains(plain, name):
			case slices.Contains(beside, name):
				if d.Effect()&Outside == 0 {
					t.Errorf("%s belongs to something outside, and the op's effect is %v", full, d.Effect())
				}
			default:
				t.Errorf("%s holds strings, and nobody has told what they name", full)
			}
		}
		for i := range d.Attrs {
			if k := d.Attrs[i].Kind; k == AttrString || k == AttrStrings {
				check(d.Attrs[i].Name)
			}
		}
		for i := range d.Inputs {
			if d.Inputs[i].Type == tensor.String {
				check(d.Inputs[i].Name)
			}
		}
	}
	if ops < 1910 {
		t.Errorf("only %d ops", ops)
	}
	for _, name := range append(plain, beside...) {
		if !used[name] {
			t.Errorf("no op has an argument %s", name)
		}
	}
	for full := range without {
		if !used[full] {
			t.Errorf("%s is no exception that an op needs", full)
		}
	}
	for op, rows := range referencesByOp() {
		d := LookupOp(op)
		if d == nil {
			t.Errorf("referenceList has %s, which TensorFlow doesn't define", op)
			continue
		}
		for _, r := range rows {
			for _, arg := range r.args {
				if d.Attr(arg) == nil && inputIndex(d, arg) < 0 {
					t.Errorf("%s has no argument %s", op, arg)
				}
			}
			if r.effect&^Outside != 0 || r.effect == 0 {
				t.Errorf("%s: the effect of a reference is %v", op, r.effect)
			}
		}
	}
}

func TestReferencesThatNameNothingHaveNoEffect(t *testing.T) {
	str := func(v ...string) *Node {
		return &Node{Op: "Const", Attrs: Attrs{Tensor("value", tensor.Must(tensor.FromStrings(tensor.String, v, len(v))))}}
	}
	in := func(n *Node) []Output { return []Output{n.Output(0), n.Output(0)} }
	for _, c := range []struct {
		name  string
		node  Node
		want  Effect
		known string
	}{
		{"a cache in memory", Node{Op: "CacheDatasetV2", In: in(str(""))}, 0, ""},
		{"a cache in a file", Node{Op: "CacheDatasetV2", In: in(str("/tmp/x"))}, Files, "/tmp/x"},
		{"a cache whose place comes with the call", Node{Op: "CacheDatasetV2", In: in(&Node{Op: "Placeholder"})}, Files, "?"},
		{"a print to the terminal", Node{Op: "PrintV2", Attrs: Attrs{String("output_stream", "stdout")}}, Checks, ""},
		{"a print by default", Node{Op: "PrintV2"}, Checks, ""},
		{"a print to a file", Node{Op: "PrintV2", Attrs: Attrs{String("output_stream", "file:///etc/passwd")}}, Checks | FileWrites, "file:///etc/passwd"},
		{"a debugger that nobody hears", Node{Op: "DebugIdentity"}, Checks, ""},
		{"a debugger with an address", Node{Op: "DebugIdentityV2", Attrs: Attrs{Strings("debug_urls", "grpc://evil:1")}}, Checks | Network, "grpc://evil:1"},
		{"a debugger with a file", Node{Op: "DebugIdentityV3", Attrs: Attrs{Strings("debug_urls", "file:///tmp")}}, Checks | FileWrites, "file:///tmp"},
		{"messages that are linked in", Node{Op: "DecodeProtoV2"}, 0, ""},
		{"messages in a file", Node{Op: "DecodeProtoV2", Attrs: Attrs{String("descriptor_source", "/x")}}, FileReads, "/x"},
		{"a sampler with a vocabulary", Node{Op: "FixedUnigramCandidateSampler", Attrs: Attrs{String("vocab_file", "/x")}}, Random | FileReads, "/x"},
		{"a sampler without", Node{Op: "FixedUnigramCandidateSampler"}, Random, ""},
		{"a graph in a tensor", Node{Op: "DatasetFromGraph", In: in(str("g"))}, Code, "g"},
		{"a dump", Node{Op: "DumpTensor", Attrs: Attrs{String("log_dir_path", "/tmp")}}, FileWrites, "/tmp"},
		{"statistics", Node{Op: "CalibrationStatisticsSaver", Attrs: Attrs{String("output_file_path", "/tmp/x")}}, Reads | Writes | FileWrites, "/tmp/x"},
		{"a passthrough of code", Node{Op: "MlirPassthroughOp", Attrs: Attrs{String("mlir_module", "m")}}, Code, "m"},
	} {
		if got := c.node.Effect(); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		known := ""
		for _, r := range c.node.References() {
			if known = "?"; r.Known {
				known = strings.Join(r.Names, ",")
			}
		}
		if known != c.known {
			t.Errorf("%s: it names %q, want %q", c.name, known, c.known)
		}
	}
}
