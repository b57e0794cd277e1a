package savedmodel

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// RestoreOptions changes how the objects of a model are made; nil means the defaults.
type RestoreOptions struct {
	// Classes are the classes that the program knows. Default: none, and every object is
	// a generic one.
	Classes *Classes
	// Packages are the packages whose classes are used, besides the global one.
	// Default: none.
	Packages []string
	// Savers are the registered savers. Objects that one of them saved get their values
	// from its Restore. Default: checkpoint.DefaultSavers.
	Savers *checkpoint.Savers
	// Run calls the model's functions that restore variables: a model with a
	// registered saver has them instead of the values. ops.NewRunner makes one.
	// Default: such variables have no value, unless the program's classes and
	// savers assign one.
	Run graph.Runner
	// AllowMissing lets variables that a class's Load made keep their values if the
	// model has none for them. Default: that is an error.
	AllowMissing bool
	// Read controls how the files are read. Default: ReadOptions's defaults.
	Read *ReadOptions
	// Tags chooses the MetaGraph. Default: that of [SavedModel.Find] without tags.
	Tags []string
}

// Restored is a model as live objects.
type Restored struct {
	// Root is the object that was saved: one that a class's Load has made, or a generic
	// one. Saving it writes the model again.
	Root trackable.Trackable
	// Unknown lists the objects of a class that is not registered, or not in a version
	// that the program takes. They were restored as generic objects.
	Unknown []UnknownClass
	// Unused lists the paths of the model's variables that no object has taken.
	Unused []string
	// Unfilled lists the paths of the variables that have no value, because the model's
	// checkpoint has none under their names: a registered saver that the program doesn't
	// have wrote it, or functions of the model restore it (RestoreOptions.Run).
	// Reading such a variable and saving it are errors.
	Unfilled []string
	// MetaGraph describes the model.
	MetaGraph *MetaGraph

	byFunction bool                       // functions of the model restore an unfilled variable
	objects    []trackable.Trackable      // by the numbers of the file; nil for those that nothing leads to
	traces     map[string]*graph.Concrete // by their names in the graph's library
	foreign    *foreign
}

// Traces returns the model's traces by the names of their functions in the file. The map
// is the caller's; the traces are those that the objects hold.
func (r *Restored) Traces() map[string]*graph.Concrete { return maps.Clone(r.traces) }

// Object returns the object that was made for object id of the file, nil if nothing leads
// to it.
func (r *Restored) Object(id int) trackable.Trackable {
	if id < 0 || id >= len(r.objects) {
		return nil
	}
	return r.objects[id]
}

// UnknownClass is an object that was restored as a generic one.
type UnknownClass struct {
	// Path leads from the root to the object.
	Path string
	// Identifier is the class that the file names, Version its version there.
	Identifier string
	Version    int
	// Reason explains why the class was not used.
	Reason string
}

// Restore makes the objects of a model: variables with their values, functions
// with their traces, assets, tables, and the objects around them. None of the
// model's ops run, unless opts.Run is set: it runs functions that restore
// variables. An object of a class in opts is made by the class; any other is a
// generic object, which keeps the file's data.
//
// Functions capture the objects that are returned here, so a program may train
// the variables, add objects and functions, and save the root again with
// [Save].
func Restore(ctx context.Context, fsys fs.FS, opts *RestoreOptions) (*Restored, error) {
	if opts == nil {
		opts = new(RestoreOptions)
	}
	m, err := Read(ctx, fsys, opts.Read)
	if err != nil {
		return nil, err
	}
	g, err := m.Find(opts.Tags...)
	if err != nil {
		return nil, err
	}
	return g.Restore(ctx, opts)
}

