package savedmodel

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/tensor"
)

// The object graph is read field by field from its encoded message: decoded
// messages would take several times the memory of the objects. Only inner
// messages of more than a few numbers are decoded whole, one at a time. Objects
// must not refer to the message's bytes: the file is read piece by piece, and
// each piece overwrites the one before.

// Numbers of the fields of a SavedObjectGraph.
const (
	fieldNode     = 1
	fieldConcrete = 2
)

// Numbers of the fields of a SavedObject besides those of its kinds, which are the
// values of pb.SavedObjectWhich.
const (
	fieldChild           = 1
	fieldSlot            = 3
	fieldSaveable        = 11
	fieldRegisteredName  = 13
	fieldUserProto       = 14
	fieldDependency      = 15
	fieldRegisteredSaver = 16
)

// errDecode reports that a message can't be decoded. readObjects, which reads
// the whole graph, finds the place.
var errDecode = errors.New("it can't be decoded")

// readObjects makes the objects and joins them.
func (g *MetaGraph) readObjects() error {
	err := g.readObjectGraph(g.objectDef)
	if errors.Is(err, errDecode) {
		b, err := g.objectDef.Read()
		if err != nil {
			return err
		}
		if where := new(pb.SavedObjectGraph).Unmarshal(b); where != nil {
			return where
		}
	}
	return err
}

func (g *MetaGraph) readObjectGraph(from pb.Source) error {
	nodes, concretes := 0, 0
	var p *pb.Parts
	// each does something with all messages of these numbers, which are good until it returns.
	each := func(do func(number protowire.Number, b []byte) error, numbers ...protowire.Number) error {
		p = p.Over(from)
		for p.Next() {
			if !p.Whole || !slices.Contains(numbers, p.Number) {
				continue
			}
			b, err := p.Bytes()
			if err == nil {
				err = do(p.Number, b)
			}
			if err != nil {
				return err
			}
		}
		if p.Err == pb.ErrFields {
			return errDecode
		}
		return p.Err
	}
	need, most := int64(0), g.model.limit(from.Len())
	count := func(number protowire.Number, b []byte) error {
		n, m := &nodes, pb.Message(new(pb.SavedObject))
		if number == fieldConcrete {
			n, m = &concretes, new(pb.SavedConcreteFunctionEntry)
		}
		*n++
		if most == 0 {
			return nil
		}
		if need += maxMessage + pb.Memory(m, b); need > most {
			return &LimitError{g.model.File, need, most}
		}
		return nil
	}
	if err := each(count, fieldNode, fieldConcrete); err != nil {
		return err
	}
	room := make([]Object, nodes)
	nothing := &Details{Traits: new(Traits)}
	g.Objects = make([]*Object, nodes)
	for i := range room {
		room[i].ID, room[i].Details = i, nothing
		g.Objects[i] = &room[i]
	}
	g.concretes = make(map[string]*ConcreteFunction, concretes)
	r := objectReader{MetaGraph: g, structures: map[string]*graph.Structure{}, specs: map[string]*Parameters{},
		details: map[user]*Details{}, users: map[string]user{}, names: map[string]string{}}
	r.spareFunctions = make([]ConcreteFunction, concretes)
	if err := each(func(_ protowire.Number, b []byte) error { return r.concrete(b) }, fieldConcrete); err != nil {
		return err
	}
	id := 0
	return each(func(_ protowire.Number, b []byte) error {
		if err := r.read(&room[id], b); err != nil {
			return fmt.Errorf("object %d: %w", id, err)
		}
		id++
		return nil
	}, fieldNode)
}

// objectReader makes the objects of a MetaGraph. A model of a thousand layers has a
// handful of structures and parameters, written thousands of times: each is read once.
type objectReader struct {
	*MetaGraph
	structures     map[string]*graph.Structure // by their encoded messages
	specs          map[string]*Parameters      // likewise
	details        map[user]*Details           // of objects that have no other traits; see shared
	users          map[string]user             // by their encoded messages
	currentTraits  Traits                      // of the object that is read
	currentDetails Details                     // likewise
	names          map[string]string           // the copies of strings, by themselves
	spareFunctions []ConcreteFunction          // for those still to come
}

// name returns a copy of s. Equal strings share one copy, because the file's
// memory is reused.
func (r *objectReader) name(s string) string {
	own, ok := r.names[s]
	if !ok {
		own = strings.Clone(s)
		r.names[own] = own
	}
	return own
}

