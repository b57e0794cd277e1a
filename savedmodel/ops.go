package savedmodel

import (
	"fmt"
	"strings"

	"github.com/cairnml/cairn/internal/pb"
)

// The ops that loading runs are those of TensorFlow's loader_impl.py (get_init_op) and load_v1_in_v2.py.

// initKeys are the collections that name the op that TensorFlow 1 runs after
// restoring; the first that there is counts.
var initKeys = []string{"saved_model_main_op", "legacy_init_op"}

// initSignature is the signature that names this op in newer files.
const initSignature = "__saved_model_init_op"

// Collections whose contents loading initializes in a graph that names no op for it.
const (
	localVariablesKey   = "local_variables"
	tableInitializerKey = "table_initializer"
)

// InitOp returns the name of the op that is run at loading; "" for none.
func (g *MetaGraph) InitOp() string {
	for _, s := range g.internal {
		if s.Name == initSignature && len(s.Outputs) == 1 && s.Outputs[0].Tensor != "" {
			return s.Outputs[0].Tensor
		}
	}
	for _, key := range initKeys {
		if list := g.collection(key); len(list) > 0 {
			return list[0]
		}
	}
	return ""
}

// InitOps returns the names of all ops that loading runs. A MetaGraph that names an op
// for it ([MetaGraph.InitOp]) has that one alone. A graph of TensorFlow 1 without one has,
// as in tf.saved_model.load, the initializers of its local variables and tables. A
// collection whose variables can't be read is an error.
func (g *MetaGraph) InitOps() ([]string, error) {
	if op := g.InitOp(); op != "" {
		return []string{op}, nil
	}
	if len(g.Objects) > 0 {
		return nil, nil // each object has its own initializer
	}
	var names []string
	for _, c := range g.Collections() {
		switch c.Name {
		case localVariablesKey:
			for _, b := range c.Bytes {
				var def pb.VariableDef
				if err := def.Unmarshal(b); err != nil {
					return nil, fmt.Errorf("the collection %q: %w", c.Name, err)
				}
				if def.InitializerName != "" {
					names = append(names, def.InitializerName)
				}
			}
		case tableInitializerKey:
			names = append(names, c.Nodes...)
		}
	}
	return names, nil
}

// IsOp reports whether an output of a signature names an operation of the graph, "train",
// and no tensor, "dense/Relu:0". A call runs the operation; the output has no value.
func (t *TensorInfo) IsOp() bool { return t.Tensor != "" && !strings.Contains(t.Tensor, ":") }

// SaverOps returns the names of the ops that write the model's checkpoint and
// that read it; "" if there are none.
func (g *MetaGraph) SaverOps() (save, restore string) {
	if d := g.proto.SaverDef; d != nil {
		return d.SaveTensorName, d.RestoreOpName
	}
	return "", ""
}

// HasSaver reports whether the graph has ops that write or read its checkpoint.
func (g *MetaGraph) HasSaver() bool { return g.proto.SaverDef != nil }
