package outside

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cairnml/cairn"
	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/savedmodel/run"
	"github.com/cairnml/cairn/tensor"
)

// tokenizer is a SavedModel whose function has an op of TensorFlow Text's without a
// kernel inside.
const tokenizer = `meta_graphs {
	meta_info_def { tags: 'serve' }
	graph_def {
		node { name: 'letters' op: 'Placeholder' attr { key: 'dtype' value { type: DT_INT32 } } }
		node { name: 'splits' op: 'Placeholder' attr { key: 'dtype' value { type: DT_INT64 } } }
		node { name: 'call' op: 'PartitionedCall' input: 'letters' input: 'splits'
			attr { key: 'Tin' value { list { type: DT_INT32 type: DT_INT64 } } } attr { key: 'Tout' value { list { type: DT_INT32 type: DT_INT64 } } }
			attr { key: 'f' value { func { name: 'tokenize' } } } }
		library { function {
			signature { name: 'tokenize' input_arg { name: 'x' type: DT_INT32 } input_arg { name: 'n' type: DT_INT64 }
				output_arg { name: 'y' type: DT_INT32 } output_arg { name: 'm' type: DT_INT64 } }
			node_def { name: 'words' op: 'WhitespaceTokenizeWithOffsets' input: 'x' input: 'n' attr { key: 'Tsplits' value { type: DT_INT64 } } }
			ret { key: 'y' value: 'words:output_values:0' } ret { key: 'm' value: 'words:output_values_inner_splits:0' } } } }
	signature_def { key: 'serving_default' value {
		inputs { key: 'letters' value { name: 'letters:0' dtype: DT_INT32 tensor_shape { dim { size: -1 } } } }
		inputs { key: 'splits' value { name: 'splits:0' dtype: DT_INT64 tensor_shape { dim { size: -1 } } } }
		outputs { key: 'words' value { name: 'call:0' dtype: DT_INT32 } } outputs { key: 'word_splits' value { name: 'call:1' dtype: DT_INT64 } } } } }`

// splitWords returns the letters of the words of each text, the indices at
// which they begin and end, and the number of words in each text.
func splitWords(c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	letters, err := tensor.ValuesOf[int32](c.In(0))
	if err != nil {
		return err
	}
	splits, err := tensor.ValuesOf[int64](c.In(1))
	if err != nil {
		return err
	}
	var values []int32
	var starts, limits []int64
	inner, outer := []int64{0}, []int64{0}
	for i := 1; i < len(splits); i++ {
		from, to := splits[i-1], splits[i]
		if from < 0 || to < from || to > int64(len(letters)) {
			return errors.New("the splits are no splits of the letters")
		}
		for at := from; at < to; at++ {
			if letters[at] == ' ' {
				continue
			}
			end := at
			for end < to && letters[end] != ' ' {
				end++
			}
			values, inner = append(values, letters[at:end]...), append(inner, inner[len(inner)-1]+end-at)
			starts, limits = append(starts, at-from), append(limits, end-from)
			at = end
		}
		outer = append(outer, int64(len(starts)))
	}
	c.Set(0, tensor.Vector(values...))
	for i, v := range [][]int64{inner, starts, limits, outer} {
		c.Set(i+1, tensor.Vector(v...))
	}
	return nil
}

// TestAKernelForAnOpOfTensorFlowTextIsAValue checks that without the kernel the
// error names the missing op and its node. The definition is built in.
func TestAKernelForAnOpOfTensorFlowTextIsAValue(t *testing.T) {
	files := fstest.MapFS{"saved_model.pbtxt": {Data: []byte(tokenizer)}}
	var missing *run.UnsupportedError
	_, err := cairn.Load(t.Context(), files, nil)
	if !errors.As(err, &missing) || len(missing.Ops) != 1 || missing.Ops[0].Def == nil ||
		!strings.Contains(err.Error(), "WhitespaceTokenizeWithOffsets: 1 node, in signature serving_default: tokenize/words") {
		t.Fatalf("without the kernel: %v", err)
	}
	kernels, err := kernel.All().With(engine.Kernel{Op: "WhitespaceTokenizeWithOffsets", Run: splitWords})
	if err != nil {
		t.Fatal(err)
	}
	m, err := cairn.Load(t.Context(), files, &run.LoadOptions{Kernels: kernels})
	if err != nil {
		t.Fatal(err)
	}
	out, err := m.Call(t.Context(), "serving_default", map[string]*tensor.Tensor{
		"letters": tensor.Vector([]rune("to be  ornot")...), "splits": tensor.Vector[int64](0, 9, 12)})
	if err != nil {
		t.Fatal(err)
	}
	if words, splits := tensor.Values[int32](out["words"]), tensor.Values[int64](out["word_splits"]); string(words) != "tobeornot" || !slices.Equal(splits, []int64{0, 2, 4, 6, 9}) {
		t.Errorf("%q, %v", string(words), splits)
	}
}