// joined returns the merge of two encodings of one field: two encoded messages,
// one after the other, decode as the merged message.
func joined(before, more []byte) []byte {
	if before == nil {
		return more
	}
	return append(before[:len(before):len(before)], more...)
}

// read sets an object's fields from its encoded message.
func (r *objectReader) read(o *Object, b []byte) error {
	r.currentTraits = Traits{}
	r.currentDetails = Details{Traits: &r.currentTraits}
	o.Details = &r.currentDetails
	err := r.fill(o, b)
	o.Details = r.shared(r.currentDetails.Dependencies, &r.currentTraits)
	return err
}

func (r *objectReader) fill(o *Object, b []byte) error {
	var counts [fieldRegisteredSaver + 1]int
	f := pb.Fields{Rest: b}
	for f.Next() {
		if f.Bytes != nil && int(f.Number) < len(counts) {
			counts[f.Number]++
		}
	}
	if f.Bad {
		return errDecode
	}
	o.Children, o.Dependencies = makeEdges(counts[fieldChild]), makeEdges(counts[fieldDependency])
	var kind protowire.Number
	var of, user []byte // the message of the object's kind, and the user's message
	for f = (pb.Fields{Rest: b}); f.Next(); {
		if f.Bytes == nil {
			continue
		}
		var err error
		switch f.Number {
		case fieldChild:
			o.Children, err = r.edge(o.Children, f.Bytes)
		case fieldDependency:
			o.Dependencies, err = r.edge(o.Dependencies, f.Bytes)
		case fieldSlot:
			err = r.slot(o, f.Bytes)
		case fieldSaveable:
			err = r.saver(o, f.Bytes)
		case fieldRegisteredName:
			o.RegisteredName = r.name(f.Text())
		case fieldRegisteredSaver:
			o.RegisteredSaver = r.name(f.Text())
		case fieldUserProto:
			user = joined(user, f.Bytes)
		case 4, 5, 6, 7, 8, 9, 10, 12: // the oneof kind: as in protobuf, the last kind counts, and messages of one kind merge
			if f.Number != kind {
				kind, of = f.Number, nil
			}
			of = joined(of, f.Bytes)
		}
		if err != nil {
			return err
		}
	}
	if user != nil {
		var p pb.Any
		if err := p.Unmarshal(user); err != nil {
			return errDecode
		}
		o.ProtoType, o.Proto = r.name(p.TypeUrl), bytes.Clone(p.Value)
	}
	return r.kind(o, pb.SavedObjectWhich(kind), of)
}

// makeEdges returns a list with room for n edges; nil for none.
func makeEdges(n int) []Edge {
	if n == 0 {
		return nil
	}
	return make([]Edge, 0, n)
}

// object returns the object with that number.
func (g *MetaGraph) object(id int32) (*Object, error) {
	if id < 0 || int(id) >= len(g.Objects) {
		return nil, fmt.Errorf("there is no object %d", id)
	}
	return g.Objects[id], nil
}

// edge adds the edge that an ObjectReference is.
func (r *objectReader) edge(edges []Edge, b []byte) ([]Edge, error) {
	var id int32
	var e Edge
	f := pb.Fields{Rest: b}
	for f.Next() {
		switch {
		case f.Number == 1 && f.Bytes == nil:
			id = int32(f.Varint)
		case f.Number == 2 && f.Bytes != nil:
			e.Name = r.name(f.Text())
		}
	}
	if f.Bad {
		return nil, errDecode
	}
	var err error
	if e.Object, err = r.object(id); err != nil {
		return nil, fmt.Errorf("edge %q: %w", e.Name, err)
	}
	return append(edges, e), nil
}

// slot adds the slot that a SlotVariableReference is.
func (r *objectReader) slot(o *Object, b []byte) error {
	var p pb.SlotVariableReference
	if err := p.Unmarshal(b); err != nil {
		return errDecode
	}
	original, err := r.object(p.OriginalVariableNodeId)
	if err != nil {
		return fmt.Errorf("slot %q: %w", p.SlotName, err)
	}
	slot, err := r.object(p.SlotVariableNodeId)
	if err != nil {
		return fmt.Errorf("slot %q: %w", p.SlotName, err)
	}
	o.Slots = append(o.Slots, Slot{r.name(p.SlotName), original, slot})
	return nil
}

