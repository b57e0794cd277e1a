package inspect

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cairnml/cairn/internal/objects"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/tensorfile"
)

// Which variables are parameters is a choice of Cairn's: neither TensorFlow nor Keras stores it. The
// names and edges by which this file recognizes optimizers and metrics are theirs.

// Count sums up a list of tensors. The verbs ls, show and verify print it.
type Count struct {
	Tensors int `json:"tensors"`
	// Parameters is the number of elements of the model's floating-point variables:
	// neither counters nor the state of an optimizer or a metric, and no variable
	// twice.
	Parameters int64 `json:"parameters"`
	Bytes      int64 `json:"bytes"`
}

// String returns "2 tensors, 1,234 parameters, 4.82 KiB".
func (c Count) String() string {
	s := Tensors(c.Tensors) + ", "
	switch {
	case c.Parameters == 1:
		s += "1 parameter, "
	case c.Parameters > 1:
		s += Grouped(c.Parameters) + " parameters, "
	}
	return s + Size(c.Bytes)
}

// Tensors returns a number of tensors in words.
func Tensors(n int) string {
	if n == 1 {
		return "1 tensor"
	}
	return Grouped(int64(n)) + " tensors"
}

// Grouped returns a number with its thousands apart: "1,234".
func Grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// CountOf sums up entries of a store. The object graph isn't counted.
func CountOf(ctx context.Context, s *tensorfile.File, list tensorfile.Entries) Count {
	og, err := s.Graph(ctx)
	if err != nil || og != nil && len(checkGraph(og)) > 0 {
		og = nil // the names suffice
	}
	return countOf(s, og, list)
}

// countOf sums up entries of a store with the object graph og, nil if there is none.
func countOf(s *tensorfile.File, og *pb.TrackableObjectGraph, list tensorfile.Entries) Count {
	var c Count
	state := stateOf(s, og)
	for e := range list.All() {
		if e.Name == tensorfile.GraphKey {
			continue
		}
		c.Tensors++
		c.Bytes += e.Bytes
		if (e.DType.IsFloating() || e.DType.IsComplex()) && !state(e.Name) {
			n, _ := e.Shape.NumElements() // 0 if they can't be counted
			c.Parameters += int64(n)
		}
	}
	return c
}

// stateOf returns a function that reports whether the tensor of a name is state of an optimizer or a
// metric. The object graph og decides; for tensors that it doesn't list, or if it is nil,
// TensorFlow's names of slot variables do. A tensor that the model has too is no state.
func stateOf(s *tensorfile.File, og *pb.TrackableObjectGraph) func(name string) bool {
	byName := func(name string) bool {
		if strings.Contains(name, "/.OPTIMIZER_SLOT/") || strings.HasPrefix(name, "optimizer/") || strings.HasPrefix(name, "optimizer_weights/") { // of Keras's archives and .h5 files
			return true
		}
		if strings.HasPrefix(name, "metrics/") && strings.Contains(name, "/vars/") { // of Keras's archives
			return true
		}
		dir, base, _ := cutLast(name)
		// TF1's slots: kernel/Adam, kernel/Momentum; and powers of the rates.
		return base == "" && (dir == "beta1_power" || dir == "beta2_power") || base != "" && s.Has(dir)
	}
	if og == nil || len(og.Nodes) == 0 {
		return byName
	}
	model := map[string]bool{}
	tree := objects.NewTree(og.Nodes)
	state := map[string]bool{}
	other := notWeights(og, tree)
	for i, n := range og.Nodes {
		mine := other[i] || tree.State[i] || tree.Optimizer[i] || i > 0 && tree.Parent[i] < 0
		for _, a := range n.Attributes {
			if mine {
				state[a.CheckpointKey] = true
			} else {
				model[a.CheckpointKey] = true
			}
		}
	}
	return func(name string) bool {
		switch {
		case model[name]:
			return false
		case state[name]:
			return true
		}
		return byName(name) // no object's
	}
}

// metricEdges are the edges by which Keras 2 and Keras 3 hold metrics.
var metricEdges = map[string]bool{"_metrics": true, "compiled_metrics": true, "_compile_metrics": true, "_loss_tracker": true}

// notWeights returns, for each object, whether it belongs to a metric of Keras, or to
// the list in which exports of Keras 3 have every variable a second time.
func notWeights(og *pb.TrackableObjectGraph, tree *objects.Tree) []bool {
	out := make([]bool, len(og.Nodes))
	has := func(n *pb.TrackableObject, name string) bool {
		return slices.ContainsFunc(n.Children, func(c *pb.ObjectReference) bool { return c.LocalName == name })
	}
	export := len(og.Nodes) > 0 && has(og.Nodes[0], "_all_variables") && has(og.Nodes[0], "variables")
	for _, i := range tree.Order {
		if tree.Parent[i] < 0 {
			continue
		}
		parent := tree.Parent[i]
		edge := og.Nodes[parent].Children[tree.Edge[i]].LocalName
		switch {
		case out[parent], metricEdges[edge], export && parent == 0 && edge == "_all_variables":
			out[i] = true
		case edge == "metrics" && tree.Parent[parent] >= 0:
			out[i] = og.Nodes[tree.Parent[parent]].Children[tree.Edge[parent]].LocalName == "keras_api"
		}
		if n := og.Nodes[i]; len(n.Children) == 2 && has(n, "total") && has(n, "count") {
			out[i] = true // the two variables of a metric such as keras.metrics.Mean
		}
	}
	return out
}

// cutLast parts a name at its last slash.
func cutLast(name string) (dir, base string, found bool) {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		return name[:i], name[i+1:], true
	}
	return name, "", false
}

// describe returns a tensor's type and shape in words.
func describe(e tensorfile.Entry) string {
	if len(e.Shape) == 0 {
		return e.DType.String()
	}
	return fmt.Sprintf("%v %v", e.DType, e.Shape)
}
