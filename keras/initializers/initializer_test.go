package initializers

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cairnml/cairn/tensor"
)

// TestInitializersHaveTheirDistributions draws many values and compares range,
// mean and deviation with TensorFlow's documentation.
func TestInitializersHaveTheirDistributions(t *testing.T) {
	shape := tensor.Shape{300, 200}
	in, out := 300.0, 200.0
	cut := 2 / cutDeviation // a truncated normal's end in its deviations
	for name, tt := range map[string]struct {
		i              Initializer
		dev, end, mean float64
	}{
		"random_uniform":   {RandomUniform{Seed: new(1)}, 0.1 / math.Sqrt(12), 0.05, 0},
		"random_normal":    {RandomNormal{Seed: new(1)}, 0.05, math.Inf(1), 0},
		"truncated_normal": {TruncatedNormal{Seed: new(1)}, 0.05 * cutDeviation, 0.1, 0},
		"shifted":          {RandomNormal{Mean: 3, StdDev: new(0.5), Seed: new(1)}, 0.5, math.Inf(1), 3},
		"glorot_uniform":   {GlorotUniform{new(1)}, math.Sqrt(2 / (in + out)), math.Sqrt(6 / (in + out)), 0},
		"glorot_normal":    {GlorotNormal{new(1)}, math.Sqrt(2 / (in + out)), cut * math.Sqrt(2/(in+out)), 0},
		"he_uniform":       {HeUniform{new(1)}, math.Sqrt(2 / in), math.Sqrt(6 / in), 0},
		"he_normal":        {HeNormal{new(1)}, math.Sqrt(2 / in), cut * math.Sqrt(2/in), 0},
		"lecun_uniform":    {LecunUniform{new(1)}, math.Sqrt(1 / in), math.Sqrt(3 / in), 0},
		"lecun_normal":     {LecunNormal{new(1)}, math.Sqrt(1 / in), cut * math.Sqrt(1/in), 0},
		"fan_out":          {VarianceScaling{Scale: 3, Mode: FanOut, Distribution: UntruncatedNormalDistribution, Seed: new(1)}, math.Sqrt(3 / out), math.Inf(1), 0},
	} {
		t.Run(name, func(t *testing.T) {
			x, err := tt.i.Init(nil, tensor.Float32, shape)
			must(t, err)
			v := tensor.Values[float32](x)
			var sum, sq, top float64
			for _, e := range v {
				sum += float64(e)
				top = max(top, math.Abs(float64(e)-tt.mean))
			}
			mean := sum / float64(len(v))
			for _, e := range v {
				sq += (float64(e) - mean) * (float64(e) - mean)
			}
			dev := math.Sqrt(sq / float64(len(v)))
			if math.Abs(mean-tt.mean) > 5*tt.dev/math.Sqrt(float64(len(v))) {
				t.Errorf("mean %v, want about %v", mean, tt.mean)
			}
			if math.Abs(dev-tt.dev) > 0.02*tt.dev {
				t.Errorf("deviation %v, want about %v", dev, tt.dev)
			}
			if top > tt.end*1.000001 || !math.IsInf(tt.end, 1) && top < 0.98*tt.end {
				t.Errorf("values reach %v from the mean, want nearly %v", top, tt.end)
			}
			again, err := tt.i.Init(rand.New(rand.NewPCG(9, 9)), tensor.Float32, shape)
			must(t, err)
			if !again.Equal(x) {
				t.Error("the same seed gives other values")
			}
		})
	}
}

func TestInitializersWithoutChance(t *testing.T) {
	for name, tt := range map[string]struct {
		i    Initializer
		want []float32
	}{
		"zeros":    {Zeros{}, []float32{0, 0, 0, 0, 0, 0}},
		"ones":     {Ones{}, []float32{1, 1, 1, 1, 1, 1}},
		"constant": {Constant{-2.5}, []float32{-2.5, -2.5, -2.5, -2.5, -2.5, -2.5}},
		"identity": {Identity{}, []float32{1, 0, 0, 0, 1, 0}},
		"gain":     {Identity{Gain: new(3.0)}, []float32{3, 0, 0, 0, 3, 0}},
	} {
		for _, d := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.Float16, tensor.BFloat16} {
			x, err := tt.i.Init(nil, d, tensor.Shape{2, 3})
			must(t, err)
			if x.DType() != d {
				t.Errorf("%s of %v is %v", name, d, x.DType())
			}
			same, err := tensor.Cast(x, tensor.Float32)
			must(t, err)
			if !slices.Equal(tensor.Values[float32](same), tt.want) {
				t.Errorf("%s of %v is %v, want %v", name, d, same, tt.want)
			}
		}
	}
}

