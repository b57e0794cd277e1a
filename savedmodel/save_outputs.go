package savedmodel

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/tensor"
)

// signatureOutput is an output of a signature: a tensor, or a composite, such as a
// sparse or a ragged tensor, that several results of the function make up.
type signatureOutput struct {
	name         string
	structure    *graph.Structure // nil: a tensor of which nothing else is known
	first, count int              // the function's results
}

// outputsOf returns a trace's results as outputs of a signature, in the order of the
// results.
func outputsOf(c *graph.Concrete) ([]signatureOutput, error) {
	var list []signatureOutput
	next := 0
	add := func(name string, s *graph.Structure) error {
		n := 1
		if s != nil {
			switch s.Kind {
			case graph.NoneStructure:
				return nil
			case graph.TensorStructure:
			case graph.CompositeStructure:
				n, _ = s.Composite.Count()
			default:
				return fmt.Errorf("the output %q is no tensor (got %v); a signature returns one tensor, a list of tensors, or tensors by name", name, s)
			}
		}
		list = append(list, signatureOutput{name, s, next, n})
		next += n
		return nil
	}
	out := c.Out
	switch {
	case out == nil:
		for i := range c.Function.Results {
			_ = add("output_"+strconv.Itoa(i), nil)
		}
		return list, nil
	case isSequence(out):
		for i, e := range out.Elems {
			name := "output_" + strconv.Itoa(i)
			if e.Kind == graph.NoneStructure { // as TensorFlow, which has no name for it
				return nil, fmt.Errorf("the output %q is no tensor (got %v); a signature returns one tensor, a list of tensors, or tensors by name", name, e)
			}
			if err := add(name, e); err != nil {
				return nil, err
			}
		}
	case out.Kind == graph.DictStructure || out.Kind == graph.NamedStructure:
		for _, i := range out.Order() {
			if err := add(out.Keys[i], out.Elems[i]); err != nil {
				return nil, err
			}
		}
	default:
		if err := add("output_0", out); err != nil {
			return nil, err
		}
	}
	if have := len(c.Function.Results); next != have {
		return nil, fmt.Errorf("the function returns another number of tensors than its outputs consist of (got %d, want %d)", have, next)
	}
	return list, nil
}

// resultName returns a name for one more result of a function.
func resultName(fn *graph.Function, name string) string {
	taken := func(name string) bool {
		return slices.ContainsFunc(fn.Results, func(r graph.Result) bool { return r.Name == name })
	}
	unique := name
	for i := 1; taken(unique); i++ {
		unique = name + "_" + strconv.Itoa(i)
	}
	return unique
}

// outputInfo describes an output of a signature's call in the main graph.
func (m *mainGraph) outputInfo(w signatureWrapper, out signatureOutput, call *graph.Node) (*pb.TensorInfo, error) {
	// The body of a loaded function has few shapes. Its structure has more, and
	// the signature that was read may have still more.
	said := w.function.shapes
	var flat []graph.Flat
	if out.structure != nil {
		flat = out.structure.Flatten()
	}
	part := func(i int, name string) *pb.TensorInfo {
		fact := call.Out[out.first+i]
		if !fact.Shape.HasRank() && len(flat) == out.count {
			fact.Shape = flat[i].Fact.Shape
		}
		if shape, ok := said[name]; ok && !fact.Shape.HasRank() {
			fact.Shape = shape
		}
		return tensorInfoOf(call.Name+":"+strconv.Itoa(out.first+i), fact)
	}
	if out.structure == nil || out.structure.Kind == graph.TensorStructure {
		return part(0, out.name), nil
	}
	c := out.structure.Composite
	if c.Class == graph.SparseComposite && out.count == 3 && c.State != nil && len(c.State.Elems) == 2 {
		shape, dtype := staticOf[graph.PartialShape](c.State.Elems[0]), staticOf[tensor.DType](c.State.Elems[1])
		return &pb.TensorInfo{Which: pb.TensorInfoCooSparse, Dtype: pb.DataType(dtype), TensorShape: graphInternals.ShapeProto(shape),
			CooSparse: &pb.CooSparse{IndicesTensorName: part(0, "").Name, ValuesTensorName: part(1, "").Name, DenseShapeTensorName: part(2, "").Name}}, nil
	}
	p, err := graphInternals.StructureProto(out.structure)
	if err != nil {
		return nil, err
	}
	x := &pb.CompositeTensor{TypeSpec: p.TypeSpecValue}
	for i := range out.count {
		x.Components = append(x.Components, part(i, fmt.Sprintf("%s/component_%d", out.name, i)))
	}
	return &pb.TensorInfo{Which: pb.TensorInfoCompositeTensor, CompositeTensor: x}, nil
}
