package shape_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/tensor"
)

// TestRulesTakeAnything asks every rule about inputs of any number, type, shape
// and value: it may refuse them, but not fall over.
func TestRulesTakeAnything(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	all := shape.All()
	for _, op := range all.Ops() {
		for range 300 {
			c := &shape.Inference{Op: op, In: make([]graph.Fact, r.IntN(6)), Out: make([]graph.Fact, r.IntN(4))}
			for i := range c.In {
				c.In[i] = anyFact(r)
			}
			if d := graph.LookupOp(op); d != nil {
				for i := range d.Attrs {
					if a, ok := anyAttr(r, d.Attrs[i].Name, d.Attrs[i].Kind); ok {
						c.Attrs = append(c.Attrs, a)
					}
				}
			}
			if err := all.Infer(c); err != nil && strings.Contains(err.Error(), "the shape rule of") {
				t.Errorf("%v\n%v %v", err, c.In, c.Attrs.Describe())
				break
			}
			for _, f := range c.Out {
				for _, d := range f.Shape.Dims() {
					if d == -1 {
						t.Errorf("%s: an unknown size has no identity: %v of %v %v", op, f, c.In, c.Attrs.Describe())
					}
				}
			}
		}
	}
}

func anyInt(r *rand.Rand) int64 {
	if r.IntN(4) > 0 {
		return int64(r.IntN(8) - 2)
	}
	return []int64{math.MinInt64, math.MaxInt64, math.MinInt32, math.MaxInt32, 1 << 40}[r.IntN(5)]
}

func anyShape(r *rand.Rand) graph.PartialShape {
	if r.IntN(5) == 0 {
		return graph.UnknownShape
	}
	dims := make([]int, r.IntN(6))
	for i := range dims {
		switch r.IntN(6) {
		case 0:
			dims[i] = graph.NewDim()
		case 1:
			dims[i] = math.MaxInt32
		default:
			dims[i] = r.IntN(5)
		}
	}
	return graph.ShapeOf(dims...)
}

func anyFact(r *rand.Rand) graph.Fact {
	switch r.IntN(6) {
	case 0:
		return graph.FactOf(tensor.Scalar(anyInt(r)))
	case 1:
		return graph.FactOf(tensor.Scalar(int32(anyInt(r))))
	case 2:
		v := make([]int32, r.IntN(6))
		for i := range v {
			v[i] = int32(anyInt(r))
		}
		return graph.FactOf(tensor.Vector(v...))
	case 3:
		e := make([]graph.Elem, r.IntN(5))
		for i := range e {
			switch r.IntN(3) {
			case 0:
				e[i] = graph.UnknownElem()
			case 1:
				e[i] = graph.SizeElem(graph.NewDim())
			default:
				e[i] = graph.ElemOf(anyInt(r))
			}
		}
		return graph.Fact{DType: tensor.Int64, Shape: graph.ShapeOf(len(e))}.WithElems(e)
	case 4:
		f := graph.Fact{DType: tensor.Resource, Shape: graph.ShapeOf()}
		for range r.IntN(3) {
			f.Handle = append(f.Handle, graph.Content{DType: tensor.Float32, Shape: anyShape(r)})
		}
		return f
	}
	return graph.Fact{DType: []tensor.DType{tensor.Float32, tensor.Int32, tensor.Invalid, tensor.String}[r.IntN(4)], Shape: anyShape(r)}
}

func anyAttr(r *rand.Rand, name string, kind graph.AttrKind) (graph.Attr, bool) {
	switch kind {
	case graph.AttrInt:
		return graph.Int(name, anyInt(r)), true
	case graph.AttrBool:
		return graph.Bool(name, r.IntN(2) == 0), true
	case graph.AttrType:
		return graph.Type(name, tensor.DType(r.IntN(24))), true
	case graph.AttrShape:
		return graph.Shape(name, anyShape(r)), true
	case graph.AttrShapes:
		return graph.Shapes(name, anyShape(r), anyShape(r)), true
	case graph.AttrInts:
		v := make([]int64, r.IntN(11))
		for i := range v {
			v[i] = anyInt(r)
		}
		return graph.Ints(name, v...), true
	case graph.AttrString:
		return graph.String(name, []string{"SAME", "VALID", "EXPLICIT", "NHWC", "NCHW", "N", "NDHWC", "ij,jk->ik", "...,->...", "REFLECT"}[r.IntN(10)]), true
	}
	return graph.Attr{}, false
}
