package savedmodel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/collect"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// saver is one save of a model. The object graph is walked once, and the walk
// of the checkpoint reuses the results, so that both files have the same graph.
type saver struct {
	ctx  context.Context
	opts *SaveOptions
	root trackable.Trackable

	walk      *trackable.Graph
	edges     map[any][]trackable.Edge // by identity, as the walk has listed them
	constants map[*tensor.Tensor]*TrackableConstant
	handles   map[any]int // nodes by the resources that functions capture
	savers    *checkpoint.Savers
	slots     map[any][]trackable.Edge // of optimizers, by identity

	classes  *Classes
	packages []string
	context  *SaveContext
	specs    map[any]*savedSpec // of objects of a class, by identity

	signatures *signatureMap
	wrappers   []signatureWrapper
	assets     []savedAsset

	registered *registeredValues
	saved      *checkpoint.Checkpoint // of the saved graph; see saver.checkpoint

	// nodes are those of the walk, and after them objects to which no edge leads:
	// functions that save and restore others, values that gradients capture.
	nodes []trackable.GraphNode
	extra map[any]int // their numbers, by identity

	lib      *graph.Library
	concrete map[*graph.Function]*graph.Concrete // the traces with an entry in concrete_functions
	order    []*graph.Concrete                   // in the order in which they were met
	where    map[*graph.Concrete]string          // the path of the first node of each

	model *pb.SavedModel
	more  []extraFile // files to copy besides assets
}

// savedSpec is the data that a class saves for an object.
type savedSpec struct {
	*SaveSpec
	class *class
}

// signaturesEdge leads from the root to the signatures.
const signaturesEdge = "signatures"

// signatureMap is the node that lists the functions of the signatures.
type signatureMap struct{ edges []trackable.Edge }

// TrackableChildren returns the functions by the names of their signatures.
func (m *signatureMap) TrackableChildren() []trackable.Edge { return m.edges }

func (m *signatureMap) SavedTraits() *Traits {
	return &Traits{Identifier: "signature_map", Version: 1, MinConsumer: 1}
}

func newSaver(ctx context.Context, root trackable.Trackable, z *Serializer, opts *SaveOptions) (*saver, error) {
	s := &saver{
		ctx: ctx, opts: opts, root: root, savers: opts.Savers,
		edges: map[any][]trackable.Edge{}, constants: map[*tensor.Tensor]*TrackableConstant{}, handles: map[any]int{},
		classes: z.classes(), packages: z.packages(), context: &SaveContext{ctx: ctx, opts: opts, cache: map[any]any{}}, specs: map[any]*savedSpec{}, extra: map[any]int{},
		concrete: map[*graph.Function]*graph.Concrete{}, where: map[*graph.Concrete]string{}, slots: map[any][]trackable.Edge{},
	}
	if s.savers == nil {
		s.savers = checkpoint.DefaultSavers
	}
	internals.Settle(ctx)
	collect.Grown()
	if err := s.walkObjects(); err != nil {
		return nil, err
	}
	collect.Grown()
	if err := s.collectFunctions(); err != nil {
		return nil, err
	}
	collect.Grown()
	return s, s.encode()
}

// walkObjects visits the objects and the signatures.
func (s *saver) walkObjects() error {
	if err := s.findSlots(); err != nil {
		return err
	}
	signatures, err := s.makeSignatures()
	if err != nil {
		return err
	}
	options := &trackable.WalkOptions{HasSlots: keepsSlots, Children: s.children}
	if signatures != nil {
		options.Extra = []trackable.Edge{{Name: signaturesEdge, Child: signatures}}
	}
	if s.walk, err = trackable.Walk(s.root, options); err != nil {
		return &SaveError{Err: err}
	}
	if len(options.Extra) > 0 { // the checkpoint's walk asks for the root's edges too
		key := trackable.Identity(s.root)
		s.edges[key] = append(slices.Clip(s.edges[key]), options.Extra...)
	}
	s.nodes = slices.Clone(s.walk.Nodes)
	if err := s.findRegistered(); err != nil {
		return err
	}
	for id := 0; id < len(s.nodes); id++ { // which may grow
		all := s.saveablesOf(s.nodes[id].Object)
		for _, name := range sortedKeys(all) {
			for _, f := range []FunctionNode{all[name].Save, all[name].Restore} {
				if err := s.addNode(f); err != nil {
					return s.fail(id, err)
				}
			}
		}
	}
	for id := range s.nodes {
		if r, ok := s.nodes[id].Object.(ResourceNode); ok {
			if h := r.CapturedResource(); h != nil {
				s.handles[h] = id
			}
		}
	}
	return nil
}

