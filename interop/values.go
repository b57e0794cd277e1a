package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/cairnml/cairn/internal/testkit/opfixture"
	"github.com/cairnml/cairn/tensor"
)

// tensorSpec describes a tensor as peer/graphs.py encodes it.
type tensorSpec struct {
	DType string          `json:"dtype"`
	Shape []int           `json:"shape"`
	Data  json.RawMessage `json:"data"` // hex; of strings a list
}

// tensor builds it; with zero it returns a similar one without values.
func (t tensorSpec) tensor(zero bool) (*tensor.Tensor, error) {
	d, err := tensor.ParseDType(t.DType)
	if err != nil {
		return nil, err
	}
	if zero {
		return tensor.Zeros(d, t.Shape...)
	}
	if d == tensor.String {
		var list []string
		if err := json.Unmarshal(t.Data, &list); err != nil {
			return nil, err
		}
		for i, s := range list {
			b, err := hex.DecodeString(s)
			if err != nil {
				return nil, err
			}
			list[i] = string(b)
		}
		return tensor.FromStrings(d, list, t.Shape...)
	}
	var text string
	if err := json.Unmarshal(t.Data, &text); err != nil {
		return nil, err
	}
	b, err := hex.DecodeString(text)
	if err != nil {
		return nil, err
	}
	return tensor.FromBytes(d, append(make([]byte, 0, len(b)+8), b...), t.Shape...)
}

// differs returns the difference between got and the description, nil if there is none.
func (t tensorSpec) differs(got *tensor.Tensor) error {
	want, err := t.tensor(false)
	if err != nil {
		return err
	}
	return sameTensor(got, want)
}

// sameTensor returns an error unless types, shapes and all bits are equal.
func sameTensor(got, want *tensor.Tensor) error {
	if got.DType() != want.DType() || !got.Shape().Equal(want.Shape()) {
		return fmt.Errorf("%v%v, want %v%v", got.DType(), got.Shape(), want.DType(), want.Shape())
	}
	same := false
	if want.DType().Fixed() {
		same = bytes.Equal(got.Bytes(), want.Bytes())
	} else {
		same = slices.Equal(got.Strings(), want.Strings())
	}
	if !same {
		return fmt.Errorf("%.200v, want %.200v", got, want)
	}
	return nil
}

// unmarshalPair decodes a JSON array of two.
func unmarshalPair(b []byte, x, y any) error {
	var pair [2]json.RawMessage
	if err := json.Unmarshal(b, &pair); err != nil {
		return err
	}
	if err := json.Unmarshal(pair[0], x); err != nil {
		return err
	}
	return json.Unmarshal(pair[1], y)
}

// difference describes the numbers of ours that are farther from TensorFlow's than
// tolerance times the largest of these. left is the number of such elements that are
// exempt by but, which may be nil.
func difference(got, want *tensor.Tensor, tolerance float64, but func(i int) bool) (diff string, left int) {
	g, w := opfixture.Numbers(got), opfixture.Numbers(want)
	largest := 0.0
	for _, x := range w {
		if a := math.Abs(x); !math.IsInf(a, 0) && a > largest {
			largest = a
		}
	}
	for i := range g {
		if g[i] == w[i] || math.IsNaN(g[i]) && math.IsNaN(w[i]) || math.Abs(g[i]-w[i]) <= tolerance*largest {
			continue
		}
		if but == nil || !but(i) {
			return fmt.Sprintf("element %d is %v, TensorFlow has %v", i, g[i], w[i]), left
		}
		left++
	}
	return "", left
}
