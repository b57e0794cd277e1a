package savedmodel

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"reflect"
	"slices"

	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/trackable"
)

// Files of later releases of TensorFlow may have fields that this package doesn't know.
// Those of an object are kept with it and written again. Those of other messages are
// kept if the new file has that message too, and named by an error of [Rewrite] otherwise.

// ErrUnknownFields is wrapped by errors about unknown fields of a message that no part of the new file can contain.
var ErrUnknownFields = errors.New("the file has fields that this version of the package doesn't know; a newer version may write them again")

// foreign are the messages of an object graph that have unknown fields.
type foreign struct {
	objects map[int]*pb.SavedObject // by their numbers
	traces  map[string]bool         // entries of functions, by their names
	graph   bool                    // the object graph itself
}

// foreign looks for unknown fields in the object graph.
func (g *MetaGraph) foreign() (*foreign, error) {
	out := &foreign{objects: map[int]*pb.SavedObject{}, traces: map[string]bool{}}
	var p *pb.Parts
	p = p.Over(g.objectDef)
	id := 0
	for p.Next() {
		switch {
		case p.Whole && p.Number == fieldNode:
			b, err := p.Bytes()
			if err != nil {
				return nil, err
			}
			var o pb.SavedObject
			if err := o.Unmarshal(b); err != nil {
				return nil, &FormatError{g.model.File, err}
			}
			if has := hasUnknown(reflect.ValueOf(&o), 0); has || o.Variable != nil && o.Variable.ExperimentalDistributedVariableComponents != nil {
				kept := new(pb.SavedObject)
				if err := kept.Unmarshal(bytes.Clone(b)); err != nil {
					return nil, &FormatError{g.model.File, err}
				}
				out.objects[id] = kept
			}
			id++
		case p.Whole && p.Number == fieldConcrete:
			b, err := p.Bytes()
			if err != nil {
				return nil, err
			}
			var e pb.SavedConcreteFunctionEntry
			if err := e.Unmarshal(b); err != nil {
				return nil, &FormatError{g.model.File, err}
			}
			if hasUnknown(reflect.ValueOf(&e), 0) {
				out.traces[string([]byte(e.Key))] = true
			}
		default:
			out.graph = true
		}
	}
	return out, p.Err
}

// check returns an error for unknown fields outside of objects, because no object can keep them.
func (f *foreign) check() error {
	if f.graph {
		return &SaveError{Path: "the object graph", Err: ErrUnknownFields}
	}
	for _, name := range slices.Sorted(maps.Keys(f.traces)) {
		return &SaveError{Path: fmt.Sprintf("the function %q", name), Err: ErrUnknownFields}
	}
	return nil
}

// checkCheckpoint refuses a checkpoint whose object graph has unknown fields: a save
// makes it anew.
func (m *SavedModel) checkCheckpoint(ctx context.Context) error {
	view, err := m.OpenVariables(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer view.Close()
	if _, ok := view.Reader().Entry(trackable.ObjectGraphKey); !ok {
		return nil
	}
	t, err := view.Reader().Read(ctx, trackable.ObjectGraphKey)
	if err != nil {
		return err
	}
	b := []byte(text(t))
	var p pb.TrackableObjectGraph
	if err := m.checkMemory(&p, b); err != nil {
		return err
	}
	if err := p.Unmarshal(b); err != nil {
		return &FormatError{VariablesPrefix, err}
	}
	if hasUnknown(reflect.ValueOf(&p), 0) {
		return &SaveError{Path: "the checkpoint's object graph", Err: ErrUnknownFields}
	}
	return nil
}

// checkWritten refuses a save that leaves out an object with unknown fields. Saves make
// the tensors anew that gradients capture.
func (r *Restored) checkWritten(s *saver) error {
	for _, id := range slices.Sorted(maps.Keys(r.foreign.objects)) {
		if obj := r.objects[id]; obj != nil {
			if _, ok := s.number(obj); ok {
				continue
			}
		}
		return &SaveError{Path: fmt.Sprintf("object %d", id), Err: ErrUnknownFields}
	}
	return nil
}

// hasUnknown reports whether a message, or one below it, has unknown fields.
func hasUnknown(v reflect.Value, depth int) bool {
	if depth > maxStructure {
		return true
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return false
		}
		switch l := v.Interface().(type) {
		case *pb.Lazy[pb.StructuredValue]:
			m, err := l.Get()
			return err != nil || hasUnknown(reflect.ValueOf(m), depth+1)
		case *pb.Lazy[pb.FunctionSpec]:
			m, err := l.Get()
			return err != nil || hasUnknown(reflect.ValueOf(m), depth+1)
		}
		return hasUnknown(v.Elem(), depth+1)
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			switch {
			case !f.IsExported():
			case f.Name == "Unknown":
				if v.Field(i).Len() > 0 {
					return true
				}
			case hasUnknown(v.Field(i), depth+1):
				return true
			}
		}
	case reflect.Slice:
		if k := v.Type().Elem().Kind(); k != reflect.Pointer && k != reflect.Struct {
			return false
		}
		for i := range v.Len() {
			if hasUnknown(v.Index(i), depth+1) {
				return true
			}
		}
	}
	return false
}

