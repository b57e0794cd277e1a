package savedmodel

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/internal/tensorproto"
	"github.com/cairnml/cairn/tensor"
)

// SignatureDef is a call that a model's writer has given a name: tensors of the
// graph to feed and to fetch.
type SignatureDef struct {
	// Name is the signature's name, "serving_default".
	Name string
	// Method is the kind of the call, "tensorflow/serving/predict".
	Method string
	// Inputs and Outputs are in the order of their names.
	Inputs, Outputs []TensorInfo
}

// TensorInfo is an input or output of a signature.
type TensorInfo struct {
	// Name is the name by which the caller knows it.
	Name string
	// Tensor is the graph's tensor, "dense/Relu:0"; "" for a composite.
	Tensor string
	// DType is the element type.
	DType tensor.DType
	// Shape is the shape, as far as it is known.
	Shape graph.PartialShape
	// Default is the value of an input that the caller leaves out; nil if it is
	// required. It is the file's. Those of run.Signature.Inputs may also be the
	// constant of a PlaceholderWithDefault, as in sessions of TensorFlow.
	Default *tensor.Tensor
	// Parts are the tensors of a composite, such as a sparse or a ragged tensor;
	// nil for a plain tensor. Each has a name that begins with the composite's:
	// "x/indices", "x/values", "x/dense_shape"; "x/component_0" ….
	Parts []TensorInfo
	// Type is the composite's type; nil for a plain or a sparse tensor.
	Type *graph.Structure
}

// String returns "x: float32[?,4] (serving_default_x:0)".
func (t TensorInfo) String() string {
	s := fmt.Sprintf("%s: %v%v", t.Name, t.DType, t.Shape)
	if t.Tensor != "" {
		s += " (" + t.Tensor + ")"
	}
	if t.Default != nil {
		s += fmt.Sprintf(" = %v", t.Default)
	}
	return s
}

// PlainTensors returns the plain tensors of the inputs or outputs of a signature, with
// the parts of composites in place of these.
func PlainTensors(list []TensorInfo) []TensorInfo {
	var out []TensorInfo
	for _, t := range list {
		if t.Parts != nil {
			out = append(out, PlainTensors(t.Parts)...)
			continue
		}
		out = append(out, t)
	}
	return out
}

// internalPrefix begins the names of TensorFlow's own signatures.
const internalPrefix = "__saved_model"

func (g *MetaGraph) readSignatures() error {
	for _, e := range g.proto.SignatureDef {
		p := e.Value
		if p == nil {
			p = &pb.SignatureDef{}
		}
		s := &SignatureDef{Name: e.Key, Method: p.MethodName}
		var err error
		if s.Inputs, err = g.tensorInfos(p.Inputs); err != nil {
			return fmt.Errorf("signature %q: %w", e.Key, err)
		}
		if s.Outputs, err = g.tensorInfos(p.Outputs); err != nil {
			return fmt.Errorf("signature %q: %w", e.Key, err)
		}
		for _, d := range p.Defaults {
			i := slices.IndexFunc(s.Inputs, func(t TensorInfo) bool { return t.Name == d.Key })
			if i < 0 || d.Value == nil { // a default of no input, which no call can use
				continue
			}
			if s.Inputs[i].Default, err = tensorproto.Decode(d.Value, &g.constants); err != nil {
				return fmt.Errorf("signature %q: the default of %q: %w", e.Key, d.Key, err)
			}
		}
		if strings.HasPrefix(e.Key, internalPrefix) {
			g.internal = append(g.internal, s)
		} else {
			g.Signatures = append(g.Signatures, s)
		}
	}
	slices.SortFunc(g.Signatures, func(a, b *SignatureDef) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

func (g *MetaGraph) tensorInfos(list []*pb.TensorInfoEntry) ([]TensorInfo, error) {
	var out []TensorInfo
	for _, e := range list {
		t, err := g.tensorInfo(e.Key, e.Value, 0)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", e.Key, err)
		}
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b TensorInfo) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

func (g *MetaGraph) tensorInfo(name string, p *pb.TensorInfo, depth int) (TensorInfo, error) {
	t := TensorInfo{Name: name}
	if p == nil {
		return t, nil
	}
	if depth > maxStructure {
		return t, fmt.Errorf("composites nest more than %d deep: %w", maxStructure, errors.ErrUnsupported)
	}
	t.DType = tensor.DType(p.Dtype)
	if !t.DType.Valid() && (t.DType - refOffset).Valid() {
		t.DType -= refOffset
	}
	var err error
	if t.Shape, err = shapeOf(p.TensorShape); err != nil {
		return t, err
	}
	switch {
	case p.CooSparse != nil:
		rank := -1
		if t.Shape.HasRank() {
			rank = t.Shape.Rank()
		}
		t.Parts = []TensorInfo{
			{Name: name + "/indices", Tensor: p.CooSparse.IndicesTensorName, DType: tensor.Int64, Shape: graph.ShapeOf(-1, rank)},
			{Name: name + "/values", Tensor: p.CooSparse.ValuesTensorName, DType: t.DType, Shape: graph.ShapeOf(-1)},
			{Name: name + "/dense_shape", Tensor: p.CooSparse.DenseShapeTensorName, DType: tensor.Int64, Shape: graph.ShapeOf(rank)},
		}
	case p.CompositeTensor != nil:
		t.Parts = []TensorInfo{}
		if s := p.CompositeTensor.TypeSpec; s != nil {
			c, err := graphInternals.ReadComposite(s, &g.constants)
			if err != nil {
				return t, err
			}
			t.Type = &graph.Structure{Kind: graph.CompositeStructure, Composite: c}
		}
		for i, c := range p.CompositeTensor.Components {
			part, err := g.tensorInfo(fmt.Sprintf("%s/component_%d", name, i), c, depth+1)
			if err != nil {
				return t, err
			}
			t.Parts = append(t.Parts, part)
		}
	default:
		t.Tensor = p.Name
	}
	return t, nil
}

// refOffset is the distance of the number of a reference type to that of its element type, in
// TensorFlow's types.proto.
const refOffset = 100

// shapeOf reads a shape; a missing one has no rank.
func shapeOf(p *pb.TensorShapeProto) (graph.PartialShape, error) {
	if p == nil || p.UnknownRank {
		return graph.PartialShape{}, nil
	}
	dims := make([]int, len(p.Dim))
	for i, d := range p.Dim {
		if d == nil { // an empty message: the size 0
			continue
		}
		if dims[i] = int(d.Size); int64(dims[i]) != d.Size || d.Size < -1 {
			return graph.PartialShape{}, fmt.Errorf("the shape's dimension %d is %d", i, d.Size)
		}
	}
	return graph.ShapeOf(dims...), nil
}
