package graph

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/internal/tensorproto"
	"github.com/cairnml/cairn/tensor"
)

// attrs returns the attributes of a call. def, which may be nil, determines the
// kind of empty lists.
func (r *reader) attrs(entries []*pb.AttrValueEntry, def *OpDef, depth int) (Attrs, error) {
	if len(entries) == 0 {
		return nil, nil
	}
	out := newAttrList(len(entries))
	for _, e := range entries {
		a, err := r.attr(e.Key, e.Value, r.listKind(def, e.Key, e.Value), depth)
		if err != nil {
			return nil, fmt.Errorf("attribute %q: %w", e.Key, err)
		}
		out.add(a)
	}
	return out.attrs, nil
}

// attrsOf returns the n attributes of a node, an encoded NodeDef. One message
// is reused for all values. It is kept only if it contains more than the
// attribute does.
func (r *reader) attrsOf(b []byte, n int, def *OpDef) (Attrs, error) {
	if n == 0 {
		return nil, nil
	}
	out := newAttrList(n)
	for f := (pb.Fields{Rest: b}); f.Next(); {
		if f.Number != fieldAttr || f.Bytes == nil {
			continue
		}
		var key string
		var value []byte
		e := pb.Fields{Rest: f.Bytes}
		for e.Next() {
			switch {
			case e.Bytes == nil:
			case e.Number == 1:
				key = e.Text()
			case e.Number == 2 && value == nil:
				value = e.Bytes
			case e.Number == 2: // another part of the same message
				value = append(value[:len(value):len(value)], e.Bytes...)
			}
		}
		if list, ok := shapesOf(value); ok && !e.Bad {
			out.add(Attr{Name: key, Kind: AttrShapes, value: list})
			continue
		}
		if r.value == nil {
			r.value = new(pb.AttrValue)
		}
		v := r.value
		err := v.Unmarshal(value)
		if err == nil && e.Bad {
			err = new(pb.AttrValueEntry).Unmarshal(f.Bytes)
		}
		var a Attr
		if err == nil {
			a, err = r.attr(key, v, r.listKind(def, key, v), 0)
		}
		if err != nil {
			return nil, fmt.Errorf("attribute %q: %w", key, err)
		}
		if a.src != nil {
			r.value = nil
		}
		out.add(a)
	}
	return out.attrs, nil
}

// listKind returns the kind of an attribute in a definition if its value is a
// list.
func (r *reader) listKind(def *OpDef, name string, v *pb.AttrValue) AttrKind {
	if def == nil || v == nil || v.Which != pb.AttrValueList {
		return AttrNone
	}
	return r.kind(def, name)
}

// attrList is attributes, of which the last of a name counts.
type attrList struct {
	attrs Attrs
	at    map[string]int // the index of each, if there are many
}

// newAttrList returns an empty list of which n attributes are to come.
func newAttrList(n int) attrList {
	l := attrList{attrs: make(Attrs, 0, n)}
	if n > 16 {
		l.at = make(map[string]int, n)
	}
	return l
}

// add puts a at the end, or in the place of the one of its name.
func (l *attrList) add(a Attr) {
	i := slices.IndexFunc(l.attrs[:min(len(l.attrs), 16)], func(x Attr) bool { return x.Name == a.Name })
	if l.at != nil {
		var twice bool
		if i, twice = l.at[a.Name]; !twice {
			i = -1
			l.at[a.Name] = len(l.attrs)
		}
	}
	if i >= 0 {
		l.attrs[i] = a
		return
	}
	l.attrs = append(l.attrs, a)
}

// kind returns the kind of an attribute in a definition, or AttrNone if the
// definition doesn't have it.
func (r *reader) kind(def *OpDef, name string) AttrKind {
	if len(def.Attrs) <= 32 {
		if d := def.Attr(name); d != nil {
			return d.Kind
		}
		return AttrNone
	}
	kinds := r.kinds[def]
	if kinds == nil {
		kinds = make(map[string]AttrKind, len(def.Attrs))
		for i := range def.Attrs {
			kinds[def.Attrs[i].Name] = def.Attrs[i].Kind
		}
		if r.kinds == nil {
			r.kinds = map[*OpDef]map[string]AttrKind{}
		}
		r.kinds[def] = kinds
	}
	return kinds[name]
}

