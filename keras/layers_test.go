package keras

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/keras/activations"
	"github.com/cairnml/cairn/keras/initializers"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

func TestActivationsAndTheirGradientsAreTensorFlows(t *testing.T) {
	z := npz(t, "activations.npz")
	x, up := array(t, z, "x"), array(t, z, "upstream")
	tested := 0
	for _, name := range z.Names() {
		if name == "x" || name == "upstream" || strings.Contains(name, "/") {
			continue
		}
		var f activations.Activation
		if name == "gelu_approximate" {
			f = activations.Func(ops.GeluTanh)
		} else {
			var err error
			f, err = activations.ByName(name)
			must(t, err)
		}
		t.Run(name, func(t *testing.T) {
			s := scope(t)
			in := ops.ValueOf(x)
			if name == "exponential" {
				in = ops.Clip(s, x, -60, 60)
			}
			rec, tape := grad.Record(s)
			tape.Watch(in)
			y := f.Call(rec, in)
			dx := tape.GradientWith([]*ops.Value{y}, []*ops.Value{in}, &grad.GradientOptions{OutputGradients: []*ops.Value{ops.ValueOf(up)}})[0]
			must(t, s.Err())
			near(t, "value", data(t, y), array(t, z, name), 2e-5, 0.1)
			near(t, "gradient", data(t, dx), array(t, z, name+"/gradient"), 5e-5, 0.1)
		})
		tested++
	}
	if tested < 17 {
		t.Errorf("only %d activations in the fixture", tested)
	}
	if _, err := activations.ByName("rleu"); err == nil || !strings.Contains(err.Error(), "relu6") {
		t.Errorf("an unknown name gives %v", err)
	}
}

func TestDense(t *testing.T) {
	s := scope(t)
	d := &layers.Dense{Units: 2, KernelInitializer: initializers.Ones{}, BiasInitializer: initializers.Constant{Value: 0.5}, Activation: activations.Relu}
	if d.Built() || d.Kernel != nil {
		t.Error("a layer is built before its first call")
	}
	y := data(t, d.Call(s, mat(2, 3, 1, 2, 3, -4, -5, -6)))
	if got := tensor.Values[float32](y); !slices.Equal(got, []float32{6.5, 6.5, 0, 0}) {
		t.Errorf("Dense gives %v", got)
	}
	if !d.Kernel.Shape().Equal(tensor.Shape{3, 2}) || !d.Bias.Shape().Equal(tensor.Shape{2}) {
		t.Errorf("kernel %v, bias %v", d.Kernel.Shape(), d.Bias.Shape())
	}
	// Dimensions between the batch's and the features' are kept.
	cube := tensor.Must(tensor.New([]float32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, 2, 2, 3))
	y = data(t, d.Call(s, cube))
	if got := tensor.Values[float32](y); !y.Shape().Equal(tensor.Shape{2, 2, 2}) || !slices.Equal(got, []float32{6.5, 6.5, 15.5, 15.5, 24.5, 24.5, 33.5, 33.5}) {
		t.Errorf("Dense of a cube gives %v %v", y.Shape(), got)
	}
	bare := &layers.Dense{Units: 1, NoBias: true, Layer: Layer{DType: "float64"}}
	bare.Call(s, tensor.Must(tensor.New([]float64{1, 2}, 1, 2)))
	if bare.Bias != nil || bare.Kernel.DType() != tensor.Float64 {
		t.Errorf("NoBias and DType: bias %v, kernel %v", bare.Bias, bare.Kernel.DType())
	}
}

func TestLayersRefuse(t *testing.T) {
	for name, f := range map[string]func(s *ops.Scope){
		"no units":        func(s *ops.Scope) { new(layers.Dense).Call(s, mat(1, 1, 1)) },
		"scalar":          func(s *ops.Scope) { (&layers.Dense{Units: 1}).Call(s, float32(1)) },
		"vector":          func(s *ops.Scope) { (&layers.Dense{Units: 1}).Call(s, vec(1)) },
		"nil input":       func(s *ops.Scope) { (&layers.Dense{Units: 1}).Call(s, nil) },
		"other width":     func(s *ops.Scope) { d := &layers.Dense{Units: 1}; d.Call(s, mat(1, 1, 1)); d.Call(s, mat(1, 2, 1, 1)) },
		"flatten scalar":  func(s *ops.Scope) { new(layers.Flatten).Call(s, float32(1)) },
		"dropout of 1":    func(s *ops.Scope) { (&layers.Dropout{Rate: 1}).Call(s.WithTraining(true), vec(1)) },
		"nil in sequence": func(s *ops.Scope) { NewSequential(nil).Call(s, vec(1)) },
		"initializer":     func(s *ops.Scope) { (&layers.Dense{Units: 1, KernelInitializer: failing}).Call(s, mat(1, 1, 1)) },
	} {
		s := function.Eager(context.Background())
		f(s)
		if s.Err() == nil {
			t.Errorf("%s: no error", name)
		}
	}
	// A failed build is tried again.
	d := &layers.Dense{Units: 1, KernelInitializer: failing}
	d.Call(function.Eager(context.Background()), mat(1, 1, 1))
	d.KernelInitializer = nil
	d.Call(scope(t), mat(1, 1, 1))
}