// Restore works like the function [Restore], for one MetaGraph.
func (g *MetaGraph) Restore(ctx context.Context, opts *RestoreOptions) (*Restored, error) {
	if opts == nil {
		opts = new(RestoreOptions)
	}
	if len(g.Objects) == 0 {
		return nil, &NotFoundError{Kind: "object", Name: "", Note: "the MetaGraph has no objects: it is one of TensorFlow 1, which has signatures only"}
	}
	r := &restorer{
		ctx: ctx, meta: g, opts: opts, objects: make([]trackable.Trackable, len(g.Objects)), generic: make([]bool, len(g.Objects)),
		loading: map[int]bool{}, traces: map[*ConcreteFunction]*graph.Concrete{}, bound: map[int]*trackable.Variable{},
		result: &Restored{MetaGraph: g}, specs: map[int]*LoadSpec{},
	}
	var err error
	if r.foreign, err = g.foreign(); err != nil {
		return nil, err
	}
	r.result.foreign = r.foreign
	if r.graph, err = g.Graph(); err != nil {
		return nil, err
	}
	if err := r.readValues(); err != nil {
		return nil, err
	}
	if r.result.Root, err = r.resolve(0); err != nil {
		return nil, err
	}
	if err := r.finish(); err != nil {
		return nil, err
	}
	r.result.objects, r.result.traces = r.objects, make(map[string]*graph.Concrete, len(r.traces))
	for c, t := range r.traces {
		r.result.traces[c.Name] = t
	}
	r.setOutputShapes()
	return r.result, nil
}

// setOutputShapes sets the output shapes of the signatures' functions from the
// MetaGraph. The functions themselves often have fewer.
func (r *restorer) setOutputShapes() {
	signatures := r.meta.Objects[0].Child(signaturesEdge)
	if signatures == nil {
		return
	}
	for _, s := range r.meta.Signatures {
		f := signatures.Child(s.Name)
		if f == nil {
			continue
		}
		bare, ok := r.objects[f.ID].(*TrackableBareFunction)
		if !ok { // a class made the object
			continue
		}
		bare.shapes = map[string]graph.PartialShape{}
		for _, t := range PlainTensors(s.Outputs) {
			bare.shapes[t.Name] = t.Shape
		}
	}
}

// restorer makes the objects of a MetaGraph, in this order: values are read (readValues), the root is
// resolved, and edges, values and captures are set until nothing new is made (finish). The order of calls
// of a class's Load follows the edges.
type restorer struct {
	ctx   context.Context
	meta  *MetaGraph
	opts  *RestoreOptions
	graph *graph.Graph

	foreign *foreign
	objects []trackable.Trackable                 // by the numbers of the file, nil until they are made
	generic []bool                                // whether an object's edges are still to be set
	queue   []int                                 // generic objects whose edges are to be set
	loading map[int]bool                          // objects whose class is being asked
	specs   map[int]*LoadSpec                     // by the numbers of the file
	traces  map[*ConcreteFunction]*graph.Concrete // of the functions that are reached
	order   []*ConcreteFunction                   // the keys of traces, in the order in which they were reached

	values     map[int]*tensor.Tensor        // of variables
	keys       map[*Object]string            // of their values in the checkpoint
	attributes map[int][]trackable.Attribute // values of other objects
	registered map[int]savedBy               // objects whose values a registered saver wrote
	byFunction map[int][]*Object             // variables that functions of other objects restore, and these objects
	bound      map[int]*trackable.Variable   // variables of the program that replace the file's
	places     []livePlace                   // objects whose values are still to be given
	// checkpoints are the objects that take values in place of those of a class.
	checkpoints []livePlace
	paths       map[int]string
	led         map[*Object]bool // objects to which an edge leads
	unfilled    []unfilled

	result *Restored
}

// unfilled is a variable for which the checkpoint has no value.
type unfilled struct {
	variable *trackable.Variable
	id       int
}

// livePlace is an object of the program that takes the values of a node of the file.
type livePlace struct {
	object trackable.Trackable
	id     int
}