// addNode adds an object to which no edge leads, with the objects that it
// reaches.
func (s *saver) addNode(obj trackable.Trackable) error {
	if obj == nil {
		return errors.New("one of the functions that save and restore it is missing")
	}
	if _, ok := s.number(obj); ok {
		return nil
	}
	id := len(s.nodes)
	s.extra[trackable.Identity(obj)] = id
	s.nodes = append(s.nodes, trackable.GraphNode{Object: obj})
	edges, err := s.children(obj)
	if err != nil {
		return err
	}
	for _, e := range edges {
		if err := s.addNode(e.Child); err != nil {
			return err
		}
		child, _ := s.number(e.Child)
		s.nodes[id].Edges = append(s.nodes[id].Edges, trackable.Ref{Name: e.Name, ID: child})
	}
	return nil
}

// number returns the number of an object's node.
func (s *saver) number(obj trackable.Trackable) (int, bool) {
	if id, ok := s.walk.ID(obj); ok {
		return id, true
	}
	if obj == nil {
		return 0, false
	}
	id, ok := s.extra[trackable.Identity(obj)]
	return id, ok
}

// children lists the edges of an object: those of the program, then the constants that
// a function captures.
func (s *saver) children(obj trackable.Trackable) ([]trackable.Edge, error) {
	key := trackable.Identity(obj)
	if edges, ok := s.edges[key]; ok {
		return edges, nil
	}
	edges, err := s.list(obj)
	if err != nil {
		return nil, err
	}
	s.edges[key] = edges
	return edges, nil
}

// list makes the list of edges that children keeps.
func (s *saver) list(obj trackable.Trackable) ([]trackable.Edge, error) {
	switch f := obj.(type) {
	case *graph.Concrete:
		return s.captureEdges(nil, nil, f), nil
	case *TrackableBareFunction:
		return s.captureEdges(slices.Clone(f.edges), nil, f.Concrete), nil
	case *TrackableConstant, *TrackableTensor, *TrackableAsset:
		return nil, nil
	case FunctionNode:
		var edges []trackable.Edge
		if p, ok := obj.(trackable.SavedModelParent); ok {
			edges = slices.Clone(p.SavedModelChildren())
		}
		// A loaded function may have its traces as children, which hold their constants.
		held := map[trackable.Trackable]bool{}
		for _, e := range edges {
			if t, ok := e.Child.(*TrackableBareFunction); ok {
				for _, x := range t.edges {
					held[x.Child] = true
				}
			}
		}
		for _, c := range f.Traces() {
			edges = s.captureEdges(edges, held, c)
		}
		return edges, nil
	}
	edges, err := s.ownEdges(obj)
	if err != nil {
		return nil, err
	}
	if err := s.traceSigned(edges); err != nil {
		return nil, err
	}
	edges = slices.DeleteFunc(slices.Clone(edges), s.untraced)
	if obj == s.root {
		if i := slices.IndexFunc(edges, func(e trackable.Edge) bool { return e.Name == signaturesEdge }); i >= 0 {
			if !isSignatureMap(edges[i].Child) {
				return nil, fmt.Errorf("the root's edge %q is reserved for the signatures of the model; rename the field with a tag `cairn:\"name\"`", signaturesEdge)
			}
			edges = slices.Delete(edges, i, i+1)
		}
	}
	return append(edges, s.slots[trackable.Identity(obj)]...), nil
}

// Children returns the edges of an object that no class describes, as a save lists them:
// functions, constants and assets are the ends of edges.
func Children(obj trackable.Trackable) ([]trackable.Edge, error) {
	if isEnd(obj) {
		return nil, nil
	}
	return trackable.SavedModelChildren(obj)
}

// isEnd reports whether an object has no edges, whatever its fields hold.
func isEnd(obj trackable.Trackable) bool {
	switch obj.(type) {
	case *graph.Concrete, *TrackableBareFunction, *TrackableConstant, *TrackableTensor, *TrackableAsset:
		return true
	case trackable.SavedModelParent:
		return false
	case FunctionNode:
		return true
	}
	return false
}