// saver adds the functions that an entry of saveable_objects names.
func (r *objectReader) saver(o *Object, b []byte) error {
	var e pb.SaveableObjectEntry
	if err := e.Unmarshal(b); err != nil {
		return errDecode
	}
	save, err := r.object(e.Value.SaveFunction)
	if err != nil {
		return fmt.Errorf("saver %q: %w", e.Key, err)
	}
	restore, err := r.object(e.Value.RestoreFunction)
	if err != nil {
		return fmt.Errorf("saver %q: %w", e.Key, err)
	}
	if o.Savers == nil {
		o.Savers = map[string]Saver{}
	}
	o.Savers[r.name(e.Key)] = Saver{save, restore}
	return nil
}

// kind sets the fields that only objects of a kind have.
func (r *objectReader) kind(o *Object, kind pb.SavedObjectWhich, b []byte) error {
	switch kind {
	case pb.SavedObjectUserObject:
		known, ok := r.users[string(b)]
		if ok {
			o.Kind, o.Identifier, o.Metadata, o.Version, o.MinConsumer = UserObject, known.identifier, known.metadata, known.version, known.minConsumer
			return nil
		}
		var u pb.SavedUserObject
		if u.Unmarshal(b) != nil {
			return errDecode
		}
		if u.Version == nil || len(u.Version.BadConsumers) == 0 {
			defer func() { r.users[string(b)] = user{o.Identifier, o.Metadata, o.Version, o.MinConsumer} }()
		}
		o.Kind, o.Identifier, o.Metadata = UserObject, r.name(u.Identifier), r.name(u.Metadata)
		if v := u.Version; v != nil {
			o.Version, o.MinConsumer = int(v.Producer), int(v.MinConsumer)
			for _, n := range v.BadConsumers {
				o.BadConsumers = append(o.BadConsumers, int(n))
			}
		}
	case pb.SavedObjectAsset:
		var a pb.SavedAsset
		if a.Unmarshal(b) != nil {
			return errDecode
		}
		i := int(a.AssetFileDefIndex)
		if i < 0 || i >= len(r.Assets) {
			return fmt.Errorf("there is no asset %d", i)
		}
		o.Kind, o.Asset = AssetObject, &r.Assets[i]
	case pb.SavedObjectFunction:
		o.Kind = FunctionObject
		return r.function(o, b)
	case pb.SavedObjectBareConcreteFunction:
		o.Kind = BareFunction
		return r.bareFunction(o, b)
	case pb.SavedObjectVariable:
		var p pb.SavedVariable
		if p.Unmarshal(b) != nil {
			return errDecode
		}
		o.Kind = VariableObject
		var err error
		o.Variable, err = r.variableInfo(&p, 0)
		return err
	case pb.SavedObjectConstant:
		var c pb.SavedConstant
		if c.Unmarshal(b) != nil {
			return errDecode
		}
		o.Kind, o.Constant = ConstantObject, r.name(c.Operation)
	case pb.SavedObjectResource:
		var c pb.SavedResource
		if c.Unmarshal(b) != nil {
			return errDecode
		}
		o.Kind, o.Device = ResourceObject, r.name(c.Device)
	case pb.SavedObjectCapturedTensor:
		var c pb.CapturedTensor
		if c.Unmarshal(b) != nil {
			return errDecode
		}
		o.Kind, o.Tensor, o.InFunction = CapturedTensor, r.name(c.Name), r.name(c.ConcreteFunction)
	}
	return nil
}

// variableInfo describes a variable. depth counts the parts of distributed variables around it, of which
// TensorFlow writes one level.
func (r *objectReader) variableInfo(p *pb.SavedVariable, depth int) (*VariableInfo, error) {
	if depth > 4 {
		return nil, errors.New("the parts of a distributed variable have parts without end")
	}
	v := &VariableInfo{
		Name: strings.Clone(p.Name), DType: tensor.DType(p.Dtype), Trainable: p.Trainable, Device: r.name(p.Device),
		Synchronization: strings.TrimPrefix(p.Synchronization.String(), "VARIABLE_SYNCHRONIZATION_"),
		Aggregation:     strings.TrimPrefix(p.Aggregation.String(), "VARIABLE_AGGREGATION_"),
	}
	var err error
	if v.Shape, err = shapeOf(p.Shape); err != nil {
		return nil, err
	}
	for _, c := range p.ExperimentalDistributedVariableComponents {
		part, err := r.variableInfo(c, depth+1)
		if err != nil {
			return nil, err
		}
		v.Components = append(v.Components, part)
	}
	return v, nil
}