// readValues reads the values of all variables.
func (r *restorer) readValues() error {
	r.values = map[int]*tensor.Tensor{}
	view, err := r.meta.model.OpenVariables(r.ctx)
	if errors.Is(err, fs.ErrNotExist) {
		if len(r.meta.Variables()) == 0 {
			return nil
		}
		return fmt.Errorf("savedmodel: restore: %w", ErrNoCheckpoint)
	}
	if err != nil {
		return fmt.Errorf("savedmodel: restore: %w", err)
	}
	defer view.Close()
	var byOp map[*Object]bool
	r.keys, byOp = r.meta.matchCheckpoint(view)
	r.findRegistered(view)
	if err := r.readAttributes(view, byOp); err != nil {
		return err
	}
	var reqs []bundle.ReadRequest
	var ids []int
	for _, o := range r.meta.Objects {
		key, ok := r.keys[o]
		if !ok { // no variable, or one that has no value by itself: finish finds it unfilled
			continue
		}
		if _, there := view.Reader().Entry(key); !there {
			return fmt.Errorf("savedmodel: restore: the checkpoint lacks the tensor %q of the variable %q", key, o.Variable.Name)
		}
		reqs, ids = append(reqs, bundle.ReadRequest{Name: key}), append(ids, o.ID)
	}
	if err := view.Reader().ReadAll(r.ctx, reqs, nil); err != nil {
		return fmt.Errorf("savedmodel: restore: %w", err)
	}
	for i, id := range ids {
		r.values[id] = reqs[i].Dst
	}
	r.findByFunction()
	return nil
}

// maxAttributes bounds the values that attributes name together, in multiples of the checkpoint's tensors and the
// model's objects: a hostile file can name the same ones again and again. The number may change.
const maxAttributes = 16

// readAttributes reads the values of objects that functions of the model save and restore.
func (r *restorer) readAttributes(view *checkpoint.View, byOp map[*Object]bool) error {
	r.attributes = map[int][]trackable.Attribute{}
	if len(byOp) == 0 {
		return nil
	}
	keys := r.meta.attributeKeys(view)
	names := view.Reader().Names()
	most := maxAttributes * (len(names) + len(r.meta.Objects))
	values := make(map[string]*tensor.Tensor) // those that were read
	spend := func(o *Object) error {
		if most--; most < 0 {
			return fmt.Errorf("savedmodel: restore %s: attributes of the checkpoint name its %d tensors more than %d times: %w", r.path(o.ID), len(names), maxAttributes, errors.ErrUnsupported)
		}
		return nil
	}
	read := func(o *Object, name string) (*tensor.Tensor, error) {
		if err := spend(o); err != nil {
			return nil, err
		}
		if t := values[name]; t != nil {
			return t, nil
		}
		t, err := view.Reader().Read(r.ctx, name)
		if err != nil {
			return nil, fmt.Errorf("savedmodel: restore: %w", err)
		}
		values[name] = t
		return t, nil
	}
	for _, o := range r.meta.Objects {
		if !byOp[o] {
			continue
		}
		for _, a := range keys[o] {
			out := trackable.Attribute{Name: a.name}
			var err error
			if _, ok := slices.BinarySearch(names, a.key); ok {
				if out.Tensor, err = read(o, a.key); err != nil {
					return err
				}
			}
			// Several tensors may belong to one attribute: "table-keys" of "table".
			for at, _ := slices.BinarySearch(names, a.key+"-"); at < len(names) && strings.HasPrefix(names[at], a.key+"-"); at++ {
				t, err := read(o, names[at])
				if err != nil {
					return err
				}
				out.Parts = append(out.Parts, trackable.AttributePart{Suffix: names[at][len(a.key):], Tensor: t})
			}
			if err := spend(o); err != nil {
				return err
			}
			r.attributes[o.ID] = append(r.attributes[o.ID], out)
		}
	}
	return nil
}

// path returns the path of an object of the file for people.
func (r *restorer) path(id int) string {
	if r.paths == nil {
		r.paths = r.meta.Paths()
	}
	if id == 0 {
		return "(root)"
	}
	if p, ok := r.paths[id]; ok {
		return p
	}
	return fmt.Sprintf("object %d", id)
}