// keepUnknown copies the unknown fields of an object's message in the file to a new one. If the program has removed an edge
// or a function, its unknown fields are dropped.
func keepUnknown(to, from *pb.SavedObject) error {
	if to.Which != from.Which {
		return ErrUnknownFields
	}
	if to.Variable != nil {
		to.Variable.ExperimentalDistributedVariableComponents = from.Variable.ExperimentalDistributedVariableComponents
	}
	return graft(reflect.ValueOf(to).Elem(), reflect.ValueOf(from).Elem(), 0)
}

// graft copies the unknown fields of the message from, and of those below it, to the message to of the same
// type. Their order of bytes stays. ErrUnknownFields means that to lacks a message that has such fields.
func graft(to, from reflect.Value, depth int) error {
	for i := range from.NumField() {
		f := from.Type().Field(i)
		a, b := to.Field(i), from.Field(i)
		switch {
		case !f.IsExported():
		case f.Name == "Unknown":
			a.Set(b)
		case !hasUnknown(b, depth):
		case b.Kind() == reflect.Pointer:
			if a.IsNil() || a.Elem().Kind() != reflect.Struct {
				return ErrUnknownFields
			}
			switch l := b.Interface().(type) {
			case *pb.Lazy[pb.StructuredValue]:
				return ErrUnknownFields
			case *pb.Lazy[pb.FunctionSpec]:
				if err := graftSpec(a.Interface().(*pb.Lazy[pb.FunctionSpec]), l, depth+1); err != nil {
					return err
				}
				continue
			}
			if err := graft(a.Elem(), b.Elem(), depth+1); err != nil {
				return err
			}
		case f.Name == "ExperimentalDistributedVariableComponents": // taken over as they are
		case f.Name == "Dependencies" && b.Len() > a.Len(): // the dependencies of functions are their captures
			return ErrUnknownFields
		case b.Kind() == reflect.Slice:
			if err := graftList(a, b, depth+1); err != nil {
				return err
			}
		default:
			return ErrUnknownFields
		}
	}
	return nil
}

// graftSpec does the same for the parameters of a function.
func graftSpec(to, from *pb.Lazy[pb.FunctionSpec], depth int) error {
	x, err := from.Get()
	if err != nil {
		return err
	}
	m, err := to.Get()
	if err != nil {
		return err
	}
	if err := graft(reflect.ValueOf(m).Elem(), reflect.ValueOf(x).Elem(), depth); err != nil {
		return err
	}
	*to = pb.LazyOf(m)
	return nil
}

// graftList does the same for the elements of lists, which are matched by their names.
func graftList(to, from reflect.Value, depth int) error {
	var places map[string]int // the first elements of to by their names, once needed
	for i := range from.Len() {
		x := from.Index(i)
		if !hasUnknown(x, depth) {
			continue
		}
		name, ok := elementName(x)
		if !ok {
			return ErrUnknownFields
		}
		if places == nil {
			places = make(map[string]int, to.Len())
			for j := range to.Len() {
				other, _ := elementName(to.Index(j))
				if _, again := places[other]; !again {
					places[other] = j
				}
			}
		}
		j, found := places[name]
		if !found && !removable(x) {
			return ErrUnknownFields
		}
		if found {
			if err := graft(to.Index(j).Elem(), x.Elem(), depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// removable reports whether a program may have removed an element of a list: an edge, a signature, a pair of functions. Its
// unknown fields are dropped with it.
func removable(v reflect.Value) bool {
	switch v.Interface().(type) {
	case *pb.ObjectReference, *pb.SaveableObjectEntry, *pb.SignatureDefEntry, *pb.AssetFileDef:
		return true
	}
	return false
}

// elementName returns the name by which an element of a list is known.
func elementName(v reflect.Value) (string, bool) {
	switch x := v.Interface().(type) {
	case *pb.ObjectReference:
		return x.LocalName, true
	case *pb.SaveableObjectEntry:
		return x.Key, true
	case *pb.SignatureDefEntry:
		return x.Key, true
	case *pb.TensorInfoEntry:
		return x.Key, true
	case *pb.AssetFileDef:
		return x.Filename, true
	}
	return "", false
}
