package graph

import (
	"errors"
	"fmt"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/cairnml/cairn/internal/pb"
)

// library makes the functions of a file, first all of them without bodies,
// because functions may refer to each other and to themselves. Unless only is
// nil, functions that the names in it don't reach are left out.
func (r *reader) library(p *library, only []string) (*Library, error) {
	r.lib = &Library{}
	defs, err := r.functionDefs(p, only)
	if err != nil {
		return nil, err
	}
	r.calls = make(map[*Function]*OpDef, len(defs))
	for _, def := range defs {
		if def.Signature == nil || def.Signature.Name == "" {
			return nil, &FunctionDefError{Err: errors.New("it has no name")}
		}
		fn := NewFunction(def.Signature.Name)
		fn.Graph.Library = r.lib
		if LookupOp(fn.Name) != nil {
			return nil, &FunctionDefError{fn.Name, errors.New("an op has the same name")}
		}
		if err := r.lib.Add(fn); err != nil {
			return nil, &FunctionDefError{fn.Name, errTwice}
		}
		sig, err := opDefFromProto(def.Signature)
		if err != nil {
			return nil, &FunctionDefError{fn.Name, err}
		}
		r.calls[fn] = sig
	}
	for i, fn := range r.lib.Functions() {
		if err := r.function(fn, defs[i]); err != nil {
			var node *NodeDefError
			if errors.As(err, &node) {
				return nil, err
			}
			return nil, &FunctionDefError{fn.Name, err}
		}
		defs[i] = nil // its memory may go
	}
	named := func(name string) Callee { return Callee{Function: r.lib.Lookup(name), Name: name} }
	for _, g := range p.Gradient {
		r.lib.Gradients = append(r.lib.Gradients, FunctionGradient{named(g.FunctionName), named(g.GradientFunc), g.Unknown})
	}
	for _, g := range p.RegisteredGradients {
		r.lib.Registered = append(r.lib.Registered, RegisteredGradient{Type: g.RegisteredOpType, Gradient: named(g.GradientFunc), unknown: g.Unknown})
	}
	return r.lib, nil
}

var errTwice = errors.New("there are two functions of this name")

// functionDef is a function of a file, whose nodes are encoded.
type functionDef struct {
	*pb.FunctionDef
	nodes [][]byte
}

// library is a library of a file, whose functions are encoded.
type library struct {
	pb.FunctionDefLibrary // without functions
	functions             []pb.Source
	names                 []string // of the functions
}

// Numbers of the fields of a FunctionDefLibrary, a FunctionDef and its signature.
const (
	fieldFunction      = 1
	fieldSignature     = 1
	fieldFunctionNodes = 3
)

// readLibrary finds the functions of an encoded library; it reads their names.
func (r *reader) readLibrary(from pb.Source) (*library, error) {
	l := &library{}
	rest, err := from.Split(func(p *pb.Parts) error {
		if err := r.need(maxFunction); err != nil {
			return err
		}
		name, err := functionName(p)
		l.functions, l.names = append(l.functions, p.Part), append(l.names, string(name))
		return err
	}, fieldFunction)
	if err != nil {
		return nil, err
	}
	b, err := rest.Read()
	if err != nil {
		return nil, err
	}
	return l, l.Unmarshal(b)
}

// maxFunction is the approximate memory, in bytes, of a function that isn't
// read.
const maxFunction = 128

// libraryOf returns the library of a message.
func libraryOf(p *pb.FunctionDefLibrary) *library {
	l := &library{FunctionDefLibrary: *p}
	l.Function = nil
	for i := range p.Function {
		b := p.Function[i].Encoded()
		l.functions, l.names = append(l.functions, pb.InMemory(b)), append(l.names, pb.StringAt(b, fieldSignature, fieldName))
	}
	return l
}

// functionName returns the name of the encoded function at p. All known writers
// put it at the beginning. It is valid until p's next step.
func functionName(p *pb.Parts) ([]byte, error) { return nameAt(p, fieldSignature, fieldName) }

// nameAt follows the fields of path into the message that p is at, and returns the string
// there. In most files each of these fields is the first of its message, so that a few bytes
// are enough. The result is valid until p's next step.
func nameAt(p *pb.Parts, path ...protowire.Number) ([]byte, error) {
	const most = 512
	b, err := p.Head(most)
	if err != nil {
		return nil, err
	}
	whole := true
	for _, number := range path {
		b, whole = firstField(b, number)
	}
	if b != nil && whole {
		return b, nil
	}
	b, err = p.Part.Read()
	return []byte(pb.StringAt(b, path...)), err
}

// firstField returns the value of a message's first field if that has the
// number and a length. The value is cut off at the end of b; whole reports
// whether it isn't.
func firstField(b []byte, number protowire.Number) (value []byte, whole bool) {
	got, typ, n := protowire.ConsumeTag(b)
	if n < 0 || got != number || typ != protowire.BytesType {
		return nil, false
	}
	size, m := protowire.ConsumeVarint(b[n:])
	if m < 0 {
		return nil, false
	}
	b = b[n+m:]
	if size > uint64(len(b)) {
		return b, false
	}
	return b[:size], true
}