// resolve returns the object of the program for a node of the file.
func (r *restorer) resolve(id int) (trackable.Trackable, error) {
	if obj := r.objects[id]; obj != nil {
		return obj, nil
	}
	if r.loading[id] {
		return nil, fmt.Errorf("savedmodel: restore %s: the object is needed to make itself; its class can publish the object first (LoadSpec.Publish)", r.path(id))
	}
	if err := context.Cause(r.ctx); err != nil {
		return nil, err
	}
	class, err := r.classOf(id)
	if err != nil {
		return nil, err
	}
	if class != nil {
		return r.load(id, class)
	}
	obj, err := r.makeGeneric(r.meta.Objects[id])
	if err != nil {
		return nil, fmt.Errorf("savedmodel: restore %s: %w", r.path(id), err)
	}
	r.objects[id], r.generic[id] = obj, true
	r.queue = append(r.queue, id)
	return obj, nil
}

// makeGeneric makes the object for a node without its edges.
func (r *restorer) makeGeneric(o *Object) (trackable.Trackable, error) {
	switch o.Kind {
	case VariableObject:
		return r.variable(o)
	case AssetObject:
		a := NewAssetFS(r.meta.model.fsys, AssetsDir+"/"+o.Asset.Name)
		a.Name, a.traits = o.Asset.Name, r.ownTraits(o)
		return a, nil
	case FunctionObject:
		f := &TrackableFunction{Traits: r.ownTraits(o), Parameters: o.Function.Parameters}
		for _, c := range o.Function.Concrete {
			t, err := r.trace(c)
			if err != nil {
				return nil, err
			}
			f.traces = append(f.traces, t)
		}
		return f, nil
	case BareFunction:
		t, err := r.trace(o.Function.Concrete[0])
		if err != nil {
			return nil, err
		}
		return &TrackableBareFunction{Concrete: t, Keywords: o.Function.Keywords, Positional: o.Function.Positional, Parameters: o.Function.Parameters, traits: r.ownTraits(o)}, nil
	case ConstantObject:
		n := r.graph.Lookup(o.Constant)
		if n == nil || n.Attrs.Tensor("value") == nil {
			return nil, fmt.Errorf("the graph has no constant %q", o.Constant)
		}
		return &TrackableConstant{Tensor: n.Attrs.Tensor("value"), traits: r.ownTraits(o)}, nil
	case ResourceObject:
		return &TrackableResource{Traits: r.ownTraits(o)}, nil
	case CapturedTensor:
		f := r.graph.Library.Lookup(o.InFunction)
		if f == nil {
			return nil, fmt.Errorf("there is no function %q, of which a tensor is captured", o.InFunction)
		}
		return &TrackableTensor{Name: o.Tensor, Function: f, traits: r.ownTraits(o)}, nil
	}
	if len(o.Slots) > 0 {
		return &TrackableOptimizer{TrackableObject: TrackableObject{Traits: r.ownTraits(o)}}, nil
	}
	return &TrackableObject{Traits: r.ownTraits(o)}, nil
}

// ownTraits returns a copy of an object's traits, which objects of the file share.
func (r *restorer) ownTraits(o *Object) *Traits {
	t := *o.Traits
	t.unknown = r.foreign.objects[o.ID]
	return &t
}

// variable makes a variable with its value.
func (r *restorer) variable(o *Object) (*trackable.Variable, error) {
	t := r.values[o.ID]
	if t == nil {
		v := new(trackable.Variable).Named(o.Variable.Name).SetTrainable(o.Variable.Trainable)
		r.setShape(v, o)
		r.setTraits(v, o)
		r.unfilled = append(r.unfilled, unfilled{v, o.ID})
		return v, nil
	}
	if d := o.Variable.DType; d != tensor.Invalid && d != t.DType() || !o.Variable.Shape.Accepts(t.Shape()) {
		return nil, fmt.Errorf("the variable %q has another value in the checkpoint (got %v%v, want %v%v)", o.Variable.Name, t.DType(), t.Shape(), d, o.Variable.Shape)
	}
	v := trackable.NewVariable(t)
	v.Named(o.Variable.Name).SetTrainable(o.Variable.Trainable)
	r.setShape(v, o)
	r.setTraits(v, o)
	return v, nil
}

// setShape lets a variable take all shapes that the file declares for it.
func (r *restorer) setShape(v *trackable.Variable, o *Object) {
	switch s := o.Variable.Shape; {
	case !s.HasRank():
		v.SetUnranked()
	case !s.Known():
		v.SetShape(s.Dims())
	}
}

