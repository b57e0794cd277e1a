package savedmodel

import (
	"fmt"
	"slices"

	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// saverOps adds the ops that save the model's values to a checkpoint and restore them,
// which loaders of TensorFlow 1 and servers run. A checkpoint that they write has the
// object graph, so that all other loaders read it too.
func (m *mainGraph) saverOps(p *pb.MetaGraphDef) {
	file := m.add("Placeholder", "saver_filename", graph.Attrs{graph.Type("dtype", tensor.String), graph.Shape("shape", graph.ShapeOf())})
	file.Out[0].Shape = graph.ShapeOf()
	prefix := file.Output(0)

	var names []graph.Output // scalars
	var values, ranges []graph.Output
	var dtypes []tensor.DType
	empty := m.constantOf("saver/slice", tensor.Scalar(""))
	type assignment struct{ id, at int }
	var assignments []assignment
	for id := range m.nodes {
		n := &m.nodes[id]
		v := n.Variable()
		if v == nil || m.registered.covered[trackable.Identity(n.Object)] {
			continue
		}
		if _, own := n.Object.(trackable.Serializer); own {
			continue
		}
		key := trackable.AttributeKey(n.Path, trackable.VariableValue)
		handle := m.value(id)
		read := m.g.Lookup(handle.Node.Name + "/Read/ReadVariableOp")
		if read == nil {
			m.err = fmt.Errorf("the variable %s has no op that reads it", m.human(id))
			return
		}
		assignments = append(assignments, assignment{id, len(values)})
		names = append(names, m.constantOf("saver/name", tensor.Scalar(key)))
		ranges = append(ranges, empty)
		values = append(values, read.Output(0))
		dtypes = append(dtypes, v.DType())
	}
	type call struct {
		restore *graph.Concrete
		from, n int
	}
	var restores []call
	for id := range m.nodes {
		all := m.saveablesOf(m.nodes[id].Object)
		for _, attribute := range sortedKeys(all) {
			save, restore := traceOf(all[attribute].Save), traceOf(all[attribute].Restore)
			if save == nil || restore == nil || save.NumArgs() != 1 || len(save.Function.Results)%3 != 0 {
				m.err = &SaveError{m.human(id), fmt.Errorf("the functions that save and restore %q must have a trace each; the first takes a key and returns a list of names, slices and tensors", attribute)}
				return
			}
			key := trackable.AttributeKey(m.nodes[id].Path, attribute)
			out := m.call(save, m.constantOf("saver/key", tensor.Scalar(key)))
			from := len(values)
			for i := 0; i < len(save.Function.Results); i += 3 { // of each a name, a slice, a tensor
				names, ranges = append(names, out.Output(i)), append(ranges, out.Output(i+1))
				values = append(values, out.Output(i+2))
				dtypes = append(dtypes, save.Function.Results[i+2].Output.Fact().DType)
			}
			restores = append(restores, call{restore, from, len(values) - from})
		}
	}
	graphText := m.objectGraph()
	if m.err != nil {
		return
	}
	names = append(names, m.constantOf("saver/name", tensor.Scalar(trackable.ObjectGraphKey)))
	ranges = append(ranges, empty)
	saved := append(values[:len(values):len(values)], m.constantOf("saver/object_graph", tensor.Scalar(graphText)))

	pack := func(list []graph.Output) graph.Output {
		return m.add("Pack", "saver/pack", graph.Attrs{graph.Int("axis", 0)}, list...).Output(0)
	}
	allNames, allSlices := pack(names), pack(ranges)
	in := append([]graph.Output{prefix, allNames, allSlices}, saved...)
	save := m.add("SaveV2", "saver/SaveV2", graph.Attrs{graph.Types("dtypes", append(dtypes[:len(dtypes):len(dtypes)], tensor.String)...)}, in...)
	done := m.add("Identity", "saver/control_dependency", nil, prefix)
	done.Control = append(done.Control, save)

	all := m.add("NoOp", "saver/restore_all", nil)
	if len(values) > 0 {
		restored := m.add("RestoreV2", "saver/RestoreV2", graph.Attrs{graph.Types("dtypes", dtypes...)}, prefix, pack(names[:len(values)]), pack(ranges[:len(values)]))
		for _, a := range assignments {
			n := m.add("AssignVariableOp", "saver/AssignVariableOp", graph.Attrs{graph.Type("dtype", dtypes[a.at])}, m.value(a.id), restored.Output(a.at))
			all.Control = append(all.Control, n)
		}
		for _, r := range restores {
			args := make([]graph.Output, r.n)
			for i := range args {
				args[i] = restored.Output(r.from + i)
			}
			if r.restore.NumArgs() != r.n {
				m.err = fmt.Errorf("a function that restores takes %d tensors, the one that saves returns %d", r.restore.NumArgs(), r.n)
				return
			}
			all.Control = append(all.Control, m.call(r.restore, args...))
		}
	}
	p.SaverDef = &pb.SaverDef{FilenameTensorName: file.Name + ":0", SaveTensorName: done.Name + ":0", RestoreOpName: all.Name, Version: 2}
}

// traceOf returns the first trace of a function; nil if there is none.
func traceOf(f FunctionNode) *graph.Concrete {
	if f == nil {
		return nil
	}
	if traces := f.Traces(); len(traces) > 0 {
		return traces[0]
	}
	return nil
}

// objectGraph returns the object graph that the model's checkpoint has.
func (m *mainGraph) objectGraph() string {
	if m.err != nil {
		return ""
	}
	ck, err := m.checkpoint()
	var b []byte
	if err == nil {
		b, err = ck.ObjectGraph(m.ctx)
	}
	if err != nil {
		m.err = err
	}
	return string(b)
}

// checkpoint returns the checkpoint of the saved graph, the same one in each call.
func (s *saver) checkpoint() (*checkpoint.Checkpoint, error) {
	if s.saved != nil {
		return s.saved, nil
	}
	children, hasSlots := s.children, keepsSlots
	if extra := s.opts.CheckpointEdges; len(extra) > 0 {
		children = func(obj trackable.Trackable) ([]trackable.Edge, error) {
			if _, known := s.number(obj); !known { // below the extra edges
				return trackable.Children(obj)
			}
			edges, err := s.children(obj)
			if obj == s.root && err == nil {
				edges = append(slices.Clip(edges), extra...)
			}
			return edges, err
		}
		hasSlots = func(obj trackable.Trackable) bool {
			_, known := s.number(obj) // slots of others are edges of their optimizers
			return !known || keepsSlots(obj)
		}
	}
	var err error
	s.saved, err = checkpoint.New(s.root, &checkpoint.Options{
		Savers: new(checkpoint.Savers), Children: children, HasSlots: hasSlots, Serialize: s.serialize, Shards: s.opts.Shards, Writer: s.opts.Writer, Progress: s.opts.Progress,
	})
	return s.saved, err
}

// serialize returns the values of an object that a registered saver is in charge of.
func (s *saver) serialize(obj trackable.Trackable) ([]trackable.Attribute, bool) {
	key := trackable.Identity(obj)
	return s.registered.attributes[key], s.registered.covered[key]
}
