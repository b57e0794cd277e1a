package applications

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/activations"
	"github.com/cairnml/cairn/keras/internal/kerastest"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

type constructor = func(ctx context.Context, opts *Options) (*keras.Functional, error)

// constructors are the models of testdata/models.json.
var constructors = map[string]constructor{
	"MobileNet": MobileNet, "MobileNetV2": MobileNetV2, "MobileNetV3Small": MobileNetV3Small, "MobileNetV3Large": MobileNetV3Large,
	"ResNet50": ResNet50, "ResNet101": ResNet101, "ResNet152": ResNet152,
	"ResNet50V2": ResNet50V2, "ResNet101V2": ResNet101V2, "ResNet152V2": ResNet152V2,
	"VGG16": VGG16, "VGG19": VGG19,
	"Xception": Xception, "InceptionV3": InceptionV3,
	"EfficientNetB0": EfficientNetB0, "EfficientNetB1": EfficientNetB1, "EfficientNetB2": EfficientNetB2, "EfficientNetB3": EfficientNetB3,
	"EfficientNetB4": EfficientNetB4, "EfficientNetB5": EfficientNetB5, "EfficientNetB6": EfficientNetB6, "EfficientNetB7": EfficientNetB7,
	"DenseNet121": DenseNet121, "DenseNet169": DenseNet169, "DenseNet201": DenseNet201,
	"EfficientNetV2B0": EfficientNetV2B0, "EfficientNetV2B1": EfficientNetV2B1, "EfficientNetV2B2": EfficientNetV2B2,
	"EfficientNetV2B3": EfficientNetV2B3, "EfficientNetV2S": EfficientNetV2S, "EfficientNetV2M": EfficientNetV2M,
	"EfficientNetV2L": EfficientNetV2L, "ResNetRS50": ResNetRS50, "ResNetRS101": ResNetRS101, "ResNetRS152": ResNetRS152,
	"ResNetRS200": ResNetRS200, "ResNetRS270": ResNetRS270, "ResNetRS350": ResNetRS350, "ResNetRS420": ResNetRS420, "RegNetX002": RegNetX002,
	"RegNetX004": RegNetX004, "RegNetX006": RegNetX006, "RegNetX008": RegNetX008, "RegNetX016": RegNetX016, "RegNetX032": RegNetX032,
	"RegNetX040": RegNetX040, "RegNetX064": RegNetX064, "RegNetX080": RegNetX080, "RegNetX120": RegNetX120, "RegNetX160": RegNetX160,
	"RegNetX320": RegNetX320, "RegNetY002": RegNetY002, "RegNetY004": RegNetY004, "RegNetY006": RegNetY006, "RegNetY008": RegNetY008,
	"RegNetY016": RegNetY016, "RegNetY032": RegNetY032, "RegNetY040": RegNetY040, "RegNetY064": RegNetY064, "RegNetY080": RegNetY080,
	"RegNetY120": RegNetY120, "RegNetY160": RegNetY160, "RegNetY320": RegNetY320, "NASNetMobile": NASNetMobile, "NASNetLarge": NASNetLarge,
	"ConvNeXtTiny": ConvNeXtTiny, "ConvNeXtSmall": ConvNeXtSmall, "ConvNeXtBase": ConvNeXtBase, "ConvNeXtLarge": ConvNeXtLarge,
	"ConvNeXtXLarge": ConvNeXtXLarge,
}

// modelCase is a row of testdata/gen_models.py.
type modelCase struct {
	Name, Function string
	Pixels         bool
	Gain           float64
	Kwargs         struct {
		InputShape           []*int `json:"input_shape"`
		Classes              int
		ClassifierActivation *string `json:"classifier_activation"`
		IncludeTop           *bool   `json:"include_top"`
		IncludePreprocessing *bool   `json:"include_preprocessing"`
		Pooling              string
		Alpha                float64
		Minimalistic         bool
	}
	Config, Shapes      string
	Weights, Parameters int
	Input, Shape        []int
	Output              []float64
}

