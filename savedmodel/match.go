package savedmodel

import (
	"slices"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// accepts reports whether the trace takes the arguments, and gives its tensors
// in order. Where convert is set, values that aren't tensors are made tensors
// where tensors are wanted.
func (c *ConcreteFunction) accepts(args []any, kwargs map[string]any, convert bool) ([]engine.Value, bool) {
	m := matcher{convert: convert}
	if len(args) != len(c.Args) {
		return nil, false
	}
	for i, want := range c.Args {
		if !m.match(want, args[i], 0) {
			return nil, false
		}
	}
	if !m.matchDict(c.Kwargs, kwargs, 0) {
		return nil, false
	}
	return m.in, true
}

// matcher collects the tensors of arguments while it compares them with what a
// trace takes.
type matcher struct {
	convert bool
	in      []engine.Value
}

func (m *matcher) match(want, got any, depth int) bool {
	if depth > maxStructure {
		return false
	}
	switch w := want.(type) {
	case *TensorSpec:
		return m.matchTensor(w, got)
	case *TypeSpec:
		return m.matchComposite(w, got)
	case List:
		g, ok := listOf(got)
		return ok && m.matchAll(w, g, depth)
	case Tuple:
		g, ok := got.(Tuple)
		return ok && m.matchAll(w, g, depth)
	case *NamedTuple:
		switch g := got.(type) {
		case *NamedTuple:
			return slices.Equal(w.Keys, g.Keys) && m.matchAll(w.Values, g.Values, depth)
		case map[string]any:
			if len(g) != len(w.Keys) {
				return false
			}
			for i, k := range w.Keys {
				v, ok := g[k]
				if !ok || !m.match(w.Values[i], v, depth+1) {
					return false
				}
			}
			return true
		}
		return false
	case map[string]any:
		g, ok := got.(map[string]any)
		return ok && m.matchDict(w, g, depth)
	case *tensor.Tensor:
		g, ok := got.(*tensor.Tensor)
		return ok && (g == w || g != nil && g.Equal(w))
	}
	return samePython(want, got)
}

func listOf(v any) ([]any, bool) {
	switch v := v.(type) {
	case List:
		return v, true
	case []any:
		return v, true
	}
	return nil, false
}

func (m *matcher) matchAll(want, got []any, depth int) bool {
	if len(want) != len(got) {
		return false
	}
	for i, w := range want {
		if !m.match(w, got[i], depth+1) {
			return false
		}
	}
	return true
}

func (m *matcher) matchDict(want, got map[string]any, depth int) bool {
	if len(want) != len(got) {
		return false
	}
	for _, k := range sortedKeys(want) {
		v, ok := got[k]
		if !ok || !m.match(want[k], v, depth+1) {
			return false
		}
	}
	return true
}

func (m *matcher) matchTensor(want *TensorSpec, got any) bool {
	if spec, isSpec := got.(*TensorSpec); isSpec {
		if spec == nil || spec.DType != want.DType || !covers(want.Shape, spec.Shape) {
			return false
		}
		m.in = append(m.in, engine.Value{})
		return true
	}
	t, ok := got.(*tensor.Tensor)
	if v, isVariable := got.(*trackable.Variable); isVariable {
		if want.DType == tensor.Resource {
			m.in = append(m.in, engine.HandleOf(v))
			return true
		}
		t, ok = v.Load(), true
	}
	if !ok && m.convert {
		t, ok = toTensor(got, want.DType)
	}
	if !ok || t == nil || t.DType() != want.DType || !want.Shape.Accepts(t.Shape()) {
		return false
	}
	m.in = append(m.in, engine.ValueOf(t))
	return true
}

// covers reports whether all tensors of one shape have another, too.
func covers(shape, of graph.PartialShape) bool {
	if !shape.HasRank() {
		return true
	}
	if !of.HasRank() || of.Rank() != shape.Rank() {
		return false
	}
	for i, d := range shape.Dims() {
		if graph.KnownDim(d) && d != of.Dim(i) {
			return false
		}
	}
	return true
}

// matchComposite takes the tensors of a composite, and of a variable its
// handle.
func (m *matcher) matchComposite(want *TypeSpec, got any) bool {
	if v, ok := got.(*trackable.Variable); ok && want.class == pb.TypeSpecProtoTypeSpecClassVariableSpec {
		m.in = append(m.in, engine.HandleOf(v))
		return true
	}
	c, ok := got.(Composite)
	if !ok || want.Tensors >= 0 && len(c) != want.Tensors {
		return false
	}
	if d := want.element(); d != tensor.Invalid {
		at := 0
		if want.class == pb.TypeSpecProtoTypeSpecClassSparseTensorSpec {
			at = 1
		}
		if at >= len(c) || c[at] == nil || c[at].DType() != d {
			return false
		}
	}
	for _, t := range c {
		if t == nil {
			return false
		}
		m.in = append(m.in, engine.ValueOf(t))
	}
	return true
}

// element returns the element type of a sparse or ragged tensor or of slices;
// invalid for other classes.
func (s *TypeSpec) element() tensor.DType {
	state, _ := s.State.(Tuple)
	switch s.class {
	case pb.TypeSpecProtoTypeSpecClassSparseTensorSpec, pb.TypeSpecProtoTypeSpecClassRaggedTensorSpec, pb.TypeSpecProtoTypeSpecClassIndexedSlicesSpec:
		if len(state) > 1 {
			d, _ := state[1].(tensor.DType)
			return d
		}
	}
	return tensor.Invalid
}

// samePython reports whether two values are equal as Python has it: True is 1,
// and 2 is 2.0.
func samePython(a, b any) bool {
	if x, ok := number(a); ok {
		y, ok := number(b)
		return ok && x == y
	}
	switch a := a.(type) {
	case nil:
		return b == nil
	case string:
		s, ok := b.(string)
		return ok && s == a
	case tensor.DType:
		d, ok := b.(tensor.DType)
		return ok && d == a
	}
	return Format(a) == Format(b)
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	case int:
		return float64(v), true
	case int32:
		return float64(v), true
	case int64:
		return float64(v), true
	case float32:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// toTensor makes a tensor of a number, a string, or lists of them that are all
// as long.
func toTensor(v any, d tensor.DType) (*tensor.Tensor, bool) {
	var c collector
	if !c.collect(v, 0) {
		return nil, false
	}
	switch {
	case d == tensor.String:
		if len(c.strings) != c.n {
			return nil, false
		}
		t, err := tensor.FromStrings(tensor.String, c.strings, c.shape...)
		return t, err == nil
	case len(c.numbers) != c.n || c.floats && isInteger(d) || c.bools != (d == tensor.Bool) && c.n > 0:
		return nil, false
	}
	t, err := tensor.New(c.numbers, c.shape...)
	if err != nil {
		return nil, false
	}
	t, err = tensor.Cast(t, d)
	return t, err == nil
}

func isInteger(d tensor.DType) bool {
	switch d {
	case tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64, tensor.Uint8, tensor.Uint16, tensor.Uint32, tensor.Uint64:
		return true
	}
	return false
}

// collector flattens nested lists.
type collector struct {
	shape         []int
	ranked        bool
	n             int
	numbers       []float64
	strings       []string
	floats, bools bool
}

func (c *collector) collect(v any, depth int) bool {
	list, isList := listOf(v)
	if t, ok := v.(Tuple); ok {
		list, isList = t, true
	}
	if isList {
		switch {
		case depth > maxStructure || c.ranked && depth >= len(c.shape):
			return false
		case !c.ranked:
			c.shape = append(c.shape, len(list))
			if len(list) == 0 {
				c.ranked = true
			}
		case c.shape[depth] != len(list):
			return false
		}
		for _, x := range list {
			if !c.collect(x, depth+1) {
				return false
			}
		}
		return true
	}
	if c.ranked && depth != len(c.shape) {
		return false
	}
	c.ranked = true
	c.n++
	if s, ok := v.(string); ok {
		c.strings = append(c.strings, s)
		return true
	}
	x, ok := number(v)
	if !ok {
		return false
	}
	switch v.(type) {
	case bool:
		c.bools = true
	case float32, float64:
		c.floats = true
	}
	c.numbers = append(c.numbers, x)
	return true
}