func TestOrthogonalIsOrthonormal(t *testing.T) {
	for _, shape := range []tensor.Shape{{6, 4}, {4, 6}, {5, 5}, {2, 3, 4}, {3, 2, 9}} {
		x, err := Orthogonal{Gain: new(2.0), Seed: new(4)}.Init(nil, tensor.Float64, shape)
		must(t, err)
		v := tensor.Values[float64](x)
		cols := shape[len(shape)-1]
		rows := len(v) / cols
		at := func(i, j int) float64 { // vector i, element j
			if rows < cols {
				return v[i*cols+j]
			}
			return v[j*cols+i]
		}
		for a := range min(rows, cols) {
			for b := range a + 1 {
				dot, want := 0.0, 0.0
				for j := range max(rows, cols) {
					dot += at(a, j) * at(b, j)
				}
				if a == b {
					want = 4
				}
				if math.Abs(dot-want) > 1e-12 {
					t.Errorf("shape %v: vectors %d and %d have the product %v, want %v", shape, a, b, dot, want)
				}
			}
		}
	}
}

func TestInitializersRefuse(t *testing.T) {
	for name, f := range map[string]func() (*tensor.Tensor, error){
		"identity of a cube":     func() (*tensor.Tensor, error) { return Identity{}.Init(nil, tensor.Float32, tensor.Shape{1, 1, 1}) },
		"orthogonal of a vector": func() (*tensor.Tensor, error) { return Orthogonal{}.Init(nil, tensor.Float32, tensor.Shape{3}) },
		"strings":                func() (*tensor.Tensor, error) { return Ones{}.Init(nil, tensor.String, tensor.Shape{3}) },
		"mode": func() (*tensor.Tensor, error) {
			return VarianceScaling{Mode: "fan"}.Init(nil, tensor.Float32, tensor.Shape{3})
		},
		"distribution": func() (*tensor.Tensor, error) {
			return VarianceScaling{Distribution: "normall"}.Init(nil, tensor.Float32, tensor.Shape{3})
		},
		"negative size": func() (*tensor.Tensor, error) { return GlorotUniform{}.Init(nil, tensor.Float32, tensor.Shape{-1, 2}) },
	} {
		if x, err := f(); err == nil {
			t.Errorf("%s: no error but %v", name, x.Shape())
		}
	}
	if x, err := (Orthogonal{}).Init(nil, tensor.Float32, tensor.Shape{0, 2}); err != nil || x.Len() != 0 {
		t.Errorf("no rows: %v", err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestIntegersAreExact compares integers near the ends of their types with those of tf_keras 2.21.
func TestIntegersAreExact(t *testing.T) {
	x, err := RandomUniform{Min: new(9000000000000000.0), Max: new(9100000000000000.0), Seed: new(3)}.Init(nil, tensor.Int64, tensor.Shape{4})
	if want := []int64{9067772343931820, 9002171405787544, 9070214931768927, 9090117938708743}; err != nil || !slices.Equal(tensor.Values[int64](x), want) {
		t.Errorf("got %v, %v, want %v", x, err, want)
	}
	x, err = RandomUniform{Min: new(-2147483648.0), Max: new(2147483647.0), Seed: new(3)}.Init(nil, tensor.Int32, tensor.Shape{4})
	if want := []int32{949556140, -705151881, 776216984, 1064019774}; err != nil || !slices.Equal(tensor.Values[int32](x), want) {
		t.Errorf("got %v, %v, want %v", x, err, want)
	}
	for d, most := range map[tensor.DType]float64{tensor.Int32: 0x1p31, tensor.Int64: 0x1p63} {
		if _, err := (RandomUniform{Min: new(-most), Max: new(most)}).Init(nil, d, tensor.Shape{4}); err == nil {
			t.Errorf("%v: no error", d)
		}
	}
}
