package keras

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/cairnml/cairn/tensor"
)

// tensorOf returns lists of a config as a tensor: of float32 if a number has a fraction or an
// exponent, else of int32, or of int64 if a number needs it; of strings; or of bools. All lists of one
// depth have one length. The types are those of tf.convert_to_tensor for Python's lists. The limit of
// 16 dimensions is ours.
// The reader of functional models' configs calls it for constant inputs of layers.
func tensorOf(list []any) (*tensor.Tensor, error) {
	var shape tensor.Shape
	var flat []any
	var visit func(v any, depth int) error
	visit = func(v any, depth int) error {
		items, ok := v.([]any)
		if !ok {
			if depth != len(shape) {
				return fmt.Errorf("got lists of different depths")
			}
			flat = append(flat, v)
			return nil
		}
		switch {
		case depth == len(shape) && len(flat) == 0 && depth < 16:
			shape = append(shape, len(items))
		case depth >= len(shape) || shape[depth] != len(items):
			return fmt.Errorf("got lists of different lengths or depths")
		}
		for _, item := range items {
			if err := visit(item, depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	if err := visit(list, 0); err != nil {
		return nil, err
	}
	if len(flat) == 0 {
		return tensor.Zeros(tensor.Float32, shape...)
	}
	fraction := slices.ContainsFunc(flat, func(v any) bool {
		n, ok := v.(json.Number)
		return ok && strings.ContainsAny(n.String(), ".eEnN") // n and N: of NaN and Infinity
	})
	switch flat[0].(type) {
	case string:
		all, err := elements(flat, func(s string) (string, error) { return s, nil })
		if err != nil {
			return nil, err
		}
		return tensor.FromStrings(tensor.String, all, shape...)
	case bool:
		return newTensor(shape, flat, func(b bool) (bool, error) { return b, nil })
	case json.Number:
		if fraction {
			return newTensor(shape, flat, func(n json.Number) (float32, error) {
				f, err := n.Float64()
				return float32(f), err
			})
		}
		if slices.ContainsFunc(flat, func(v any) bool {
			n, _ := v.(json.Number)
			i, err := n.Int64()
			return err == nil && int64(int32(i)) != i
		}) {
			return newTensor(shape, flat, json.Number.Int64)
		}
		return newTensor(shape, flat, func(n json.Number) (int32, error) {
			i, err := n.Int64()
			return int32(i), err
		})
	}
	return nil, fmt.Errorf("got %T, want numbers, strings or bools", flat[0])
}

// elements converts all elements, which are of one type.
func elements[From, To any](list []any, convert func(From) (To, error)) ([]To, error) {
	out := make([]To, len(list))
	for i, v := range list {
		x, ok := v.(From)
		if !ok {
			return nil, fmt.Errorf("got elements of different types (%T and %T)", list[0], v)
		}
		var err error
		if out[i], err = convert(x); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func newTensor[From any, To int32 | int64 | float32 | bool](shape tensor.Shape, list []any, convert func(From) (To, error)) (*tensor.Tensor, error) {
	all, err := elements(list, convert)
	if err != nil {
		return nil, err
	}
	return tensor.New(all, shape...)
}
