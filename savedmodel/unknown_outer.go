package savedmodel

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/cairnml/cairn/internal/pb"
)

// keepOuter copies to a new model's file the unknown fields that the MetaGraph
// has outside of its objects, such as those of signatures, tensors'
// descriptions and assets. It is an error if the new file has no place for
// them. That is so for those of nodes of the main graph, since it is made anew.
// A program that edits the model may have removed functions.
func (g *MetaGraph) keepOuter(to *pb.SavedModel, edited bool) error {
	to.Unknown = g.model.unknown
	meta, def := to.MetaGraphs[0], new(pb.GraphDef)
	had, err := g.unknownInGraph(def, edited)
	if err != nil {
		return err
	}
	if !hasUnknown(reflect.ValueOf(g.proto), 0) && len(had) == 0 {
		return nil
	}
	from := *g.proto
	if info := from.MetaInfoDef; info != nil && hasUnknown(reflect.ValueOf(info.StrippedOpList), 0) {
		return outerError("OpDef")
	}
	if hasUnknown(reflect.ValueOf(from.CollectionDef), 0) {
		return outerError("CollectionDef")
	}
	if err := graft(reflect.ValueOf(meta).Elem(), reflect.ValueOf(&from).Elem(), 0); err != nil {
		return err
	}
	made, err := meta.GraphDef.Get()
	if err != nil {
		return err
	}
	if err := graft(reflect.ValueOf(made).Elem(), reflect.ValueOf(def).Elem(), 0); err != nil {
		return err
	}
	has := unknownFields{}
	for _, n := range made.Node {
		has.node(n)
	}
	has.message(reflect.ValueOf(&pb.GraphDef{Versions: made.Versions, DebugInfo: made.DebugInfo, Unknown: made.Unknown}), 0)
	if l := made.Library; l != nil {
		has.message(reflect.ValueOf(&pb.FunctionDefLibrary{Gradient: l.Gradient, RegisteredGradients: l.RegisteredGradients, Unknown: l.Unknown}), 0)
		for i := range l.Function {
			f, err := l.Function[i].Get()
			if err != nil {
				return err
			}
			has.function(f)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(had)) {
		if has[key] < had[key] {
			return outerError(key)
		}
	}
	return nil
}

// outerError returns the error for unknown fields that keepOuter can't keep. message is the type of the
// message, and the fields' bytes.
func outerError(message string) error {
	return &SaveError{Path: fmt.Sprintf("the graph's messages of type %.60q", message), Err: ErrUnknownFields}
}

// Numbers of fields of a GraphDef and of its library.
const (
	fieldGraphNode    = 1
	fieldGraphLibrary = 2
	fieldLibFunction  = 1
)

// unknownInGraph counts the unknown fields of the MetaGraph's graph. All of the graph but
// its nodes and functions is returned in def.
func (g *MetaGraph) unknownInGraph(def *pb.GraphDef, edited bool) (unknownFields, error) {
	had := unknownFields{}
	libraries := []pb.Source{}
	rest, err := g.graphDef.Split(func(p *pb.Parts) error {
		if p.Number == fieldGraphLibrary {
			libraries = append(libraries, p.Part)
			return nil
		}
		var n pb.NodeDef
		b, err := p.Bytes()
		if err == nil {
			err = n.Unmarshal(b)
		}
		had.node(&n)
		return err
	}, fieldGraphNode, fieldGraphLibrary)
	if err != nil {
		return nil, err
	}
	if err := decode(rest, def); err != nil {
		return nil, err
	}
	if len(libraries) > 0 {
		library, err := pb.Join(libraries)
		if err != nil {
			return nil, err
		}
		rest, err := library.Split(func(p *pb.Parts) error {
			if edited {
				return nil
			}
			var f pb.FunctionDef
			b, err := p.Bytes()
			if err == nil {
				err = f.Unmarshal(b)
			}
			had.function(&f)
			return err
		}, fieldLibFunction)
		if err != nil {
			return nil, err
		}
		var l pb.FunctionDefLibrary
		if err := decode(rest, &l); err != nil {
			return nil, err
		}
		had.message(reflect.ValueOf(&l), 0)
		if l.Unknown != nil { // its other fields are made from the functions
			def.Library = &pb.FunctionDefLibrary{Unknown: l.Unknown}
		}
	}
	had.message(reflect.ValueOf(&pb.GraphDef{Versions: def.Versions, DebugInfo: def.DebugInfo, Unknown: def.Unknown}), 0)
	return had, nil
}

func decode(s pb.Source, m pb.Message) error {
	b, err := s.Read()
	if err != nil {
		return err
	}
	return m.Unmarshal(b)
}

// unknownFields counts unknown fields by the types of their messages and their bytes.
type unknownFields map[string]int

// node counts those of a node. Nodes are many, and nearly none has any.
func (u unknownFields) node(n *pb.NodeDef) {
	u.note("NodeDef", n.Unknown)
	if n.ExperimentalDebugInfo != nil {
		u.message(reflect.ValueOf(n.ExperimentalDebugInfo), 0)
	}
	if n.ExperimentalType != nil {
		u.message(reflect.ValueOf(n.ExperimentalType), 0)
	}
	u.attrs(n.Attr)
}

func (u unknownFields) attrs(list []*pb.AttrValueEntry) {
	for _, e := range list {
		a := e.Value
		if a == nil {
			continue
		}
		if a.Unknown != nil || a.List != nil || a.Shape != nil || a.Tensor != nil || a.Func != nil {
			u.message(reflect.ValueOf(a), 0)
		}
	}
}

// function counts those of a function.
func (u unknownFields) function(f *pb.FunctionDef) {
	for _, n := range f.NodeDef {
		u.node(n)
	}
	u.attrs(f.Attr)
	rest := *f
	rest.NodeDef, rest.Attr = nil, nil
	u.message(reflect.ValueOf(&rest), 0)
}

func (u unknownFields) note(message string, b []byte) {
	if len(b) > 0 {
		u[message+" "+string(b)]++
	}
}

// message counts those of a message and of all below it.
func (u unknownFields) message(v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() && depth <= maxStructure {
			u.message(v.Elem(), depth+1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			switch f := v.Type().Field(i); {
			case !f.IsExported():
			case f.Name == "Unknown":
				u.note(v.Type().Name(), v.Field(i).Bytes())
			default:
				u.message(v.Field(i), depth)
			}
		}
	case reflect.Slice:
		if k := v.Type().Elem().Kind(); k == reflect.Pointer || k == reflect.Struct {
			for i := range v.Len() {
				u.message(v.Index(i), depth)
			}
		}
	}
}
