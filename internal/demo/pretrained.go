package demo

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/cairnml/cairn/internal/digits"
	"github.com/cairnml/cairn/kernel"
	modelrun "github.com/cairnml/cairn/savedmodel/run"
	"github.com/cairnml/cairn/tensor"
)

// Pretrained has the results, on the held-out digits, of a model that TensorFlow trained
// and saved.
type Pretrained struct {
	Writer     string        // TensorFlow's version that saved it
	Images     int           // the number of images
	Right      int           // the number of images recognized
	Difference float64       // the largest difference from TensorFlow's results
	Load, Call time.Duration // time for loading, and for one call with all images
}

// RunPretrained loads the embedded SavedModel, runs it on the held-out digits and
// compares its results with TensorFlow's.
func RunPretrained(ctx context.Context) (*Pretrained, error) {
	begin := time.Now()
	dir, err := digits.Model()
	if err != nil {
		return nil, err
	}
	m, err := modelrun.Load(ctx, dir, &modelrun.LoadOptions{Kernels: kernel.All()})
	if err != nil {
		return nil, err
	}
	p := &Pretrained{Writer: m.MetaGraph().TensorFlowVersion, Load: time.Since(begin)}
	images, labels, err := heldOutPixels()
	if err != nil {
		return nil, err
	}
	begin = time.Now()
	out, err := m.Call(ctx, "serving_default", map[string]*tensor.Tensor{"image": images})
	if err != nil {
		return nil, err
	}
	p.Call, p.Images = time.Since(begin), len(labels)
	want, err := digits.Answers()
	if err != nil {
		return nil, err
	}
	got := out["probabilities"]
	if got == nil || !got.Shape().Equal(want.Shape()) || got.DType() != want.DType() {
		return nil, errors.New("demo: the model's answers differ from the recorded ones")
	}
	a, b := tensor.Values[float32](got), tensor.Values[float32](want)
	for i := range a {
		p.Difference = max(p.Difference, math.Abs(float64(a[i])-float64(b[i])))
	}
	for i, truth := range labels {
		row, best := a[i*digits.Classes:(i+1)*digits.Classes], 0
		for k, v := range row {
			if v > row[best] {
				best = k
			}
		}
		if best == int(truth) {
			p.Right++
		}
	}
	return p, nil
}

// heldOutPixels returns the held-out images as the model takes them, float32 [359, 8, 8, 1] from 0 to 16,
// and their digits.
func heldOutPixels() (*tensor.Tensor, []uint8, error) {
	d, err := digits.Load()
	if err != nil {
		return nil, nil, err
	}
	var pixels []float32
	var labels []uint8
	for i, l := range d.Labels {
		if i%5 != 4 {
			continue
		}
		for _, p := range d.Image(i) {
			pixels = append(pixels, float32(p))
		}
		labels = append(labels, l)
	}
	x, err := tensor.New(pixels, len(labels), digits.Side, digits.Side, 1)
	if err != nil {
		return nil, nil, fmt.Errorf("demo: %w", err)
	}
	return x, labels, nil
}
