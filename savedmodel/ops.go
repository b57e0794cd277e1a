package savedmodel

// initKeys are the collections that name the op that TensorFlow 1 runs after
// restoring.
var initKeys = []string{"saved_model_main_op", "legacy_init_op"}

// initSignature is the signature that names it in newer files.
const initSignature = "__saved_model_init_op"

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

// SaverOps returns the names of the ops that write the model's checkpoint and
// that read it; "" where there are none.
func (g *MetaGraph) SaverOps() (save, restore string) {
	if d := g.proto.SaverDef; d != nil {
		return d.SaveTensorName, d.RestoreOpName
	}
	return "", ""
}

// HasSaver reports whether the graph has ops that write or read its checkpoint.
func (g *MetaGraph) HasSaver() bool { return g.proto.SaverDef != nil }