var failing = initializers.InitializerFunc(func(*rand.Rand, tensor.DType, tensor.Shape) (*tensor.Tensor, error) { return nil, errors.New("no") })

func TestFlattenAndDropout(t *testing.T) {
	s := scope(t)
	cube, err := tensor.Zeros(tensor.Float32, 2, 3, 4)
	must(t, err)
	if got := new(layers.Flatten).Call(s, cube).Shape(); !got.Equal(tensor.Shape{2, 12}) {
		t.Errorf("Flatten gives %v", got)
	}
	if got := new(layers.Flatten).Call(s, vec(1, 2)).Shape(); !got.Equal(tensor.Shape{2, 1}) {
		t.Errorf("Flatten of a vector gives %v", got)
	}
	ones, err := initializers.Ones{}.Init(nil, tensor.Float32, tensor.Shape{100, 100})
	must(t, err)
	drop := &layers.Dropout{Rate: 0.25, Seed: new(3)}
	if got := data(t, drop.Call(s, ones)); !got.Equal(ones) {
		t.Error("Dropout changes its input outside of training")
	}
	train := function.Eager(context.Background()).WithTraining(true)
	got := tensor.Values[float32](data(t, drop.Call(train, ones)))
	zeros := 0
	for _, v := range got {
		switch v {
		case 0:
			zeros++
		case float32(1 / 0.75):
		default:
			t.Fatalf("Dropout gives %v", v)
		}
	}
	if zeros < 2300 || zeros > 2700 {
		t.Errorf("Dropout of 0.25 drops %d of 10000", zeros)
	}
	again := tensor.Values[float32](data(t, (&layers.Dropout{Rate: 0.25, Seed: new(3)}).Call(train, ones)))
	if !slices.Equal(got, again) {
		t.Error("the same seed drops other elements")
	}
}

func TestSeedsRepeatAModel(t *testing.T) {
	plain := func() *ops.Scope { return function.Eager(context.Background()) }
	build := func(s *ops.Scope) *tensor.Tensor {
		d := &layers.Dense{Units: 3}
		d.Call(s, mat(1, 2, 1, 2))
		must(t, s.Err())
		return d.Kernel.Load()
	}
	seeded := func() *ops.Scope { return WithSeed(plain(), 5) }
	if !build(seeded()).Equal(build(seeded())) {
		t.Error("the same seed makes two models")
	}
	if s := seeded(); build(s).Equal(build(s.WithTraining(true))) {
		t.Error("two layers of a scope have the same values")
	}
	if build(plain()).Equal(build(plain())) {
		t.Error("without a seed two models are the same")
	}
}

func TestLayersMayBeCalledFromManyGoroutines(t *testing.T) {
	net := NewSequential(&layers.Dense{Units: 4, Activation: activations.Relu}, &layers.Dropout{Rate: 0.5}, &layers.Dense{Units: 2})
	x := mat(2, 3, 1, 2, 3, 4, 5, 6)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			s := function.Eager(context.Background()).WithTraining(true)
			net.Call(s, x)
			if err := s.Err(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := len(Variables(net)); n != 4 {
		t.Errorf("%d variables were made, not 4", n)
	}
}

// Affine is the layer of the documentation.
type Affine struct {
	Layer
	Units int
	Inner *layers.Dense
	W, B  *trackable.Variable
}

func (a *Affine) build(s *ops.Scope, in tensor.Shape) error {
	return errors.Join(
		a.AddWeight(s, &a.W, "w", Weight{Shape: tensor.Shape{in[len(in)-1], a.Units}}),
		a.AddWeight(s, &a.B, "b", Weight{Shape: tensor.Shape{a.Units}, Init: initializers.Zeros{}, NotTrainable: true}))
}

func (a *Affine) Call(s *ops.Scope, x ops.Input) *ops.Value {
	v, ok := a.Prepare(s, x, a.build)
	if !ok {
		return v
	}
	return a.Inner.Call(s, ops.Add(s, ops.MatMul(s, v, a.W), a.B))
}

func TestManyLayersAreListedOnce(t *testing.T) {
	s := scope(t)
	net := NewSequential()
	shared := dense(1)
	for range 40 {
		must(t, net.Add(dense(1), shared))
	}
	net.Call(s, mat(1, 1, 1))
	if n := len(Trainable(net)); n != 82 {
		t.Errorf("%d variables, want 82", n)
	}
	seen := map[*trackable.Variable]bool{}
	for _, v := range Variables(net) {
		if seen[v] {
			t.Fatal("a variable is listed twice")
		}
		seen[v] = true
	}
}
