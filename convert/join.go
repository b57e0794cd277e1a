package convert

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cairnml/cairn/internal/objects"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/tensorfile"
)

// counterKey is the name of the counter that TensorFlow adds to every root.
const counterKey = "save_counter" + tensorfile.ValueSuffix

// sideBySide lists the tensors of all sources under their own names. Of several
// object graphs that of the source keep stays; the others' counters of saves go
// with their graphs.
func sideBySide(stores []*tensorfile.File, srcs []string, keep string, res *Result) ([]item, error) {
	total := 0
	for _, s := range stores {
		total += s.Entries().Len()
	}
	owner := make(map[string]*tensorfile.File, total)
	list := make([]item, 0, total)
	for n, s := range stores {
		all, err := items(s)
		if err != nil {
			return nil, err
		}
		dropped := keep != "" && srcs[n] != keep && s.Has(tensorfile.GraphKey)
		if dropped {
			res.note("left out the object graph of %s", s.Prefix)
		}
		for _, i := range all {
			if dropped && (i.from() == tensorfile.GraphKey || i.from() == counterKey) {
				continue
			}
			if other, dup := owner[i.name]; dup && i.from() == tensorfile.GraphKey {
				continue // the destination is a .npz, which holds no graph
			} else if dup {
				return nil, &ClashError{[2]string{other.Prefix, s.Prefix}, i.name}
			}
			owner[i.name] = s
			i.source = s
			list = append(list, i)
		}
	}
	return list, nil
}

// joined lists the tensors of all sources under separate names, and makes one
// object graph of theirs: its root has the old roots as children of these
// names, and one counter of saves instead of theirs. Programs have the objects
// of a checkpoint that is part of another, but not its counter.
func joined(ctx context.Context, stores []*tensorfile.File, srcs, names []string) ([]item, error) {
	if len(names) != len(stores) {
		return nil, fmt.Errorf("%d names for %d sources; each needs one", len(names), len(stores))
	}
	root := &pb.TrackableObject{}
	g := &pb.TrackableObjectGraph{Nodes: []*pb.TrackableObject{root}}
	var list []item
	var saves int64
	counted := false
	seen := map[string]bool{"save_counter": true}
	for n, s := range stores {
		name := names[n]
		if name == "" || seen[name] {
			return nil, fmt.Errorf("the name %q is empty, taken or the root's own; each source needs another", name)
		}
		seen[name] = true
		og, err := s.DecodeGraph(ctx)
		if err != nil {
			return nil, err
		}
		if og == nil || len(og.Nodes) == 0 {
			return nil, fmt.Errorf("%s has no object graph to be joined; name-based checkpoints are merged under the names that they have", srcs[n])
		}
		key := func(old string) string { return joinedKey(escape(name), old) }
		alone := takeCounter(og)
		shift(og, int32(len(g.Nodes)), key)
		root.Children = append(root.Children, &pb.ObjectReference{NodeId: int32(len(g.Nodes)), LocalName: name})
		g.Nodes = append(g.Nodes, og.Nodes...)
		all, err := items(s)
		if err != nil {
			return nil, err
		}
		for _, i := range all {
			if i.from() == tensorfile.GraphKey {
				continue
			}
			if i.from() == counterKey && i.dtype == tensor.Int64 && len(i.shape()) == 0 {
				t, err := s.Read(ctx, i.from())
				if err != nil {
					return nil, err
				}
				saves, counted = max(saves, tensor.Values[int64](t)[0]), true
				if alone {
					continue
				}
			}
			i.source, i.name = s, key(i.from())
			list = append(list, i)
		}
	}
	last := stores[len(stores)-1]
	if counted {
		root.Children = append(root.Children, &pb.ObjectReference{NodeId: int32(len(g.Nodes)), LocalName: "save_counter"})
		g.Nodes = append(g.Nodes, &pb.TrackableObject{
			Attributes:          []*pb.SerializedTensor{{Name: objects.Value, FullName: "save_counter", CheckpointKey: counterKey}},
			HasCheckpointValues: &pb.BoolValue{Value: true},
		})
		list = append(list, item{source: last, entry: &tensorfile.Entry{Name: counterKey}, name: counterKey, dtype: tensor.Int64, bytes: 8, value: tensor.Scalar(saves)})
	}
	root.HasCheckpointValues = &pb.BoolValue{Value: len(list) > 0}
	raw := string(g.Marshal())
	return append(list, item{source: last, entry: &tensorfile.Entry{Name: tensorfile.GraphKey}, name: tensorfile.GraphKey, dtype: tensor.String, bytes: int64(len(raw)), value: tensor.Scalar(raw)}), nil
}

// takeCounter removes a root's counter of saves from the graph, and reports
// whether it did: it doesn't if something else refers to it.
func takeCounter(g *pb.TrackableObjectGraph) bool {
	root := g.Nodes[0]
	at := slices.IndexFunc(root.Children, func(c *pb.ObjectReference) bool {
		if c.LocalName != "save_counter" || c.NodeId <= 0 || int(c.NodeId) >= len(g.Nodes) {
			return false
		}
		n := g.Nodes[c.NodeId]
		return len(n.Attributes) == 1 && n.Attributes[0].CheckpointKey == counterKey && len(n.Children)+len(n.SlotVariables) == 0
	})
	if at < 0 {
		return false
	}
	id := root.Children[at].NodeId
	uses := 0
	each := func(visit func(id *int32)) {
		for _, o := range g.Nodes {
			for _, c := range o.Children {
				visit(&c.NodeId)
			}
			for _, v := range o.SlotVariables {
				visit(&v.OriginalVariableNodeId)
				visit(&v.SlotVariableNodeId)
			}
		}
	}
	each(func(to *int32) {
		if *to == id {
			uses++
		}
	})
	if uses != 1 {
		return false
	}
	root.Children = slices.Delete(root.Children, at, at+1)
	g.Nodes = slices.Delete(g.Nodes, int(id), int(id)+1)
	each(func(to *int32) {
		if *to > id {
			*to--
		}
	})
	return true
}

// joinedKey returns a key in the joined graph. A slot variable's holds the
// paths of two objects, its variable's and its optimizer's.
func joinedKey(name, key string) string {
	return name + "/" + strings.Replace(key, slotMark, slotMark+name+"/", 1)
}

// shift moves a graph's node numbers up and changes the keys of its values.
// References that lead out of the graph stay so.
func shift(g *pb.TrackableObjectGraph, by int32, key func(string) string) {
	n := int32(len(g.Nodes))
	move := func(id *int32) {
		if *id >= 0 && *id < n {
			*id += by
		} else {
			*id = -1
		}
	}
	for _, o := range g.Nodes {
		for _, c := range o.Children {
			move(&c.NodeId)
		}
		for _, v := range o.SlotVariables {
			move(&v.OriginalVariableNodeId)
			move(&v.SlotVariableNodeId)
		}
		for _, a := range o.Attributes {
			a.CheckpointKey = key(a.CheckpointKey)
		}
		if r := o.RegisteredSaver; r != nil && r.ObjectName != "" {
			r.ObjectName = key(r.ObjectName)
		}
	}
}