// attr returns an attribute. kind is the kind in its definition, AttrNone for
// none.
func (r *reader) attr(name string, v *pb.AttrValue, kind AttrKind, depth int) (Attr, error) {
	if v == nil {
		return Attr{Name: name}, nil
	}
	a := Attr{Name: name}
	if v.Unknown != nil {
		a.src = v
	}
	var err error
	switch v.Which {
	case 0:
		a.src = v
	case pb.AttrValueI:
		a.Kind, a.num = AttrInt, uint64(v.I)
	case pb.AttrValueF:
		a.Kind, a.num = AttrFloat, math.Float64bits(float64(v.F))
		if v.F != v.F {
			a.src = v // the bits of a NaN
		}
	case pb.AttrValueB:
		a.Kind = AttrBool
		if v.B {
			a.num = 1
		}
	case pb.AttrValueS:
		a.Kind, a.str = AttrString, string(v.S)
	case pb.AttrValuePlaceholder:
		a.Kind, a.str = AttrPlaceholder, v.Placeholder
	case pb.AttrValueType:
		a.Kind, a.num = AttrType, uint64(v.Type)
	case pb.AttrValueShape:
		var s PartialShape
		var exact bool
		s, exact, err = readShape(v.Shape)
		a.Kind, a.value = AttrShape, s
		if !exact {
			a.src = v
		}
	case pb.AttrValueTensor:
		var t *tensor.Tensor
		t, err = tensorproto.Decode(v.Tensor, &r.expand)
		a.Kind, a.value, a.src = AttrTensor, t, v
	case pb.AttrValueFunc:
		var c Callee
		c, err = r.callee(v.Func, depth)
		a.Kind, a.value = AttrFunc, c
	case pb.AttrValueList:
		return r.listAttr(a, v, kind, depth)
	}
	return a, err
}

// kindOfList returns the kind of a list in an attribute; kind is that in its
// definition.
func kindOfList(name string, l *pb.AttrValueListValue, kind AttrKind) (AttrKind, error) {
	held, kinds := AttrNone, 0
	for _, k := range []struct {
		kind AttrKind
		n    int
	}{
		{AttrInts, len(l.I)}, {AttrFloats, len(l.F)}, {AttrBools, len(l.B)}, {AttrStrings, len(l.S)},
		{AttrTypes, len(l.Type)}, {AttrShapes, len(l.Shape)}, {AttrTensors, len(l.Tensor)}, {AttrFuncs, len(l.Func)},
	} {
		if k.n > 0 {
			held = k.kind
			kinds++
		}
	}
	switch {
	case kinds > 1:
		return AttrNone, errors.New("it is a list of several kinds")
	case kinds == 0 && kind.IsList():
		held = kind
	case kinds == 0 && (name == "_output_shapes" || name == "_input_shapes"):
		held = AttrShapes
	case kinds == 0 && name == "_class":
		held = AttrStrings
	case kinds == 0:
		held = AttrInts // the kind is unknown
	}
	return held, nil
}

// listAttr returns an attribute that is a list.
func (r *reader) listAttr(a Attr, v *pb.AttrValue, kind AttrKind, depth int) (Attr, error) {
	l := v.List
	if l == nil {
		l = &pb.AttrValueListValue{}
	}
	if l.Unknown != nil {
		a.src = v
	}
	held, err := kindOfList(a.Name, l, kind)
	if err != nil {
		return a, err
	}
	a.Kind = held
	switch held {
	case AttrInts:
		a.value = l.I
	case AttrBools:
		a.value = l.B
	case AttrStrings:
		a.value = stringsOf(l.S)
	case AttrTypes:
		a.value = dtypes(l.Type)
	case AttrFloats:
		out := make([]float64, len(l.F))
		for i, f := range l.F {
			if out[i] = float64(f); f != f {
				a.src = v
			}
		}
		a.value = out
	case AttrShapes:
		out := make([]PartialShape, len(l.Shape))
		for i, s := range l.Shape {
			shape, exact, err := readShape(s)
			if err != nil {
				return a, fmt.Errorf("shape %d: %w", i, err)
			}
			if !exact {
				a.src = v
			}
			out[i] = shape
		}
		a.value = out
	case AttrTensors:
		out := make([]*tensor.Tensor, len(l.Tensor))
		for i, p := range l.Tensor {
			t, err := tensorproto.Decode(p, &r.expand)
			if err != nil {
				return a, fmt.Errorf("tensor %d: %w", i, err)
			}
			out[i] = t
		}
		a.value, a.src = out, v
	case AttrFuncs:
		out := make([]Callee, len(l.Func))
		for i, f := range l.Func {
			c, err := r.callee(f, depth)
			if err != nil {
				return a, fmt.Errorf("function %d: %w", i, err)
			}
			out[i] = c
		}
		a.value = out
	}
	return a, nil
}

// callee returns a function with attributes: that of the library, or one of
// which only the name is known.
func (r *reader) callee(p *pb.NameAttrList, depth int) (Callee, error) {
	if p == nil {
		return Callee{}, nil
	}
	if depth >= maxAttrDepth {
		return Callee{}, fmt.Errorf("functions in attributes of functions are nested more than %d deep", maxAttrDepth)
	}
	c := Callee{Name: p.Name, Function: r.lib.Lookup(p.Name), unknown: p.Unknown}
	var err error
	c.Attrs, err = r.attrs(p.Attr, r.def(p.Name), depth+1)
	return c, err
}