// ownEdges returns the edges that an object's class lists, or the object's
// edges.
func (s *saver) ownEdges(obj trackable.Trackable) ([]trackable.Edge, error) {
	if isEnd(obj) {
		return nil, nil
	}
	x := s.classes.of(obj, s.packages)
	if x == nil {
		return trackable.SavedModelChildren(obj)
	}
	key := trackable.Identity(obj)
	if have := s.specs[key]; have != nil {
		return have.Children, nil
	}
	spec, err := x.specOf(s.context, obj)
	if err != nil {
		return nil, err
	}
	s.specs[key] = &savedSpec{spec, x}
	return spec.Children, nil
}

// isSignatureMap reports whether an object is the signatures of a loaded model.
func isSignatureMap(obj trackable.Trackable) bool {
	t, ok := obj.(TraitsHolder)
	return ok && t.SavedTraits() != nil && t.SavedTraits().Identifier == "signature_map"
}

// traceSigned traces the functions that have a signature and no trace.
func (s *saver) traceSigned(edges []trackable.Edge) error {
	for _, e := range edges {
		if f, ok := e.Child.(SignatureTracer); ok && len(f.Traces()) == 0 {
			if err := f.TraceSignature(s.ctx); err != nil {
				return fmt.Errorf("function %q: %w", e.Name, err)
			}
		}
	}
	return nil
}

// untraced reports whether an edge leads to a function without a trace, which has nothing
// to save.
func (s *saver) untraced(e trackable.Edge) bool {
	f, ok := e.Child.(FunctionNode)
	if _, loaded := e.Child.(*TrackableFunction); loaded {
		return false // the file has it without a trace
	}
	if !ok || len(f.Traces()) > 0 {
		return false
	}
	s.log(Saved{Path: e.Name, Kind: FunctionObject, Name: fmt.Sprint(e.Child), Note: "not saved: the function was never traced; call Trace before the save"})
	return true
}

func (s *saver) log(line Saved) {
	if s.opts.Log != nil {
		s.opts.Log(line)
	}
}

// captureEdges adds edges to the constants that a trace captures and no edge leads to
// yet. Other objects have edges to those in held.
func (s *saver) captureEdges(edges []trackable.Edge, held map[trackable.Trackable]bool, c *graph.Concrete) []trackable.Edge {
	for _, x := range c.Captures {
		var child trackable.Trackable
		switch r := x.Resource.(type) {
		case nil:
			if x.Tensor == nil || x.Variable != nil {
				continue
			}
			child = s.constant(x.Tensor)
		case *TrackableConstant:
			child = r
		default:
			continue
		}
		if !held[child] && !slices.ContainsFunc(edges, func(e trackable.Edge) bool { return e.Child == child }) {
			edges = append(edges, trackable.Edge{Name: "capture_" + strconv.Itoa(len(edges)), Child: child})
		}
	}
	return edges
}

// constant returns the node of a captured tensor.
func (s *saver) constant(t *tensor.Tensor) *TrackableConstant {
	c := s.constants[t]
	if c == nil {
		c = &TrackableConstant{Tensor: t}
		s.constants[t] = c
	}
	return c
}

// findSlots makes edges to the slot variables of optimizers. TensorFlow takes slot
// variables only from classes that its own optimizers registered; as children of their
// optimizer they load everywhere.
func (s *saver) findSlots() error {
	g, err := trackable.Walk(s.root, &trackable.WalkOptions{Children: s.ownEdges})
	if err != nil {
		return &SaveError{Err: err}
	}
	for id := range g.Nodes {
		n := &g.Nodes[id]
		if keepsSlots(n.Object) {
			continue
		}
		for _, slot := range n.Slots {
			key := trackable.Identity(n.Object)
			name := slot.Name + "/" + g.Human(slot.Variable)
			s.slots[key] = append(s.slots[key], trackable.Edge{Name: name, Child: g.Nodes[slot.ID].Object})
		}
	}
	return nil
}

// keepsSlots reports whether an object's slot variables are saved as slots: the file that
// it comes from has it so, and its class there.
func keepsSlots(obj trackable.Trackable) bool {
	_, ok := obj.(*TrackableOptimizer)
	return ok
}

// kindOf returns the kind of node that an object becomes.
func kindOf(obj trackable.Trackable) Kind {
	switch obj.(type) {
	case trackable.VariableLike:
		return VariableObject
	case *graph.Concrete, *TrackableBareFunction:
		return BareFunction
	case FunctionNode:
		return FunctionObject
	case *TrackableAsset:
		return AssetObject
	case *TrackableConstant:
		return ConstantObject
	case *TrackableTensor:
		return CapturedTensor
	case ResourceNode:
		return ResourceObject
	}
	return UserObject
}

