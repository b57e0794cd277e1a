package savedmodel

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

// TracedSaver is implemented by registered savers whose work is ops, as a
// function.Saver's: [checkpoint.Saver].Traced.
type TracedSaver interface {
	// TraceSave returns a function that accepts a prefix, writes the objects
	// with SaveV2 and returns the prefixes of the files.
	TraceSave(ctx context.Context, objects checkpoint.Objects) (*graph.Concrete, error)
	// TraceRestore returns a function that accepts the prefix of a checkpoint
	// and restores the objects from the results of RestoreV2.
	TraceRestore(ctx context.Context, objects checkpoint.Objects) (*graph.Concrete, error)
}

// registeredValues are the values that registered savers save for the objects
// of a model.
//
// A SavedModel's checkpoint can't hold the files that a saver writes: a loader
// without that saver would leave the objects without values. So each tensor
// that a saver writes becomes an attribute of one of its objects. The saver's
// ops become two functions of that object: one that returns the tensors and one
// that accepts them. All of TensorFlow's loaders, and the model's own ops, save
// and restore the objects by these.
type registeredValues struct {
	covered    map[any]bool                         // objects that a saver is in charge of, by identity
	attributes map[any][]trackable.Attribute        // of their owners
	saveables  map[any]map[string]SaveableFunctions // likewise
}

// findRegistered asks the registered savers about the objects of the walk.
func (s *saver) findRegistered() error {
	r := &registeredValues{covered: map[any]bool{}, attributes: map[any][]trackable.Attribute{}, saveables: map[any]map[string]SaveableFunctions{}}
	s.registered = r
	groups := map[string][]checkpoint.Object{}
	first := map[string]int{}
	var order []string
	for id := range s.walk.Nodes {
		n := &s.walk.Nodes[id]
		name, x, ok := s.savers.Find(n.Object)
		if !ok || x.Save == nil {
			continue
		}
		if _, seen := groups[name]; !seen {
			order = append(order, name)
			first[name] = id
		}
		groups[name] = append(groups[name], checkpoint.Object{Prefix: n.Path, Object: n.Object})
		r.covered[trackable.Identity(n.Object)] = true
	}
	s.markRestored()
	for _, name := range order {
		x, _ := s.savers.Lookup(name)
		if err := s.addRegistered(name, x, groups[name]); err != nil {
			return s.fail(first[name], fmt.Errorf("the registered saver %q: %w", name, err))
		}
	}
	return nil
}

// addRegistered adds the values that a saver saves for its objects.
func (s *saver) addRegistered(name string, x checkpoint.Saver, list []checkpoint.Object) error {
	traced, ok := x.Traced.(TracedSaver)
	if !ok {
		return errors.New("it is no function of ops, so that a model can't hold it; write it as a function.Saver")
	}
	if x.Restore == nil {
		return errors.New("it has no Restore")
	}
	objects := checkpoint.MakeObjects(list...)
	values, err := s.savedValues(name, x, objects)
	if err != nil {
		return err
	}
	save, err := traced.TraceSave(s.ctx, objects)
	if err != nil {
		return err
	}
	restore, err := traced.TraceRestore(s.ctx, objects)
	if err != nil {
		return err
	}
	sources, err := writtenBy(save)
	if err != nil {
		return err
	}
	groups, err := restoredBy(restore)
	if err != nil {
		return err
	}
	for _, g := range groups {
		owner, attribute := ownerOf(g.keys[0], list)
		key := trackable.Identity(owner)
		a := trackable.Attribute{Name: attribute}
		for i, k := range g.keys {
			t := values[k]
			if t == nil || sources[k].Node == nil {
				return fmt.Errorf("it restores the tensor %q, which it doesn't save", k)
			}
			if i == 0 {
				a.Tensor = t
			} else {
				a.Parts = append(a.Parts, trackable.AttributePart{Suffix: "-" + strconv.Itoa(i), Tensor: t})
			}
			delete(values, k)
		}
		pair, err := saveablesFor(save, restore, sources, g)
		if err != nil {
			return err
		}
		s.registered.attributes[key] = append(s.registered.attributes[key], a)
		if s.registered.saveables[key] == nil {
			s.registered.saveables[key] = map[string]SaveableFunctions{}
		}
		if _, twice := s.registered.saveables[key][attribute]; twice {
			return fmt.Errorf("it saves two tensors called %q", attribute)
		}
		s.registered.saveables[key][attribute] = pair
	}
	if len(values) > 0 {
		return fmt.Errorf("it saves the tensor %q, which it doesn't restore", slices.Min(slices.Collect(maps.Keys(values))))
	}
	return nil
}

