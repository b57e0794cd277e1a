package applications

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/cairnml/cairn/tensor"
)

// Class is a class of ImageNet.
type Class struct {
	// ID is the WordNet ID, such as n01440764.
	ID string
	// Name is the name, such as tench.
	Name string
}

// Prediction is a class with its score.
type Prediction struct {
	Class
	// Index is the class's number.
	Index int
	// Score is the model's output for the class.
	Score float64
}

// maxClassFile is the largest class file in bytes that ReadClasses takes. The limit is ours.
const maxClassFile = 64 << 20

// ReadClasses reads the file imagenet_class_index.json, an object with the ID and name of
// each class by its number: {"0": ["n01440764", "tench"], …}. Numbers must begin at 0 and
// leave out none.
func ReadClasses(r io.Reader) ([]Class, error) {
	fail := func(err error) ([]Class, error) { return nil, fmt.Errorf("applications: ReadClasses: %w", err) }
	data, err := io.ReadAll(io.LimitReader(r, maxClassFile+1))
	if err != nil {
		return fail(err)
	}
	if len(data) > maxClassFile {
		return fail(fmt.Errorf("the file has more than %d bytes", maxClassFile))
	}
	var index map[string][]string
	if err := json.Unmarshal(data, &index); err != nil {
		return fail(err)
	}
	classes := make([]Class, len(index))
	for key, names := range index {
		i, err := strconv.Atoi(key)
		if err != nil || i < 0 || i >= len(classes) || strconv.Itoa(i) != key {
			return fail(fmt.Errorf("there is a class %q, want numbers from 0 to %d", key, len(classes)-1))
		}
		if len(names) != 2 {
			return fail(fmt.Errorf("class %s has %d names, want an ID and a name", key, len(names)))
		}
		classes[i] = Class{ID: names[0], Name: names[1]}
	}
	return classes, nil
}

// Decode returns the top predictions of each example, the largest score first. scores are
// the outputs of a classifier, [batch, classes]. top may exceed the number of classes. Classes
// of equal scores are in their order; tf_keras defines none.
func Decode(scores *tensor.Tensor, classes []Class, top int) ([][]Prediction, error) {
	shape := scores.Shape()
	switch {
	case len(shape) != 2 || shape[1] != len(classes):
		return nil, fmt.Errorf("applications: Decode: the scores have the shape %v, want [batch, %d]", shape, len(classes))
	case top < 0:
		return nil, fmt.Errorf("applications: Decode: top is %d, want 0 or more", top)
	}
	values, err := scores.AppendFloat64s(nil, 0, scores.Len())
	if err != nil {
		return nil, fmt.Errorf("applications: Decode: %w", err)
	}
	out := make([][]Prediction, shape[0])
	for i := range out {
		row := make([]Prediction, len(classes))
		for j, class := range classes {
			row[j] = Prediction{Class: class, Index: j, Score: values[i*len(classes)+j]}
		}
		slices.SortStableFunc(row, func(a, b Prediction) int { return cmp.Compare(b.Score, a.Score) })
		out[i] = slices.Clip(row[:min(top, len(row))])
	}
	return out, nil
}