// identifierOf returns the identifier of a user object that has no traits.
func identifierOf(obj trackable.Trackable) string {
	switch t := reflect.TypeOf(obj).Elem(); t.Kind() {
	case reflect.Slice, reflect.Array:
		return "trackable_list_wrapper"
	case reflect.Map:
		return "trackable_dict_wrapper"
	}
	switch obj.(type) { // trackable.Map and trackable.List
	case interface {
		TellsOfChildren()
		Keys() []string
	}:
		return "trackable_dict_wrapper"
	case interface {
		TellsOfChildren()
		Len() int
	}:
		return "trackable_list_wrapper"
	}
	return "_generic_user_object"
}

// node returns the message of a node of the walk.
func (s *saver) node(id int) (*pb.SavedObject, error) {
	n := &s.nodes[id]
	o := &pb.SavedObject{}
	for _, e := range n.Edges {
		o.Children = append(o.Children, &pb.ObjectReference{NodeId: int32(e.ID), LocalName: e.Name})
	}
	for _, slot := range n.Slots {
		o.SlotVariables = append(o.SlotVariables, &pb.SlotVariableReference{OriginalVariableNodeId: int32(slot.Variable), SlotName: slot.Name, SlotVariableNodeId: int32(slot.ID)})
	}
	if err := s.describe(o, n, id); err != nil {
		return nil, err
	}
	if err := s.saveables(o, s.saveablesOf(n.Object)); err != nil {
		return nil, err
	}
	if spec := s.specs[trackable.Identity(n.Object)]; spec != nil {
		if spec.Proto != nil || spec.ProtoType != "" {
			o.SerializedUserProto = &pb.Any{TypeUrl: spec.ProtoType, Value: spec.Proto}
		}
		if spec.class.registered || o.Which != pb.SavedObjectUserObject { // such kinds have no identifier
			o.RegisteredName = spec.class.id
		}
		return o, s.dependencies(o, spec.Dependencies)
	}
	traits := traitsOf(n.Object)
	if traits == nil {
		return o, nil
	}
	o.RegisteredName, o.RegisteredSaver = traits.RegisteredName, traits.RegisteredSaver
	if traits.ProtoType != "" || traits.Proto != nil {
		o.SerializedUserProto = &pb.Any{TypeUrl: traits.ProtoType, Value: traits.Proto}
	}
	if err := s.dependencies(o, traits.Requires); err != nil || traits.unknown == nil {
		return o, err
	}
	return o, keepUnknown(o, traits.unknown)
}

// traitsOf returns the traits that are written for an object besides its kind
// and its edges; nil if there are none.
func traitsOf(obj trackable.Trackable) *Traits {
	switch x := obj.(type) {
	case trackable.VariableLike:
		if t := x.AsVariable().Traits(); t != nil {
			saved, _ := t.Saved.(*Traits)
			return saved
		}
	case TraitsHolder:
		return x.SavedTraits()
	}
	return nil
}

// saveables adds the functions that save and restore an object.
func (s *saver) saveables(o *pb.SavedObject, all map[string]SaveableFunctions) error {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		pair := all[name]
		save, ok := s.number(pair.Save)
		restore, too := s.number(pair.Restore)
		if !ok || !too {
			return fmt.Errorf("the functions that save and restore its %q are no children of an object that the root reaches", name)
		}
		o.SaveableObjects = append(o.SaveableObjects, &pb.SaveableObjectEntry{Key: name,
			Value: &pb.SaveableObject{SaveFunction: int32(save), RestoreFunction: int32(restore)}})
	}
	return nil
}