func (c *modelCase) options(t *testing.T) *Options {
	k := &c.Kwargs
	o := &Options{Classes: k.Classes, Pooling: k.Pooling, Alpha: k.Alpha, Minimalistic: k.Minimalistic, ZeroWeights: true,
		NoTop:           k.IncludeTop != nil && !*k.IncludeTop,
		NoPreprocessing: k.IncludePreprocessing != nil && !*k.IncludePreprocessing}
	for _, size := range k.InputShape {
		if size == nil {
			o.InputShape = append(o.InputShape, -1)
		} else {
			o.InputShape = append(o.InputShape, *size)
		}
	}
	o.ClassifierActivation = activations.Linear
	if k.ClassifierActivation != nil {
		f, err := activations.ByName(*k.ClassifierActivation)
		kerastest.Must(t, err)
		o.ClassifierActivation = f
	}
	return o
}

// values returns n numbers from -1 to 1 for a seed, as gen_models.py does.
func values(n, seed int) []float64 {
	out := make([]float64, n)
	for i := range out {
		h := uint32(i)*2654435761 + uint32(seed*40503+12345)
		h ^= h >> 16
		h *= 0x85EBCA6B
		h ^= h >> 13
		h *= 0xC2B2AE35
		h ^= h >> 16
		out[i] = float64(h)/(1<<31) - 1
	}
	return out
}

func elements(shape []int) int {
	n := 1
	for _, size := range shape {
		n *= size
	}
	return n
}

// weight returns the value of a variable, as gen_models.py does.
func weight(name string, shape tensor.Shape, seed int, gain float64) []float64 {
	kind := name[strings.LastIndexByte(name, '/')+1:]
	u := values(elements(shape), seed)
	inputs := 1
	for i := range len(shape) - 1 {
		inputs *= shape[i]
	}
	scale, offset := 0.1, 0.0
	switch {
	case kind == "count":
		scale = 0
	case kind == "depthwise_kernel":
		scale = gain * math.Sqrt(6/float64(shape[0]*shape[1]))
	case strings.HasSuffix(kind, "kernel"):
		scale = gain * math.Sqrt(6/float64(inputs))
	case kind == "gamma":
		offset = 1
	case strings.HasSuffix(kind, "variance"):
		scale, offset = 0.25, 1
	}
	for i := range u {
		u[i] = offset + float64(scale*u[i])
	}
	return u
}

// fullNames returns the full names of the variables of a model.
func fullNames(t *testing.T, m *keras.Functional) map[*trackable.Variable]string {
	g, err := trackable.Walk(m, nil)
	kerastest.Must(t, err)
	names := map[*trackable.Variable]string{}
	for id := range g.Nodes {
		if v := g.Nodes[id].Variable(); v != nil {
			names[v] = g.Nodes[id].FullName
		}
	}
	return names
}

func TestApplicationsAreTfKeras(t *testing.T) {
	var cases []modelCase
	kerastest.JSON(t, "testdata/models.json", &cases)
	tested := map[string]bool{}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			tested[c.Function] = true
			m, err := constructors[c.Function](t.Context(), c.options(t))
			kerastest.Must(t, err)
			checkConfig(t, &c, m)
			checkVariables(t, &c, m)
			if c.Input != nil && !t.Failed() {
				checkOutput(t, &c, m)
			}
		})
	}
	for name := range constructors {
		if !tested[name] {
			t.Errorf("there is no case of %s", name)
		}
	}
}

// checkConfig compares the config as a JSON value, for which the order of keys means nothing.
func checkConfig(t *testing.T, c *modelCase, m *keras.Functional) {
	got, err := keras.Config(m, nil)
	kerastest.Must(t, err)
	file, err := os.Open("testdata/configs/" + c.Name + ".json.gz")
	kerastest.Must(t, err)
	defer file.Close()
	z, err := gzip.NewReader(file)
	kerastest.Must(t, err)
	want, err := io.ReadAll(z)
	kerastest.Must(t, err)
	if sum := fmt.Sprintf("%x", sha256.Sum256(want)); sum != c.Config {
		t.Errorf("the stored config has the SHA-256 %s, want %s", sum, c.Config)
	}
	if a, b := sortedKeys(t, want), sortedKeys(t, got); !bytes.Equal(a, b) {
		kerastest.SameJSON(t, "config", a, b)
	}
}

// sortedKeys returns a JSON value with its keys in order.
func sortedKeys(t *testing.T, data []byte) []byte {
	var v any
	kerastest.Must(t, json.Unmarshal(data, &v))
	out, err := json.Marshal(v)
	kerastest.Must(t, err)
	return out
}