// savedValues runs a saver and returns the tensors that it wrote.
func (s *saver) savedValues(name string, x checkpoint.Saver, objects checkpoint.Objects) (map[string]*tensor.Tensor, error) {
	dir := vfs.MemDir()
	prefixes, err := x.Save(s.ctx, &checkpoint.SaveCall{Objects: objects, Prefix: "saved-" + name, Dir: dir})
	if err != nil {
		return nil, err
	}
	values := map[string]*tensor.Tensor{}
	for _, p := range prefixes {
		r, err := bundle.Open(s.ctx, dir, p, nil)
		if err != nil {
			return nil, err
		}
		for _, k := range r.Names() {
			if values[k], err = r.Read(s.ctx, k); err != nil {
				return nil, errors.Join(err, r.Close())
			}
		}
		if err := r.Close(); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// constantStrings returns the strings of an input that is a constant.
func constantStrings(o graph.Output) ([]string, bool) {
	if o.Node == nil || o.Node.Op != "Const" {
		return nil, false
	}
	t := o.Node.Attrs.Tensor("value")
	if t == nil || t.DType() != tensor.String {
		return nil, false
	}
	return t.Strings(), true
}

// writtenBy returns the tensors that the SaveV2 ops of a function write, by their names.
func writtenBy(c *graph.Concrete) (map[string]graph.Output, error) {
	out := map[string]graph.Output{}
	for _, n := range c.Function.Graph.Nodes() {
		if n.Op != "SaveV2" {
			continue
		}
		names, ok := constantStrings(n.In[1])
		if !ok || len(names)+3 != len(n.In) {
			return nil, fmt.Errorf("the names of the tensors that it writes are not constant")
		}
		ranges, ok := constantStrings(n.In[2])
		if !ok || slices.ContainsFunc(ranges, func(s string) bool { return s != "" }) {
			return nil, fmt.Errorf("it writes slices of tensors, which attributes can't hold; write whole tensors")
		}
		for i, name := range names {
			if _, twice := out[name]; twice {
				return nil, fmt.Errorf("it writes the tensor %q twice", name)
			}
			out[name] = n.In[3+i]
		}
	}
	return out, nil
}

// restoredGroup is tensors that one function has to restore together, because an op uses
// several of them, and the nodes whose effects restore them.
type restoredGroup struct {
	keys    []string
	outputs []graph.Output // of RestoreV2
	effects []*graph.Node
}

// restoredBy returns the tensors that the RestoreV2 ops of a function read, in
// groups that don't depend on each other.
func restoredBy(c *graph.Concrete) ([]restoredGroup, error) {
	type read struct {
		key string
		out graph.Output
	}
	var reads []read
	at := map[graph.Output]int{}
	for _, n := range c.Function.Graph.Nodes() {
		if n.Op != "RestoreV2" {
			continue
		}
		names, ok := constantStrings(n.In[1])
		if !ok || len(names) != len(n.Out) {
			return nil, fmt.Errorf("the names of the tensors that it reads are not constant")
		}
		for i, name := range names {
			at[n.Output(i)] = len(reads)
			reads = append(reads, read{name, n.Output(i)})
		}
	}
	groupOf := newReadGroups(len(reads), at)
	var effects []*graph.Node
	for _, control := range c.Function.Control {
		n := control.Node
		if n.Op == "RestoreV2" {
			continue
		}
		if groupOf.uses(n) < 0 {
			return nil, fmt.Errorf("its op %s restores nothing that it reads", n.Op)
		}
		effects = append(effects, n)
	}
	byRoot := map[int]int{}
	var groups []restoredGroup
	for i, r := range reads {
		root := groupOf.find(i)
		g, ok := byRoot[root]
		if !ok {
			g = len(groups)
			byRoot[root] = g
			groups = append(groups, restoredGroup{})
		}
		groups[g].keys = append(groups[g].keys, r.key)
		groups[g].outputs = append(groups[g].outputs, r.out)
	}
	for _, n := range effects {
		g := &groups[byRoot[groupOf.find(groupOf.used[n])]]
		g.effects = append(g.effects, n)
	}
	return groups, nil
}

// readGroups joins the reads on which one node depends.
type readGroups struct {
	at     map[graph.Output]int // the numbers of the reads
	parent []int                // of each read, in the tree of its group
	used   map[*graph.Node]int  // one of the reads that a node depends on, -1 for none
}

func newReadGroups(n int, at map[graph.Output]int) *readGroups {
	g := &readGroups{at, make([]int, n), map[*graph.Node]int{}}
	for i := range g.parent {
		g.parent[i] = i
	}
	return g
}

// find returns the read that stands for the group of a read.
func (g *readGroups) find(i int) int {
	for g.parent[i] != i {
		g.parent[i] = g.parent[g.parent[i]]
		i = g.parent[i]
	}
	return i
}

// uses joins the reads that a node depends on, and returns one of them, -1 if there are none. A node also depends on
// what the nodes before which it has to wait depend on, such as the assignments of a NoOp.
func (g *readGroups) uses(n *graph.Node) int {
	type frame struct {
		node *graph.Node
		next int // the number of inputs that were followed
	}
	if read, known := g.used[n]; known {
		return read
	}
	g.used[n] = -1
	for stack := []frame{{node: n}}; len(stack) > 0; {
		top := &stack[len(stack)-1]
		at := top.node
		if top.next == len(at.In)+len(at.Control) {
			stack = stack[:len(stack)-1]
			continue
		}
		read, source := -1, (*graph.Node)(nil)
		if k := top.next - len(at.In); k >= 0 {
			source = at.Control[k]
		} else if i, ok := g.at[at.In[top.next]]; ok {
			read = i
		} else {
			source = at.In[top.next].Node
		}
		if source != nil && source.Op != "RestoreV2" {
			known := false
			if read, known = g.used[source]; !known {
				g.used[source] = -1 // also for cycles
				stack = append(stack, frame{node: source})
				continue // this input is followed again
			}
		}
		top.next++
		switch has := g.used[at]; {
		case read < 0:
		case has < 0:
			g.used[at] = read
		default:
			g.parent[g.find(read)] = g.find(has)
		}
	}
	return g.used[n]
}

// ownerOf returns the object whose attribute a saver's tensor becomes, and the
// attribute's name: the object whose prefix the tensor's name begins with.
func ownerOf(key string, list []checkpoint.Object) (trackable.Trackable, string) {
	best, rest := list[0].Object, key
	longest := -1
	for _, o := range list {
		if after, ok := strings.CutPrefix(key, o.Prefix); ok && len(o.Prefix) > longest {
			best, rest, longest = o.Object, strings.TrimLeft(after, "/"), len(o.Prefix)
		}
	}
	if rest == "" {
		rest = "value"
	}
	return best, rest
}

// captureArgs returns the arguments of a function that are its captures.
func captureArgs(c *graph.Concrete) []graph.Output {
	var out []graph.Output
	for _, a := range c.Function.Args[c.NumArgs():] {
		out = append(out, a.Output(0))
	}
	return out
}

// saveablesFor returns the functions that save and restore a group.
func saveablesFor(save, restore *graph.Concrete, sources map[string]graph.Output, g restoredGroup) (SaveableFunctions, error) {
	var none SaveableFunctions
	fetches := make([]graph.Output, len(g.keys))
	for i, k := range g.keys {
		fetches[i] = sources[k]
	}
	body, err := graph.Prune(save.Function.Graph, captureArgs(save), fetches, nil)
	if err != nil {
		return none, err
	}
	body.Name = save.Function.Name + "_tensors"
	captures := body.Args
	key, err := body.AddArg(body.Graph.UniqueName("checkpoint_key"), graph.Fact{DType: tensor.String, Shape: graph.ShapeOf()})
	if err != nil {
		return none, err
	}
	body.Args = append([]*graph.Node{key.Node}, captures...)
	body.NumberArgs()
	add := func(op string, attrs graph.Attrs, in ...graph.Output) (graph.Output, error) {
		n := &graph.Node{Op: op, Name: body.Graph.UniqueName(op), Attrs: attrs, In: in}
		if err := bindNode(n); err != nil {
			return graph.Output{}, err
		}
		n.Out[0].Shape = graph.ShapeOf()
		return n.Output(0), body.Graph.Add(n)
	}
	text := func(s string) (graph.Output, error) {
		return add("Const", graph.Attrs{graph.Tensor("value", tensor.Scalar(s)), graph.Type("dtype", tensor.String)})
	}
	tensors := body.Results
	body.Results = nil
	var specs []*graph.Structure
	for i, r := range tensors {
		var name graph.Output
		if i == 0 {
			name, err = add("Identity", nil, key)
		} else if name, err = text("-" + strconv.Itoa(i)); err == nil {
			name, err = add("StringJoin", graph.Attrs{graph.String("separator", "")}, key, name)
		}
		if err != nil {
			return none, err
		}
		slice, err := text("")
		if err != nil {
			return none, err
		}
		body.AddResult("name", name)
		body.AddResult("slice_spec", slice)
		body.AddResult("tensor", r.Output)
		scalar := graph.Fact{DType: tensor.String, Shape: graph.ShapeOf()}
		fact := r.Output.Fact().WithoutValue()
		fact.Shape = fact.Shape.Anonymous()
		specs = append(specs, graph.DictOf([]string{"name", "slice_spec", "tensor"},
			[]*graph.Structure{graph.TensorOf("name", scalar), graph.TensorOf("slice_spec", scalar), graph.TensorOf("tensor", fact)}))
	}
	keySpec := graph.TensorOf("checkpoint_key", graph.Fact{DType: tensor.String, Shape: graph.ShapeOf()})
	saved := &graph.Concrete{Function: body, Captures: save.Captures, Assemble: save.Assemble,
		Call: graph.TupleOf(graph.TupleOf(keySpec), graph.DictOf(nil, nil)), Out: graph.ListOf(specs...)}

	back, err := graph.Prune(restore.Function.Graph, append(slices.Clone(g.outputs), captureArgs(restore)...), nil, g.effects)
	if err != nil {
		return none, err
	}
	back.Name = restore.Function.Name + "_tensors"
	// TensorFlow's savers wait for the function's results.
	zero := &graph.Node{Op: "Const", Name: back.Graph.UniqueName("restored/Const"), Attrs: graph.Attrs{graph.Tensor("value", tensor.Scalar[int32](0)), graph.Type("dtype", tensor.Int32)}}
	done := &graph.Node{Op: "Identity", Name: back.Graph.UniqueName("restored/Identity"), In: []graph.Output{zero.Output(0)}}
	for _, c := range back.Control {
		done.Control = append(done.Control, c.Node)
	}
	for _, n := range []*graph.Node{zero, done} {
		if err := bindNode(n); err != nil {
			return none, err
		}
		n.Out[0].Shape = graph.ShapeOf()
		if err := back.Graph.Add(n); err != nil {
			return none, err
		}
	}
	back.AddResult("restored", done.Output(0))
	var args []*graph.Structure
	names := make([]string, len(g.keys))
	for i, o := range g.outputs {
		names[i] = "tensor_" + strconv.Itoa(i)
		fact := o.Fact().WithoutValue()
		fact.Shape = fact.Shape.Anonymous()
		args = append(args, graph.TensorOf(names[i], fact))
	}
	restored := &graph.Concrete{Function: back, Captures: restore.Captures, Assemble: restore.Assemble,
		Call: graph.TupleOf(graph.TupleOf(args...), graph.DictOf(nil, nil)),
		Out:  graph.TensorOf("restored", graph.Fact{DType: tensor.Int32, Shape: graph.ShapeOf()})}
	bare := func(c *graph.Concrete, names ...string) *TrackableBareFunction {
		return &TrackableBareFunction{Concrete: c, Keywords: names, Positional: len(names), Parameters: &Parameters{Names: names}}
	}
	return SaveableFunctions{bare(saved, "checkpoint_key"), bare(restored, names...)}, nil
}

// saveablesOf returns the functions that save and restore an object's values.
func (s *saver) saveablesOf(obj trackable.Trackable) map[string]SaveableFunctions {
	if all := s.registered.saveables[trackable.Identity(obj)]; all != nil {
		return all
	}
	if h, ok := obj.(SaveableHolder); ok {
		return h.SaveableFunctions()
	}
	return nil
}