// describe fills in the fields that depend on the node's kind.
func (s *saver) describe(o *pb.SavedObject, n *trackable.GraphNode, id int) error {
	switch kindOf(n.Object) {
	case VariableObject:
		return s.describeVariable(o, n)
	case AssetObject:
		i, err := s.asset(n.Object.(*TrackableAsset), id)
		o.Which, o.Asset = pb.SavedObjectAsset, &pb.SavedAsset{AssetFileDefIndex: int32(i)}
		return err
	case FunctionObject:
		return s.describeFunction(o, n.Object.(FunctionNode))
	case BareFunction:
		return s.describeBare(o, n.Object)
	case ConstantObject:
		o.Which, o.Constant = pb.SavedObjectConstant, &pb.SavedConstant{} // buildMain sets its name
	case CapturedTensor:
		t := n.Object.(*TrackableTensor)
		o.Which, o.CapturedTensor = pb.SavedObjectCapturedTensor, &pb.CapturedTensor{Name: t.Name, ConcreteFunction: s.lib.NameOf(t.Function)}
	case ResourceObject:
		o.Which, o.Resource = pb.SavedObjectResource, &pb.SavedResource{Device: n.Object.(ResourceNode).ResourceDevice()}
	default:
		u := &pb.SavedUserObject{Identifier: identifierOf(n.Object), Version: &pb.VersionDef{Producer: 1, MinConsumer: 1}}
		if t, ok := n.Object.(TraitsHolder); ok && t.SavedTraits() != nil {
			traits := t.SavedTraits()
			u.Identifier, u.Metadata = traits.Identifier, traits.Metadata
			u.Version = &pb.VersionDef{Producer: int32(traits.Version), MinConsumer: int32(traits.MinConsumer), BadConsumers: numbers(traits.BadConsumers)}
		}
		if spec := s.specs[trackable.Identity(n.Object)]; spec != nil {
			x := spec.class
			u.Identifier, u.Metadata = x.id, string(spec.Metadata)
			u.Version = &pb.VersionDef{Producer: int32(x.version), MinConsumer: int32(x.min), BadConsumers: numbers(x.bad)}
		}
		o.Which, o.UserObject = pb.SavedObjectUserObject, u
	}
	return nil
}

func numbers(list []int) []int32 {
	var out []int32
	for _, n := range list {
		out = append(out, int32(n))
	}
	return out
}

func (s *saver) describeVariable(o *pb.SavedObject, n *trackable.GraphNode) error {
	v := n.Variable()
	if v.DType() == tensor.Invalid {
		return errors.New("the variable has no value; call Init before the save")
	}
	x := &pb.SavedVariable{}
	t := v.Traits()
	if t == nil {
		t = new(trackable.VariableTraits)
	}
	x.Dtype, x.Shape, x.Trainable, x.Name = pb.DataType(v.DType()), graphInternals.ShapeProto(partialShape(v)), v.Trainable(), n.FullName
	x.Device = ""
	if s.opts.Devices {
		x.Device = t.Device
	}
	var ok bool
	if x.Synchronization, ok = synchronizations[t.Synchronization]; !ok {
		return fmt.Errorf("the variable's synchronization is unknown (got %q, want AUTO, NONE, ON_WRITE or ON_READ)", t.Synchronization)
	}
	if x.Aggregation, ok = aggregations[t.Aggregation]; !ok {
		return fmt.Errorf("the variable's aggregation is unknown (got %q, want NONE, SUM, MEAN or ONLY_FIRST_REPLICA)", t.Aggregation)
	}
	o.Which, o.Variable = pb.SavedObjectVariable, x
	return nil
}

var (
	synchronizations = map[string]pb.VariableSynchronization{"": 0, "AUTO": 0, "NONE": 1, "ON_WRITE": 2, "ON_READ": 3}
	aggregations     = map[string]pb.VariableAggregation{"": 0, "NONE": 0, "SUM": 1, "MEAN": 2, "ONLY_FIRST_REPLICA": 3}
)

// human returns an object's path for people.
func (s *saver) human(id int) string {
	if id < len(s.walk.Nodes) {
		return s.walk.Human(id)
	}
	return fmt.Sprintf("(object %d, %v)", id, kindOf(s.nodes[id].Object))
}

// fail returns the error of a node.
func (s *saver) fail(id int, err error) error {
	var known *SaveError
	var capture *UntrackedCaptureError
	if errors.As(err, &known) || errors.As(err, &capture) {
		return err
	}
	return &SaveError{Path: s.human(id), Err: err}
}

// compareNumbered orders names that end in a number by the number.
func compareNumbered(a, b string) int {
	x, y := suffix(a), suffix(b)
	return cmp.Or(cmp.Compare(x, y), strings.Compare(a, b))
}

// suffix returns the number after the last "_" of a name, -1 if there is none.
func suffix(name string) int64 {
	n, err := strconv.ParseInt(name[strings.LastIndexByte(name, '_')+1:], 10, 64)
	if err != nil || n < 0 || !strings.Contains(name, "_") {
		return -1
	}
	return n
}