// setTraits sets a variable's traits: the file's data besides value, name and
// shape.
func (r *restorer) setTraits(v *trackable.Variable, o *Object) {
	i := o.Variable
	t := trackable.VariableTraits{Device: i.Device, Synchronization: i.Synchronization, Aggregation: i.Aggregation}
	if t.Synchronization == "AUTO" {
		t.Synchronization = ""
	}
	if t.Aggregation == "NONE" {
		t.Aggregation = ""
	}
	if x := o.Traits; x.RegisteredName != "" || x.RegisteredSaver != "" || x.ProtoType != "" || x.Proto != nil || o.Dependencies != nil || r.foreign.objects[o.ID] != nil {
		t.Saved = r.ownTraits(o)
	}
	if t != (trackable.VariableTraits{}) {
		v.SetTraits(&t)
	}
}

// trace returns the trace for an entry of the file; its captures are set at the end.
func (r *restorer) trace(c *ConcreteFunction) (*graph.Concrete, error) {
	if t := r.traces[c]; t != nil {
		return t, nil
	}
	f := r.graph.Library.Lookup(c.Name)
	if f == nil {
		return nil, fmt.Errorf("the graph has no function %q", c.Name)
	}
	if len(f.Args) < len(c.Captures) {
		return nil, fmt.Errorf("the function %q captures %d objects and has %d arguments", c.Name, len(c.Captures), len(f.Args))
	}
	t := &graph.Concrete{Function: f, Call: c.In, Out: c.Out}
	r.traces[c] = t
	r.order = append(r.order, c)
	return t, nil
}

// finish sets the edges of generic objects, assigns values to the objects of
// classes, and binds the captures of functions.
func (r *restorer) finish() error {
	functions, err := r.restoringFunctions()
	if err != nil {
		return err
	}
	for done := 0; ; {
		if err := r.setEdges(); err != nil {
			return err
		}
		if err := r.giveValues(); err != nil {
			return err
		}
		if done == len(r.order) && len(r.queue) == 0 {
			break
		}
		for ; done < len(r.order); done++ {
			if err := r.bindCaptures(r.order[done]); err != nil {
				return err
			}
		}
	}
	if err := r.restoreRegistered(); err != nil {
		return err
	}
	if err := r.restoreByFunction(functions); err != nil {
		return err
	}
	for _, u := range r.unfilled {
		if u.variable.DType() == tensor.Invalid {
			r.result.Unfilled = append(r.result.Unfilled, r.path(u.id))
			r.result.byFunction = r.result.byFunction || r.byFunction[u.id] != nil
		}
	}
	return r.unused()
}

// setEdges sets the edges of generic objects, which may make more objects.
func (r *restorer) setEdges() error {
	for len(r.queue) > 0 {
		id := r.queue[0]
		r.queue = r.queue[1:]
		o := r.meta.Objects[id]
		var err error
		edges := make([]trackable.Edge, 0, len(o.Children))
		for _, e := range o.Children {
			child, err := r.resolve(e.Object.ID)
			if err != nil {
				return err
			}
			edges = append(edges, trackable.Edge{Name: e.Name, Child: child})
		}
		if err := r.setDependencies(o); err != nil {
			return err
		}
		switch obj := r.objects[id].(type) {
		case *TrackableObject, *TrackableOptimizer:
			own := generic(obj)
			own.edges, own.attributes = edges, r.attributes[id]
			if own.saveables, err = r.saveables(o); err != nil {
				return err
			}
			if err := r.slots(obj, o); err != nil {
				return err
			}
		case *TrackableResource:
			obj.edges, obj.attributes = edges, r.attributes[id]
			if obj.saveables, err = r.saveables(o); err != nil {
				return err
			}
		case *TrackableFunction:
			obj.edges = edges
		case *TrackableBareFunction:
			obj.edges = edges
		case *trackable.Variable:
			for _, e := range edges {
				if err := obj.TrackableNode().Attach(e.Name, e.Child); err != nil {
					return fmt.Errorf("savedmodel: restore %s: %w", r.path(id), err)
				}
			}
		}
	}
	return nil
}