func checkVariables(t *testing.T, c *modelCase, m *keras.Functional) {
	names := fullNames(t, m)
	var lines []string
	parameters := 0
	vars := keras.Variables(m)
	for _, v := range vars {
		lines = append(lines, strings.ReplaceAll(fmt.Sprintf("%s:0%v", names[v], []int(v.Shape())), " ", ","))
		parameters += elements(v.Shape())
	}
	if len(vars) != c.Weights || parameters != c.Parameters {
		t.Errorf("%d variables with %d elements, want %d with %d", len(vars), parameters, c.Weights, c.Parameters)
	}
	if sum := fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(lines, "\n")))); sum != c.Shapes {
		t.Errorf("the variables have other names or shapes than tf_keras's: %q", lines)
	}
}

// checkOutput compares the output for weights and an input that are computed alike in Python.
// The difference may be 1e-5 of the largest element.
func checkOutput(t *testing.T, c *modelCase, m *keras.Functional) {
	names := fullNames(t, m)
	for i, v := range keras.Variables(m) {
		kerastest.Must(t, v.Store(converted(t, weight(names[v], v.Shape(), i, c.Gain), v.DType(), v.Shape())))
	}
	x := values(elements(c.Input), 999)
	if c.Pixels {
		for i := range x {
			x[i] = (x[i] + 1) * 127.5
		}
	}
	s := function.Eager(t.Context())
	y := m.Call(s, ops.ValueOf(converted(t, x, tensor.Float32, c.Input)))
	kerastest.Must(t, s.Err())
	out, err := y.Tensor()
	kerastest.Must(t, err)
	if !out.Shape().Equal(c.Shape) {
		t.Fatalf("the output's shape is %v, want %v", out.Shape(), c.Shape)
	}
	got, err := out.AppendFloat64s(nil, 0, min(out.Len(), len(c.Output)))
	kerastest.Must(t, err)
	largest := 1.0
	for _, v := range c.Output {
		largest = max(largest, math.Abs(v))
	}
	for i, want := range c.Output {
		if !(math.Abs(got[i]-want) <= 1e-5*largest) {
			t.Fatalf("element %d is %v, want %v (all: %v, want %v)", i, got[i], want, got, c.Output)
		}
	}
}

func converted(t *testing.T, v []float64, d tensor.DType, shape tensor.Shape) *tensor.Tensor {
	if d == tensor.Float32 {
		list := make([]float32, len(v))
		for i := range v {
			list[i] = float32(v[i])
		}
		x, err := tensor.New(list, shape...)
		kerastest.Must(t, err)
		return x
	}
	x, err := tensor.New(v, shape...)
	kerastest.Must(t, err)
	x, err = tensor.Cast(x, d)
	kerastest.Must(t, err)
	return x
}

func TestWeightsAreRandomUnlessTheyAreZero(t *testing.T) {
	for _, zero := range []bool{false, true} {
		m, err := MobileNet(t.Context(), &Options{NoTop: true, Alpha: 0.25, ZeroWeights: zero})
		kerastest.Must(t, err)
		kernel := keras.Variables(m)[0].Load()
		zeros, err := tensor.Zeros(tensor.Float32, kernel.Shape()...)
		kerastest.Must(t, err)
		if kernel.Equal(zeros) != zero {
			t.Errorf("ZeroWeights %v: the first kernel is %v", zero, kernel)
		}
	}
}

func TestWrongOptionsAreErrors(t *testing.T) {
	for want, opts := range map[string]*Options{
		"want a known size":                 {InputShape: tensor.Shape{-1, 64, 3}},
		"want images of 32x32":              {InputShape: tensor.Shape{31, 64, 3}},
		"want [height, width, channels]":    {InputShape: tensor.Shape{64, 64}},
		"has no Alpha":                      {Alpha: 0.5},
		"has no minimalistic form":          {Minimalistic: true},
		"has no preprocessing to leave out": {NoPreprocessing: true},
		"Classes is -1, want 1 or more":     {Classes: -1},
		`Pooling is "mean", want "avg"`:     {Pooling: "mean"},
		"its classifier returns logits":     {ClassifierActivation: activations.Softmax},
		"Alpha is NaN":                      {Alpha: math.NaN()},
	} {
		build := ResNet50
		switch {
		case strings.Contains(want, "NaN"):
			build = MobileNet
		case strings.Contains(want, "logits"):
			build = RegNetX002
		}
		if _, err := build(t.Context(), opts); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", *opts, err, want)
		}
	}
}
