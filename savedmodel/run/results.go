package run

import (
	"errors"
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// pack packs the results of a call into the structure of the function's output, by the Go types of
// values.go: List, Tuple, NamedTuple, map[string]any and Composite. They are API and must stay.
func pack(out *graph.Structure, results []engine.Value) (v any, err error) {
	p := packer{rest: results}
	if out.IsNone() && len(results) > 0 {
		v, err = p.packFlat() // the file lacks the structure
	} else {
		v, err = p.pack(out)
	}
	if err == nil && len(p.rest) > 0 {
		err = fmt.Errorf("the function returns %d tensors more than the structure of its output has", len(p.rest))
	}
	if err != nil {
		return nil, fmt.Errorf("savedmodel: %w", err)
	}
	return v, nil
}

// packer hands out the results in order.
type packer struct{ rest []engine.Value } // those that are left

func (p *packer) next() (*tensor.Tensor, error) {
	if len(p.rest) == 0 {
		return nil, errors.New("the function returns fewer tensors than the structure of its output has")
	}
	v := p.rest[0]
	p.rest = p.rest[1:]
	return tensorOf(v)
}

// take returns n tensors.
func (p *packer) take(n int) ([]*tensor.Tensor, error) {
	var out []*tensor.Tensor
	for range n {
		t, err := p.next()
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// packFlat returns a tensor, or a tuple of several.
func (p *packer) packFlat() (any, error) {
	list, err := p.take(len(p.rest))
	switch {
	case err != nil:
		return nil, err
	case len(list) == 1:
		return list[0], nil
	}
	out := Tuple{}
	for _, t := range list {
		out = append(out, t)
	}
	return out, nil
}

// pack packs the next results into s. For a static part, a number or a text, it returns the
// value that the structure has.
func (p *packer) pack(s *graph.Structure) (any, error) {
	if s.IsNone() {
		return nil, nil
	}
	switch s.Kind {
	case graph.TensorStructure:
		return p.next()
	case graph.CompositeStructure:
		n, known := s.Composite.Count()
		if !known {
			return nil, fmt.Errorf("the number of tensors of a %s isn't known; CallFlat returns them: %w", s.Composite.Name(), errors.ErrUnsupported)
		}
		list, err := p.take(n)
		return Composite(list), err
	case graph.ListStructure:
		out, err := p.packAll(s)
		return List(out), err
	case graph.TupleStructure:
		out, err := p.packAll(s)
		return Tuple(out), err
	case graph.NamedStructure:
		out, err := p.packAll(s)
		return &NamedTuple{s.Name, s.Keys, out}, err
	case graph.DictStructure:
		list, err := p.packAll(s)
		out := make(map[string]any, len(s.Keys))
		for i, k := range s.Keys {
			out[k] = list[i]
		}
		return out, err
	}
	return s.Value, nil
}

// packAll packs the elements in TensorFlow's order, and returns them in the
// structure's.
func (p *packer) packAll(s *graph.Structure) ([]any, error) {
	out := make([]any, len(s.Elems))
	for _, i := range s.Order() {
		var err error
		if out[i], err = p.pack(s.Elems[i]); err != nil {
			return out, err
		}
	}
	return out, nil
}