// setDependencies sets the dependencies of a generic object. Functions have no
// such list: their dependencies are their captures.
func (r *restorer) setDependencies(o *Object) error {
	traits := traitsOf(r.objects[o.ID])
	if traits == nil || o.Kind == FunctionObject || o.Kind == BareFunction {
		return nil
	}
	for _, e := range o.Dependencies {
		obj, err := r.resolve(e.Object.ID)
		if err != nil {
			return err
		}
		traits.Requires = append(traits.Requires, trackable.Edge{Name: e.Name, Child: obj})
	}
	return nil
}

// slots sets an optimizer's slot variables.
func (r *restorer) slots(obj trackable.Trackable, o *Object) error {
	owner, ok := obj.(*TrackableOptimizer)
	if !ok {
		return nil
	}
	for _, s := range o.Slots {
		if r.led == nil {
			r.led = map[*Object]bool{}
			for _, x := range r.meta.Objects {
				for _, e := range x.Children {
					r.led[e.Object] = true
				}
			}
		}
		if r.led[s.Slot] {
			continue // it is a child of another object, which saves it
		}
		of, err := r.resolve(s.Original.ID)
		if err != nil {
			return err
		}
		slot, err := r.resolve(s.Slot.ID)
		if err != nil {
			return err
		}
		v, ok := of.(trackable.VariableLike)
		w, too := slot.(trackable.VariableLike)
		if !ok || !too {
			return fmt.Errorf("savedmodel: restore %s: its slot %q is of a %T and a %T, want variables", r.path(o.ID), s.Name, of, slot)
		}
		owner.DeclareSlots(s.Name)
		if err := owner.SetSlot(v.AsVariable(), s.Name, w.AsVariable()); err != nil {
			return fmt.Errorf("savedmodel: restore %s: %w", r.path(o.ID), err)
		}
	}
	return nil
}

// saveables returns the functions that save and restore an object's values.
func (r *restorer) saveables(o *Object) (map[string]SaveableFunctions, error) {
	if len(o.Savers) == 0 {
		return nil, nil
	}
	out := make(map[string]SaveableFunctions, len(o.Savers))
	for name, pair := range o.Savers {
		var functions [2]FunctionNode
		for i, f := range []*Object{pair.Save, pair.Restore} {
			obj, err := r.resolve(f.ID)
			if err != nil {
				return nil, err
			}
			node, ok := obj.(FunctionNode)
			if !ok {
				return nil, fmt.Errorf("savedmodel: restore %s: the object that saves or restores %q is no function", r.path(o.ID), name)
			}
			functions[i] = node
		}
		out[name] = SaveableFunctions{functions[0], functions[1]}
	}
	return out, nil
}

// bindCaptures sets the captures of a trace.
func (r *restorer) bindCaptures(c *ConcreteFunction) error {
	t := r.traces[c]
	t.Captures = make([]graph.Capture, 0, len(c.Captures))
	for i, o := range c.Captures {
		if o == nil {
			return fmt.Errorf("savedmodel: restore: capture %d of the function %q is one that TensorFlow could not save", i, c.Name)
		}
		if o.Kind == VariableObject {
			if v := r.bound[o.ID]; v != nil {
				t.Captures = append(t.Captures, graph.Capture{Variable: v})
				continue
			}
		}
		obj, err := r.resolve(o.ID)
		if err != nil {
			return err
		}
		x := graph.Capture{Resource: obj}
		switch obj := obj.(type) {
		case trackable.VariableLike:
			x = graph.Capture{Variable: obj.AsVariable()}
		case *TrackableConstant:
			x.Tensor = obj.Tensor
		}
		t.Captures = append(t.Captures, x)
	}
	return nil
}

// unused lists the variables that no object of the program has.
func (r *restorer) unused() error {
	for _, o := range r.meta.Objects {
		if o.Kind == VariableObject && r.objects[o.ID] == nil && r.bound[o.ID] == nil && r.values[o.ID] != nil {
			r.result.Unused = append(r.result.Unused, r.path(o.ID))
		}
	}
	slices.Sort(r.result.Unused)
	return nil
}