// readShape returns the shape of a message, and whether the message has no
// other content.
func readShape(p *pb.TensorShapeProto) (PartialShape, bool, error) {
	switch {
	case p == nil:
		return ShapeOf(), true, nil
	case p.UnknownRank:
		return UnknownShape, len(p.Dim) == 0 && p.Unknown == nil, nil
	case len(p.Dim) > tensor.MaxRank:
		return UnknownShape, false, fmt.Errorf("a shape of %d dimensions; the most is %d", len(p.Dim), tensor.MaxRank)
	}
	dims, exact := make(tensor.Shape, len(p.Dim)), p.Unknown == nil
	for i, d := range p.Dim {
		if d.Size < -1 || int64(int(d.Size)) != d.Size {
			return UnknownShape, false, fmt.Errorf("dimension %d is %d", i, d.Size)
		}
		dims[i] = int(d.Size)
		exact = exact && d.Name == "" && d.Unknown == nil
	}
	return Whole(dims), exact, nil
}

// shapeProto returns a shape as a message, with -1 for unknown sizes.
func shapeProto(s PartialShape) *pb.TensorShapeProto {
	if !s.known {
		return &pb.TensorShapeProto{UnknownRank: true}
	}
	return tensorproto.EncodeShape(s.dims)
}

// attrs returns attributes as a file has them, sorted by name.
func (w *writer) attrs(as Attrs) ([]*pb.AttrValueEntry, error) {
	if len(as) == 0 {
		return nil, nil
	}
	entries := make([]pb.AttrValueEntry, len(as))
	out := make([]*pb.AttrValueEntry, len(as))
	for i := range as {
		v, err := w.attr(&as[i])
		if err != nil {
			return nil, fmt.Errorf("attribute %q: %w", as[i].Name, err)
		}
		entries[i] = pb.AttrValueEntry{Key: as[i].Name, Value: v}
		out[i] = &entries[i]
	}
	pb.SortEntries(out)
	return out, nil
}

// attr returns an attribute as a file has it.
func (w *writer) attr(a *Attr) (*pb.AttrValue, error) {
	if a.src != nil && a.Kind != AttrFunc && a.Kind != AttrFuncs {
		return a.src, nil
	}
	v := &pb.AttrValue{}
	var err error
	switch a.Kind {
	case AttrNone:
	case AttrInt:
		v.Which, v.I = pb.AttrValueI, int64(a.num)
	case AttrFloat:
		v.Which, v.F = pb.AttrValueF, float32(math.Float64frombits(a.num))
	case AttrBool:
		v.Which, v.B = pb.AttrValueB, a.num != 0
	case AttrString:
		v.Which, v.S = pb.AttrValueS, []byte(a.str)
		if c, ok := a.value.(Callee); ok {
			v.S = []byte(w.lib.nameOf(c))
		}
	case AttrPlaceholder:
		v.Which, v.Placeholder = pb.AttrValuePlaceholder, a.str
	case AttrType:
		v.Which, v.Type = pb.AttrValueType, pb.DataType(a.num)
	case AttrShape:
		v.Which, v.Shape = pb.AttrValueShape, shapeProto(a.value.(PartialShape))
	case AttrTensor:
		v.Which = pb.AttrValueTensor
		v.Tensor, err = encodeTensor(a.value.(*tensor.Tensor))
	case AttrFunc:
		v.Which = pb.AttrValueFunc
		v.Func, err = w.callee(a.value.(Callee))
	default:
		v.Which = pb.AttrValueList
		v.List, err = w.list(a)
	}
	if a.src != nil {
		v.Unknown = a.src.Unknown
	}
	return v, err
}

func encodeTensor(t *tensor.Tensor) (*pb.TensorProto, error) {
	if t == nil {
		return nil, errors.New("its tensor is nil")
	}
	return tensorproto.Encode(t)
}

func (w *writer) list(a *Attr) (*pb.AttrValueListValue, error) {
	l := &pb.AttrValueListValue{}
	switch list := a.value.(type) {
	case []int64:
		l.I = list
	case []bool:
		l.B = list
	case []float64:
		for _, f := range list {
			l.F = append(l.F, float32(f))
		}
	case []string:
		for _, s := range list {
			l.S = append(l.S, []byte(s))
		}
	case []tensor.DType:
		for _, d := range list {
			l.Type = append(l.Type, pb.DataType(d))
		}
	case []PartialShape:
		for _, s := range list {
			l.Shape = append(l.Shape, shapeProto(s))
		}
	case []*tensor.Tensor:
		for i, t := range list {
			p, err := encodeTensor(t)
			if err != nil {
				return nil, fmt.Errorf("tensor %d: %w", i, err)
			}
			l.Tensor = append(l.Tensor, p)
		}
	case []Callee:
		for _, c := range list {
			p, err := w.callee(c)
			if err != nil {
				return nil, err
			}
			l.Func = append(l.Func, p)
		}
		if a.src != nil && a.src.List != nil {
			l.Unknown = a.src.List.Unknown
		}
	}
	return l, nil
}

func (w *writer) callee(c Callee) (*pb.NameAttrList, error) {
	p := &pb.NameAttrList{Name: w.lib.nameOf(c), Unknown: c.unknown}
	var err error
	if p.Attr, err = w.attrs(c.Attrs); err != nil {
		return nil, fmt.Errorf("function %q: %w", p.Name, err)
	}
	return p, nil
}