// functionDefs decodes the functions of a library, in its order: all of them, or those
// that are reached from the names that only holds.
func (r *reader) functionDefs(p *library, only []string) ([]*functionDef, error) {
	all := make([]*functionDef, len(p.functions))
	decode := func(i int) error {
		fail := func(err error) error { return &FunctionDefError{p.names[i], err} }
		b, err := p.functions[i].Read()
		if err != nil {
			return fail(err)
		}
		def := &functionDef{FunctionDef: new(pb.FunctionDef)}
		if err := r.count(def.FunctionDef, b); err != nil {
			return fail(err)
		}
		if def.nodes, err = pb.UnmarshalBut(def.FunctionDef, b, fieldFunctionNodes); err != nil {
			return fail(err)
		}
		if s := def.Signature; s != nil && s.Name != p.names[i] {
			return fail(fmt.Errorf("it has a second name, %q", s.Name))
		}
		all[i] = def
		return nil
	}
	if only == nil {
		for i := range all {
			if err := decode(i); err != nil {
				return nil, err
			}
		}
		return all, nil
	}
	places := make(map[string]int, len(all))
	for i, name := range p.names {
		if _, twice := places[name]; twice {
			return nil, &FunctionDefError{name, errTwice}
		}
		places[name] = i
	}
	links := gradientLinks(&p.FunctionDefLibrary)
	todo := only
	reach := func(name string) { todo = append(todo, name) }
	for ; len(todo) > 0; todo = todo[1:] {
		name := todo[0]
		i, ok := places[name]
		if !ok || all[i] != nil {
			continue
		}
		if err := decode(i); err != nil {
			return nil, err
		}
		links.ofAttrs(all[i].Attr, reach)
		links.ofNodes(all[i].nodes, reach)
		if gradient, ok := links.functions[name]; ok {
			reach(gradient)
		}
	}
	reached := all[:0]
	for _, def := range all {
		if def != nil {
			reached = append(reached, def)
		}
	}
	return reached, nil
}

// needed returns the nodes of these names and the nodes that they depend on,
// directly or through others, by data or control inputs. It returns all nodes
// if names is nil.
func needed(nodes [][]byte, names []string) [][]byte {
	if names == nil {
		return nodes
	}
	at := make(map[string]int, len(nodes))
	for i, n := range nodes {
		at[pb.StringAt(n, fieldName)] = i
	}
	seen := make([]bool, len(nodes))
	var out [][]byte
	reach := func(name string) {
		if i, ok := at[name]; ok && !seen[i] {
			seen[i] = true
			out = append(out, nodes[i])
		}
	}
	for _, name := range names {
		reach(name)
	}
	for i := 0; i < len(out); i++ {
		for f := (pb.Fields{Rest: out[i]}); f.Next(); {
			if f.Number == fieldInput && f.Bytes != nil {
				name, _, _ := strings.Cut(strings.TrimPrefix(f.Text(), "^"), ":")
				reach(name)
			}
		}
	}
	return out
}

// links lead from names in a file to functions of its library.
type links struct {
	functions  map[string]string // the gradients of functions
	registered map[string]string // the gradients that nodes name by their type
}

func gradientLinks(p *pb.FunctionDefLibrary) links {
	l := links{map[string]string{}, map[string]string{}}
	for _, g := range p.Gradient {
		l.functions[g.FunctionName] = g.GradientFunc
	}
	for _, g := range p.RegisteredGradients {
		l.registered[g.RegisteredOpType] = g.GradientFunc
	}
	return l
}

// ofNodes calls tell with every name in the nodes that may be a function's.
func (l links) ofNodes(nodes [][]byte, tell func(name string)) {
	for _, n := range nodes {
		for f := (pb.Fields{Rest: n}); f.Next(); {
			switch {
			case f.Bytes == nil:
			case f.Number == fieldOp:
				tell(f.Text())
			case f.Number == fieldAttr:
				l.ofEntry(f.Bytes, 0, tell)
			}
		}
	}
}

// ofEntry calls tell with the names in an attribute, an encoded AttrValueEntry.
func (l links) ofEntry(b []byte, depth int, tell func(name string)) {
	key := pb.StringAt(b, 1)
	for f := (pb.Fields{Rest: b}); f.Next(); {
		if f.Number != 2 || f.Bytes == nil { // the value; 1 is the key
			continue
		}
		for v := (pb.Fields{Rest: f.Bytes}); v.Next(); {
			switch {
			case v.Bytes == nil:
			case v.Number == protowire.Number(pb.AttrValueS) && key == gradientType:
				if f, ok := l.registered[v.Text()]; ok {
					tell(f)
				}
			case v.Number == protowire.Number(pb.AttrValueFunc):
				l.ofCallee(v.Bytes, depth, tell)
			case v.Number == protowire.Number(pb.AttrValueList):
				for e := (pb.Fields{Rest: v.Bytes}); e.Next(); {
					if e.Number == 9 && e.Bytes != nil { // the functions of a list
						l.ofCallee(e.Bytes, depth, tell)
					}
				}
			}
		}
	}
}

// ofCallee calls tell with the names in an encoded NameAttrList. It skips
// deeper nesting than attributes may have; the reader of the attribute refuses
// that.
func (l links) ofCallee(b []byte, depth int, tell func(name string)) {
	if depth > maxAttrDepth {
		return
	}
	for f := (pb.Fields{Rest: b}); f.Next(); {
		switch {
		case f.Bytes == nil:
		case f.Number == 1:
			tell(f.Text())
		case f.Number == 2:
			l.ofEntry(f.Bytes, depth+1, tell)
		}
	}
}

func (l links) ofAttrs(attrs []*pb.AttrValueEntry, tell func(name string)) {
	for _, e := range attrs {
		v := e.Value
		if v == nil {
			continue
		}
		if e.Key == gradientType {
			if f, ok := l.registered[string(v.S)]; ok {
				tell(f)
			}
		}
		if f := v.Func; f != nil {
			tell(f.Name)
			l.ofAttrs(f.Attr, tell)
		}
		if v.List == nil {
			continue
		}
		for _, f := range v.List.Func {
			tell(f.Name)
			l.ofAttrs(f.Attr, tell)
		}
	}
}
