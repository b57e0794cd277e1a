package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/cairnml/cairn/tensor"
)

// compare compares our gradients with the files that interop/peer/differentiate.py writes, and
// returns a summary. result.json has an error of the whole group, or a result of each call.
func (g *differentiation) compare(ctx context.Context) (string, error) {
	var result struct {
		Error string
		Calls []struct {
			OK    bool
			Error string
		}
	}
	text, err := os.ReadFile(filepath.Join(g.dir, "result.json"))
	if err != nil {
		return "", err
	}
	if err := json.Unmarshal(text, &result); err != nil {
		return "", err
	}
	var tally tally
	if result.Error != "" || len(result.Calls) != len(g.cases) {
		err := fmt.Errorf("TensorFlow: %s", result.Error)
		for _, d := range g.cases {
			if e := gradientExceptions[d.of]; !e.covers(d) || !e.allows(err) {
				return "", err
			}
			tally.except(gradientExceptions[d.of].onlyHere)
		}
		return tally.String(), nil
	}
	var wrong []error
	for i, d := range g.cases {
		var theirs error
		if !result.Calls[i].OK {
			theirs = errors.New(brief(result.Calls[i].Error))
		}
		wrong = append(wrong, d.settle(ctx, filepath.Join(g.dir, d.calls.Calls[0].Outputs), theirs, &tally))
	}
	return tally.String(), errors.Join(wrong...)
}

// brief returns the beginning of an error of TensorFlow's, without the places of its code.
func brief(text string) string {
	var kept []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "File ") && !strings.HasPrefix(line, "Detected at") {
			kept = append(kept, line)
		}
	}
	text = strings.Join(kept[:min(4, len(kept))], "; ")
	return text[:min(400, len(text))]
}

// tally counts the results of the calls of an op.
type tally struct {
	calls, gradients int
	excepted         map[string]int // the number of calls or gradients by the reason
}

func (t *tally) except(why string) {
	if t.excepted == nil {
		t.excepted = map[string]int{}
	}
	t.excepted[why]++
}

func (t *tally) String() string {
	parts := []string{fmt.Sprintf("%d gradients of %d calls", t.gradients, t.calls)}
	if t.calls == 0 {
		parts = nil
	}
	var whys []string
	for why := range t.excepted {
		whys = append(whys, why)
	}
	sort.Strings(whys)
	for _, why := range whys {
		parts = append(parts, fmt.Sprintf("%d without: %s", t.excepted[why], why))
	}
	return strings.Join(parts, "; ")
}

// settle compares one call, whose gradients by TensorFlow are in the .npz at path, under the
// names that differentiate.py documents. theirs is TensorFlow's error. An exception or success
// is counted in t, and all else is an error.
func (d *derivative) settle(ctx context.Context, path string, theirs error, t *tally) error {
	e := gradientExceptions[d.of]
	if !e.covers(d) {
		e = gradientException{}
	}
	switch {
	case theirs != nil && d.refused != nil:
		t.except("neither has a gradient")
		return nil
	case theirs != nil && e.allows(theirs):
		t.except(e.onlyHere)
		return nil
	case theirs != nil:
		return fmt.Errorf("%s: TensorFlow: %w", d.name, theirs)
	case d.refused != nil && e.onlyThere != "":
		t.except(e.onlyThere)
		return nil
	case d.refused != nil:
		return fmt.Errorf("%s: here: %w", d.name, d.refused)
	}
	z, err := readNPZ(path)
	if err != nil {
		return err
	}
	t.calls++
	var wrong []error
	for i, place := range d.by {
		want, err := z.Read(ctx, fmt.Sprintf("gradient/%d", place))
		if err != nil {
			return err
		}
		kind, err := z.Read(ctx, fmt.Sprintf("kind/%d", place))
		if err != nil {
			return err
		}
		word, err := hex.DecodeString(tensor.Values[string](kind)[0])
		if err != nil {
			return err
		}
		var but func(i int) bool
		if e.element != nil {
			but = func(i int) bool { return e.element(d, place, i) }
		}
		diff, left := d.differ(d.got[i], want, but)
		if diff == "" && d.wholeAtBorders && !d.sliced[i] && string(word) == "slices" {
			t.except("whole here, slices in TensorFlow: they become whole where they enter a branch")
		} else if diff == "" && d.sliced[i] != (string(word) == "slices") {
			diff = fmt.Sprintf("slices: %v, TensorFlow's is %s", d.sliced[i], word)
		}
		if left > 0 {
			t.except(e.differs)
		}
		switch {
		case diff == "":
			t.gradients++
		case e.element == nil && e.differs != "" && (e.where == nil || e.where(d, place)):
			t.except(e.differs)
		default:
			wrong = append(wrong, fmt.Errorf("%s: by argument %d: %s", d.name, place, diff))
		}
	}
	return errors.Join(wrong...)
}

// tolerances are the greatest distances of a type's gradients from TensorFlow's, relative to
// the largest element. They are Cairn's choice.
var tolerances = map[tensor.DType]float64{
	tensor.Float32: 1e-5, tensor.Complex64: 1e-5, tensor.Float64: 1e-12, tensor.Complex128: 1e-12,
	tensor.Float16: 4e-3, tensor.BFloat16: 3e-2,
}

// differ describes the difference between our gradient and TensorFlow's beyond the
// tolerance. It is that of the least precise type of the gradient and of the outputs'
// gradients, or the call's own, if that is larger. left is the number of
// elements that differ but are exempt by but.
func (d *derivative) differ(got, want *tensor.Tensor, but func(i int) bool) (diff string, left int) {
	if !got.Shape().Equal(want.Shape()) {
		return fmt.Sprintf("the shape is %v, TensorFlow's %v", got.Shape(), want.Shape()), 0
	}
	tolerance := max(tolerances[got.DType()], d.gradientTolerance)
	for _, dy := range d.dys {
		if dy != nil {
			tolerance = max(tolerance, tolerances[dy.DType()])
		}
	}
	return difference(got, want, tolerance, but)
}
