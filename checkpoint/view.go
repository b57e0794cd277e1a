package checkpoint

import (
	"context"
	"fmt"
	"io/fs"
	"slices"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/internal/objects"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// View reads a checkpoint without any Go objects: its values, its object graph,
// and how they compare with a program's objects. It is safe for use from many
// goroutines.
type View struct {
	src   source
	graph *objectGraph // nil: name-based
}

// Open opens the checkpoint at path: a prefix, one of its files, a directory
// with a "checkpoint" state file (its latest), or a SavedModel's directory. Only
// the index and the object graph are read.
func Open(ctx context.Context, path string, o *bundle.ReaderOptions) (*View, error) {
	src, err := openFile(ctx, path, o)
	if err != nil {
		return nil, err
	}
	return newView(ctx, src)
}

// OpenFS works like [Open], but reads from fsys; path is slash-separated.
func OpenFS(ctx context.Context, fsys fs.FS, path string, o *bundle.ReaderOptions) (*View, error) {
	src, err := openFS(ctx, fsys, path, o)
	if err != nil {
		return nil, err
	}
	return newView(ctx, src)
}

func newView(ctx context.Context, src source) (*View, error) {
	g, err := readGraph(ctx, src)
	if err != nil {
		return nil, err
	}
	return &View{src: src, graph: g}, nil
}

// Value is an entry of [List]: one tensor.
type Value struct {
	Name  string
	DType tensor.DType
	Shape tensor.Shape
	Bytes int64 // in the file, all slices together
}

// List lists the tensors of the checkpoint at path, sorted by name: TensorFlow's
// tf.train.list_variables.
func List(ctx context.Context, path string) ([]Value, error) {
	src, err := openFile(ctx, path, nil)
	if err != nil {
		return nil, err
	}
	return values(src.reader), nil
}

// Load reads one tensor of the checkpoint at path: TensorFlow's
// tf.train.load_variable. If there is none of that name, the error lists the
// nearest names.
func Load(ctx context.Context, path, name string) (*tensor.Tensor, error) {
	src, err := openFile(ctx, path, nil)
	if err != nil {
		return nil, err
	}
	return src.reader.Read(ctx, name)
}

func values(r *bundle.Reader) []Value {
	list := make([]Value, 0, r.Len())
	for e := range r.Entries() {
		list = append(list, Value{e.Name, e.DType, e.Shape, e.Size})
	}
	return list
}

// Prefix returns the checkpoint's prefix.
func (v *View) Prefix() string { return v.src.path }

// Reader reads the tensors.
func (v *View) Reader() *bundle.Reader { return v.src.reader }

// ObjectBased reports whether the checkpoint holds an object graph; one that
// TF1's savers wrote holds names only.
func (v *View) ObjectBased() bool { return v.graph != nil }

// Values lists the tensors, sorted by name.
func (v *View) Values() []Value { return values(v.src.reader) }

// Load reads one tensor by its name in the checkpoint, or by a path of the object
// graph that leads to it: edges joined by "/", after a variable the name of a
// slot. If there is none the error lists the nearest names.
func (v *View) Load(ctx context.Context, name string) (*tensor.Tensor, error) {
	r := v.src.reader
	if _, ok := r.Entry(name); !ok && v.graph != nil {
		if key, ok := objects.Key(v.graph.messages().Nodes, name); ok {
			if _, ok := r.Entry(key); ok {
				name = key
			}
		}
	}
	return r.Read(ctx, name)
}

// Close releases the View's files. A second call does nothing.
func (v *View) Close() error { return v.src.reader.Close() }

// ViewNode is one object of a checkpoint's graph.
type ViewNode struct {
	ID int
	// Path is the first path to the object, for people: raw names joined by
	// dots, "(root)" for the root, words for a slot variable.
	Path string
	// Children are the edges in order.
	Children []trackable.Ref
	// Attributes are the object's own values.
	Attributes []ViewAttribute
	// Slots are the slot variables that the object owns.
	Slots []trackable.SlotRef
	// Saver is the registered saver that saved the object, "package.name", and
	// SaverObject the object's name with it; "" for most.
	Saver, SaverObject string
	// HasValues is the file's flag for whether the object or one below it has
	// values. Older files lack the flag; then it is whether the object isn't empty.
	HasValues bool
	// IsSlot reports whether the object is some owner's slot variable.
	IsSlot bool
}

// ViewAttribute is one attribute of a [ViewNode].
type ViewAttribute struct {
	Name     string // "VARIABLE_VALUE" for a variable
	Key      string // the tensor's name, or the beginning of several
	FullName string // the variable's name in TensorFlow, "" for others
}

// Nodes returns the objects in the order of the file; none in a name-based
// checkpoint.
func (v *View) Nodes() []ViewNode {
	if v.graph == nil {
		return nil
	}
	nodes := make([]ViewNode, len(v.graph.nodes))
	for id, n := range v.graph.messages().Nodes {
		x := &nodes[id]
		x.ID, x.Path, x.HasValues = id, v.graph.human(int32(id)), v.graph.hasValue(int32(id))
		for _, c := range n.Children {
			x.Children = append(x.Children, trackable.Ref{Name: c.LocalName, ID: int(c.NodeId)})
		}
		for _, a := range n.Attributes {
			x.Attributes = append(x.Attributes, ViewAttribute{a.Name, a.CheckpointKey, a.FullName})
		}
		for _, s := range n.SlotVariables {
			x.Slots = append(x.Slots, trackable.SlotRef{Name: s.SlotName, Variable: int(s.OriginalVariableNodeId), ID: int(s.SlotVariableNodeId)})
			nodes[s.SlotVariableNodeId].IsSlot = true
		}
		if r := n.RegisteredSaver; r != nil {
			x.Saver, x.SaverObject = r.Name, r.ObjectName
		}
	}
	return nodes
}

// errByName returns the error of graph queries on a name-based checkpoint.
func (v *View) errByName() error {
	return fmt.Errorf("checkpoint: %s has no object graph (key %q): it was written by TF1's name-based saver; its tensors can be listed, loaded, and restored by full names", v.src.path, trackable.ObjectGraphKey)
}

// Match maps the checkpoint's nodes to the objects with the same path below
// root. The root is one that [New] accepts, or that of a Checkpoint. Objects
// that are slot variables match by owner, name and variable. Nothing is loaded.
func (v *View) Match(root any) (map[int]trackable.Trackable, error) {
	d, err := v.Diff(root)
	if err != nil {
		return nil, err
	}
	return d.Matched, nil
}

// Diff compares a checkpoint with live objects; see [View.Diff].
type Diff struct {
	// Matched maps node numbers to the objects at the same place.
	Matched map[int]trackable.Trackable
	// OnlyCheckpoint are the nodes that no object matches and that a path leads
	// to, in order.
	OnlyCheckpoint []int
	// OnlyObjects are the objects that no node matches, in order, with their
	// paths.
	OnlyObjects []DiffObject
	// Mismatched are matched variables of another type or shape.
	Mismatched []Item
}

// DiffObject is an object that a checkpoint doesn't hold.
type DiffObject struct {
	Path   string
	Object trackable.Trackable
}

// Diff compares the checkpoint with root's graph without loading a value. To
// compare with the objects that a Checkpoint would restore, pass the Checkpoint
// itself.
func (v *View) Diff(root any) (*Diff, error) {
	if v.graph == nil {
		return nil, v.errByName()
	}
	ck, ok := root.(*Checkpoint)
	if !ok {
		var err error
		if ck, err = New(root, nil); err != nil {
			return nil, err
		}
	}
	g, err := ck.walk()
	if err != nil {
		return nil, err
	}
	d := &Diff{Matched: map[int]trackable.Trackable{0: g.Nodes[0].Object}}
	of := map[int32]int{0: 0} // node → object's number
	matched := make([]bool, len(g.Nodes))
	matched[0] = true
	bind := func(node int32, id int) bool {
		if _, taken := of[node]; taken {
			return false
		}
		of[node] = id
		matched[id] = true
		d.Matched[int(node)] = g.Nodes[id].Object
		return true
	}
	file := v.graph.messages().Nodes
	for queue := []int32{0}; len(queue) > 0; queue = queue[1:] {
		at := map[string]int{}
		for _, e := range g.Nodes[of[queue[0]]].Edges {
			at[e.Name] = e.ID
		}
		for _, c := range file[queue[0]].Children {
			if id, ok := at[c.LocalName]; ok && bind(c.NodeId, id) {
				queue = append(queue, c.NodeId)
			}
		}
	}
	for node, n := range file {
		owner, ok := of[int32(node)]
		if !ok {
			continue
		}
		for _, s := range n.SlotVariables {
			variable, ok := of[s.OriginalVariableNodeId]
			if !ok {
				continue
			}
			i := slices.IndexFunc(g.Nodes[owner].Slots, func(o trackable.SlotRef) bool { return o.Name == s.SlotName && o.Variable == variable })
			if i >= 0 {
				bind(s.SlotVariableNodeId, g.Nodes[owner].Slots[i].ID)
			}
		}
	}
	v.graph.paths()
	for node := range file {
		id, ok := of[int32(node)]
		if !ok {
			if _, slot := v.graph.slotOf[int32(node)]; slot || v.graph.parent[node] >= 0 {
				d.OnlyCheckpoint = append(d.OnlyCheckpoint, node)
			}
			continue
		}
		x := g.Nodes[id].Variable()
		if x == nil {
			continue
		}
		for _, a := range file[node].Attributes {
			e, ok := v.src.reader.Entry(a.CheckpointKey)
			if ok && a.Name == trackable.VariableValue && x.Accepts(e.DType, e.Shape) != nil {
				d.Mismatched = append(d.Mismatched, Item{Path: v.graph.human(int32(node)), Attribute: a.Name, Key: a.CheckpointKey,
					DType: e.DType, Shape: e.Shape, Why: mismatchWords(x, e)})
			}
		}
	}
	for id := range g.Nodes {
		if !matched[id] {
			d.OnlyObjects = append(d.OnlyObjects, DiffObject{g.Human(id), g.Nodes[id].Object})
		}
	}
	return d, nil
}
