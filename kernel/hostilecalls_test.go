package kernel_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/testkit/opfixture"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/tensor"
)

// hostileCalls makes calls of ops that don't occur by accident: tensors without
// elements and with huge dimensions, sizes of any magnitude, wrong ranks, odd
// texts. The same op and number return the same call.
type hostileCalls struct {
	fixtures map[string][]opfixture.Fixture
	tb       testing.TB
}

// hostileCall is one call of an op.
type hostileCall struct {
	op    string
	attrs graph.Attrs
	in    []hostileInput
}

// hostileInput is a tensor, or a handle that an op makes.
type hostileInput struct {
	tensor *tensor.Tensor
	make   *maker
	value  *tensor.Tensor // of a variable
}

func newHostileCalls(tb testing.TB) *hostileCalls {
	return &hostileCalls{tb: tb, fixtures: opfixture.Load(tb, "testdata/tf2.21")}
}

// dice draws the parts of one call.
type dice struct {
	*rand.Rand
	sizes []int
	most  int // elements that an input has
}

func (h *hostileCalls) call(op string, seed uint64) *hostileCall {
	name := fnv.New64a()
	_, _ = name.Write([]byte(op))
	d := &dice{Rand: rand.New(rand.NewPCG(name.Sum64(), seed))}
	d.most = 1 << 14
	if d.oneIn(40) {
		d.most = 1 << 20 // for kernels that don't look at their context
	}
	d.drawSizes()
	def := kernel.All().Definition(op)
	fixtures := h.fixtures[op]
	if len(fixtures) > 0 && (def == nil || d.IntN(3) > 0) {
		return h.fromFixture(d, def, fixtures[d.IntN(len(fixtures))])
	}
	if def == nil {
		return nil
	}
	return d.fromDefinition(def)
}

// drawSizes draws the few sizes of which all shapes of a call are made, so that they
// often fit each other.
func (d *dice) drawSizes() {
	some := []int{0, 1, 1, 2, 2, 3, 4, 5, 7, 8, 16, 33, 100, 1000}
	rare := []int64{0, 10_000, 65_536, 1 << 20, 1 << 30, 1<<31 - 1, 1 << 31, 1 << 40, 1 << 62, math.MaxInt64}
	for range 2 + d.IntN(3) {
		d.sizes = append(d.sizes, some[d.IntN(len(some))])
	}
	if d.most > 1<<14 {
		large := []int{1 << 10, 1 << 17, 1 << 20, 1000, 100, 512}
		d.sizes = append(d.sizes, large[d.IntN(len(large))], large[d.IntN(len(large))])
	} else if d.IntN(3) == 0 {
		d.sizes = append(d.sizes, int(min(rare[d.IntN(len(rare))], math.MaxInt)))
	}
}

func (d *dice) oneIn(n int) bool { return d.IntN(n) == 0 }

func (d *dice) size() int { return d.sizes[d.IntN(len(d.sizes))] }

// shape draws a shape, mostly of few dimensions, that a tensor can have.
func (d *dice) shape(rank int) []int {
	if rank < 0 {
		rank = []int{0, 0, 1, 1, 1, 2, 2, 2, 3, 4, 4, 5, 6, 8}[d.IntN(14)]
	}
	for range 20 {
		dims, n := make([]int, rank), 1
		zero := false
		for i := range dims {
			dims[i] = d.size()
			if dims[i] == 0 {
				zero = true
			} else if n > d.most/dims[i] {
				n = d.most + 1
			} else {
				n *= dims[i]
			}
		}
		if n <= d.most || zero {
			if _, err := tensor.Zeros(tensor.Bool, dims...); err == nil {
				return dims
			}
		}
	}
	return make([]int, rank)
}

// tensor draws a tensor of a type; of a shape if dims is not nil.
func (d *dice) tensor(t tensor.DType, dims []int) *tensor.Tensor {
	if dims == nil {
		dims = d.shape(-1)
	}
	v, err := tensor.Zeros(t, dims...)
	if err != nil {
		v = tensor.Must(tensor.Zeros(tensor.Float32))
	}
	d.fill(v)
	return v
}

// fill draws the elements of a tensor.
func (d *dice) fill(v *tensor.Tensor) {
	style := d.IntN(6)
	switch v.DType() {
	case tensor.String:
		some := []string{d.text(), d.text(), d.text()}
		for i := range v.Strings() {
			if v.Strings()[i] = some[i%len(some)]; i < 1<<12 {
				v.Strings()[i] = d.text()
			}
		}
	case tensor.Float32:
		for i, x := range tensor.Values[float32](v) {
			tensor.Values[float32](v)[i] = float32(d.number(style, i, float64(x)))
		}
	case tensor.Float64:
		for i, x := range tensor.Values[float64](v) {
			tensor.Values[float64](v)[i] = d.number(style, i, x)
		}
	case tensor.Int32:
		for i := range tensor.Values[int32](v) {
			tensor.Values[int32](v)[i] = int32(d.integer(style, i))
		}
	case tensor.Int64:
		for i := range tensor.Values[int64](v) {
			tensor.Values[int64](v)[i] = d.integer(style, i)
		}
	case tensor.Bool:
		for i := range v.Bytes() {
			v.Bytes()[i] = byte(d.IntN(2))
		}
	default:
		for i := range v.Bytes() {
			switch style {
			case 0, 1:
				v.Bytes()[i] = byte(d.IntN(256))
			case 2:
				v.Bytes()[i] = byte(d.IntN(3))
			}
		}
	}
}

func (d *dice) number(style, i int, _ float64) float64 {
	switch style {
	case 0:
		return d.NormFloat64()
	case 1:
		return float64(d.IntN(9) - 3)
	case 2:
		return []float64{0, 1, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat32, math.MaxFloat64, 5e-324, -1, 1e9, 1e15}[d.IntN(11)]
	case 3:
		return float64(i)
	case 4:
		return d.Float64()
	}
	return 1e6 * d.ExpFloat64()
}

func (d *dice) integer(style, i int) int64 {
	switch style {
	case 0:
		return int64(d.IntN(9) - 3)
	case 1:
		return int64(i)
	case 2:
		return int64(d.size())
	case 3:
		return int64(d.IntN(4))
	case 4:
		return 1
	}
	return d.wild()
}

func (d *dice) wild() int64 {
	if d.IntN(3) > 0 {
		return int64(d.IntN(9) - 3)
	}
	return []int64{math.MinInt64, math.MaxInt64, math.MinInt32, math.MaxInt32, 1 << 40, -1 << 40, 1 << 62, 1 << 20, 1000, 100_000, 1 << 25}[d.IntN(11)]
}

var hostileTexts = []string{
	"", "a", " ", "hello world, hello", "\xff\xfe", "日本語", "0", "-1", "1e999", "nan", "9223372036854775807", "(a*)*b", "a{1000}{10}", "[", "(?i)é",
	"%s%d%", "a,b,\"c\"\"d\",", "{\"a\": [1, 2, {}]}", "\x0a\x03\x0a\x01a", "\x78\x9c\x03\x00\x00\x00\x00\x01", "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03",
	"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x7f\xff\xff\xff\x7f\xff\xff\xff\x08\x02\x00\x00\x00", "GIF89a\xff\xff\xff\xff\x00\x00\x00", "BM", "\xff\xd8\xff\xe0",
	"RIFF\xff\xff\xff\xffWAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00", "AAAA", "===", "1 2 3",
}

func (d *dice) text() string {
	switch d.IntN(12) {
	case 0:
		return strings.Repeat("a", d.IntN(2000))
	case 1:
		most := 100
		if d.most > 1<<14 && d.oneIn(4) {
			most = 100_000
		}
		return strings.Repeat(hostileTexts[d.IntN(len(hostileTexts))], 1+d.IntN(most))
	case 2:
		b := make([]byte, d.IntN(40))
		for i := range b {
			b[i] = byte(d.IntN(256))
		}
		return string(b)
	}
	return hostileTexts[d.IntN(len(hostileTexts))]
}

// fromFixture changes a call that TensorFlow takes.
func (h *hostileCalls) fromFixture(d *dice, def *graph.OpDef, f opfixture.Fixture) *hostileCall {
	c := &hostileCall{op: f.Op, attrs: f.EngineAttrs(h.tb)}
	changes := 1 + d.IntN(3)
	for i, x := range f.In {
		v := x.Tensor(h.tb)
		if len(f.In) <= 2 || d.IntN(len(f.In)) < changes {
			v = d.change(v)
		}
		if i < f.Vars && !d.oneIn(20) {
			c.in = append(c.in, hostileInput{value: v})
			continue
		}
		c.in = append(c.in, hostileInput{tensor: v})
	}
	if len(c.attrs) > 0 && d.oneIn(3) {
		i := d.IntN(len(c.attrs))
		a := graph.AttrDef{Name: c.attrs[i].Name, Kind: c.attrs[i].Kind}
		if def != nil && def.Attr(a.Name) != nil {
			a = *def.Attr(a.Name)
		}
		if v, ok := d.attr(&a); ok {
			c.attrs = c.attrs.Set(v)
		}
	}
	if len(c.in) > 0 && d.oneIn(30) {
		c.in = c.in[:len(c.in)-1]
	}
	return c
}

// change draws another form of a tensor: shape, elements or type.
func (d *dice) change(v *tensor.Tensor) *tensor.Tensor {
	switch d.IntN(8) {
	case 0, 1, 2: // one size
		dims := v.Shape().Clone()
		if len(dims) == 0 {
			dims = []int{1}
		}
		dims[d.IntN(len(dims))] = d.size()
		if n, err := tensor.Shape(dims).NumElements(); err == nil && n <= d.most {
			if w, err := tensor.Zeros(v.DType(), dims...); err == nil {
				if v.Len() > 0 && v.DType().Fixed() && d.IntN(2) > 0 {
					for at := 0; at < len(w.Bytes()); at += len(v.Bytes()) {
						copy(w.Bytes()[at:], v.Bytes())
					}
				} else {
					d.fill(w)
				}
				return w
			}
		}
	case 3: // rank
		return d.tensor(v.DType(), nil)
	case 4: // type
		types := tensor.DTypes()
		if w, err := tensor.Zeros(types[d.IntN(len(types))], v.Shape()...); err == nil {
			return w
		}
	case 5: // one element
		if v.Len() > 0 && v.DType().Fixed() {
			v = v.Clone()
			one := d.tensor(v.DType(), []int{1})
			copy(v.Bytes()[d.IntN(v.Len())*v.DType().Size():], one.Bytes())
		}
		return v
	}
	v = v.Clone()
	d.fill(v)
	return v
}

// attr draws a value of an attribute.
func (d *dice) attr(a *graph.AttrDef) (graph.Attr, bool) {
	number := func() int64 {
		if n := d.wild(); n >= a.Minimum || !a.HasMinimum || d.oneIn(10) {
			return n
		}
		return a.Minimum
	}
	text := func() string {
		if n := len(a.AllowedStrings); n > 0 && !d.oneIn(20) {
			return a.AllowedStrings[d.IntN(n)]
		}
		return d.text()
	}
	kind := func() tensor.DType {
		if n := len(a.AllowedTypes); n > 0 && !d.oneIn(20) {
			return a.AllowedTypes[d.IntN(n)]
		}
		common := []tensor.DType{tensor.Float32, tensor.Int32, tensor.Int64, tensor.String, tensor.Bool, tensor.Float64, tensor.Uint8, tensor.BFloat16, tensor.Variant}
		return common[d.IntN(len(common))]
	}
	n := d.IntN(5)
	switch a.Kind {
	case graph.AttrInt:
		return graph.Int(a.Name, number()), true
	case graph.AttrFloat:
		return graph.Float(a.Name, d.number(d.IntN(6), 0, 0)), true
	case graph.AttrBool:
		return graph.Bool(a.Name, d.IntN(2) == 0), true
	case graph.AttrString:
		return graph.String(a.Name, text()), true
	case graph.AttrType:
		return graph.Type(a.Name, kind()), true
	case graph.AttrShape:
		if d.oneIn(4) {
			return graph.Shape(a.Name, graph.PartialShape{}), true
		}
		return graph.Shape(a.Name, graph.ShapeOf(d.shape(-1)...)), true
	case graph.AttrTensor:
		return graph.Tensor(a.Name, d.tensor(kind(), nil)), true
	case graph.AttrInts:
		list := make([]int64, n)
		for i := range list {
			list[i] = number()
			if d.oneIn(3) {
				list[i] = int64(d.size())
			}
		}
		if n >= 4 && d.IntN(2) > 0 { // windows and steps over images
			list[0], list[3] = 1, 1
		}
		return graph.Ints(a.Name, list...), true
	case graph.AttrFloats:
		list := make([]float64, n)
		for i := range list {
			list[i] = d.number(d.IntN(6), i, 0)
		}
		return graph.Floats(a.Name, list...), true
	case graph.AttrBools:
		return graph.Bools(a.Name, make([]bool, n)...), true
	case graph.AttrStrings:
		list := make([]string, n)
		for i := range list {
			list[i] = text()
		}
		return graph.Strings(a.Name, list...), true
	case graph.AttrTypes:
		list := make([]tensor.DType, max(n, int(a.Minimum)))
		for i := range list {
			list[i] = kind()
		}
		return graph.Types(a.Name, list...), true
	case graph.AttrShapes:
		list := make([]graph.PartialShape, n)
		for i := range list {
			if !d.oneIn(3) {
				list[i] = graph.ShapeOf(d.shape(-1)...)
			}
		}
		return graph.Shapes(a.Name, list...), true
	case graph.AttrFunc:
		return graph.Func(a.Name, hostileFunction(d)), true
	case graph.AttrFuncs:
		return graph.Funcs(a.Name, graph.Callee{Function: hostileFunction(d)}, graph.Callee{Function: hostileFunction(d)}), true
	}
	return graph.Attr{}, false
}

// hostileFunction draws a function of one to three arguments that returns some of them,
// or sums of them.
func hostileFunction(d *dice) *graph.Function {
	f := graph.NewFunction("f")
	types := []tensor.DType{tensor.Float32, tensor.Int32, tensor.Int64, tensor.String, tensor.Bool}
	t := types[d.IntN(len(types))]
	for range 1 + d.IntN(3) {
		if _, err := f.AddArg("", graph.Fact{DType: t}); err != nil {
			return f
		}
	}
	for _, a := range f.Args[:1+d.IntN(len(f.Args))] {
		o := a.Output(0)
		if d.IntN(2) > 0 && t != tensor.Bool && t != tensor.String {
			n := &graph.Node{Op: "AddV2", In: []graph.Output{o, f.Args[0].Output(0)}, Def: graph.LookupOp("AddV2")}
			var err error
			if n.Attrs, n.Out, err = n.Def.Bind(nil, []graph.Fact{{DType: t}, {DType: t}}); err == nil && f.Graph.Add(n) == nil {
				o = n.Output(0)
			}
		}
		f.AddResult("", o)
	}
	return f
}

// fromDefinition draws attributes and inputs that fit an op's definition, mostly.
func (d *dice) fromDefinition(def *graph.OpDef) *hostileCall {
	c := &hostileCall{op: def.Name}
	for i := range def.Attrs {
		a := &def.Attrs[i]
		if a.HasDefault() && d.IntN(3) > 0 {
			continue
		}
		isNumber := false
		for _, in := range def.Inputs {
			isNumber = isNumber || in.NumberAttr == a.Name
		}
		if isNumber {
			c.attrs = append(c.attrs, graph.Int(a.Name, max(a.Minimum, int64(d.IntN(4)))))
		} else if v, ok := d.attr(a); ok {
			c.attrs = append(c.attrs, v)
		}
	}
	for i := range def.Inputs {
		a := &def.Inputs[i]
		types := []tensor.DType{a.Type}
		switch {
		case a.TypeListAttr != "":
			types = c.attrs.Types(a.TypeListAttr)
		case a.TypeAttr != "":
			t := c.attrs.Type(a.TypeAttr, tensor.Invalid)
			if t == tensor.Invalid {
				if v, ok := def.Attr(a.TypeAttr).Default(); ok {
					t, _ = v.Value().(tensor.DType)
				}
			}
			types[0] = t
		}
		if a.NumberAttr != "" {
			t := types[0]
			types = nil
			for range min(c.attrs.Int(a.NumberAttr, 1), 8) {
				types = append(types, t)
			}
		}
		for _, t := range types {
			c.in = append(c.in, d.input(def.Name, a, t))
		}
	}
	return c
}

// input draws an input of a type.
func (d *dice) input(op string, a *graph.ArgDef, t tensor.DType) hostileInput {
	switch {
	case a.Ref:
		if t == tensor.String {
			return hostileInput{value: tensor.Must(tensor.Zeros(tensor.Float32, 2))}
		}
		return hostileInput{value: d.tensor(t, nil)}
	case t == tensor.Resource, t == tensor.Variant:
		return d.handle(op, t)
	case !t.Valid():
		return hostileInput{tensor: d.tensor(tensor.Float32, nil)}
	case d.oneIn(3): // scalars are common
		return hostileInput{tensor: d.tensor(t, []int{})}
	}
	return hostileInput{tensor: d.tensor(t, nil)}
}

// maker is how a handle is made.
type maker struct {
	part  string // of the names of ops that take it
	op    string
	attrs graph.Attrs
	in    []*tensor.Tensor
	data  []*maker // further inputs
}

var (
	hostileTypes  = graph.Types("output_types", tensor.Int64)
	hostileShapes = graph.Shapes("output_shapes", graph.PartialShape{})
	numbers       = &maker{part: "Dataset", op: "RangeDataset", attrs: graph.Attrs{hostileTypes, hostileShapes},
		in: []*tensor.Tensor{tensor.Scalar[int64](0), tensor.Scalar[int64](1 << 40), tensor.Scalar[int64](1)}}
	resourceMakers = []*maker{
		{part: "Table", op: "HashTableV2", attrs: graph.Attrs{graph.Type("key_dtype", tensor.String), graph.Type("value_dtype", tensor.Int64)}},
		{part: "Table", op: "MutableHashTableV2", attrs: graph.Attrs{graph.Type("key_dtype", tensor.Int64), graph.Type("value_dtype", tensor.Float32)}},
		{part: "Table", op: "MutableHashTableOfTensorsV2", attrs: graph.Attrs{graph.Type("key_dtype", tensor.Int64), graph.Type("value_dtype", tensor.Float32), graph.Shape("value_shape", graph.ShapeOf(2))}},
		{part: "Queue", op: "FIFOQueueV2", attrs: graph.Attrs{graph.Types("component_types", tensor.Float32)}},
		{part: "TensorArray", op: "TensorArrayV3", attrs: graph.Attrs{graph.Type("dtype", tensor.Float32), graph.Bool("dynamic_size", true)}, in: []*tensor.Tensor{tensor.Scalar[int32](3)}},
		{part: "Stack", op: "StackV2", attrs: graph.Attrs{graph.Type("elem_type", tensor.Float32)}, in: []*tensor.Tensor{tensor.Scalar[int32](-1)}},
		{part: "Barrier", op: "BarrierV2", attrs: graph.Attrs{graph.Types("component_types", tensor.Float32)}},
		{part: "Accumulator", op: "ResourceConditionalAccumulator", attrs: graph.Attrs{graph.Type("dtype", tensor.Float32), graph.Shape("shape", graph.PartialShape{})}},
		{part: "Iterator", op: "IteratorV2", attrs: graph.Attrs{graph.String("shared_name", ""), graph.String("container", ""), hostileTypes, hostileShapes}},
	}
	variantMakers = []*maker{
		numbers,
		{part: "Dataset", op: "RepeatDataset", attrs: graph.Attrs{hostileTypes, hostileShapes}, data: []*maker{numbers}, in: []*tensor.Tensor{tensor.Scalar[int64](-1)}},
		{part: "TensorList", op: "TensorListReserve", attrs: graph.Attrs{graph.Type("element_dtype", tensor.Float32), graph.Type("shape_type", tensor.Int32)}, in: []*tensor.Tensor{tensor.Scalar[int32](-1), tensor.Scalar[int32](3)}},
		{part: "TensorList", op: "TensorListFromTensor", attrs: graph.Attrs{graph.Type("element_dtype", tensor.Float32), graph.Type("shape_type", tensor.Int32)}, in: []*tensor.Tensor{filled[float32](1, 4, 2), tensor.Vector[int32](2)}},
		{part: "Optional", op: "OptionalFromValue", attrs: graph.Attrs{graph.Types("Toutput_types", tensor.Float32)}, in: []*tensor.Tensor{tensor.Scalar[float32](1)}},
		{part: "Optional", op: "OptionalNone"},
		{part: "TensorMap", op: "EmptyTensorMap"},
		{part: "Ragged", op: "RaggedTensorToVariant", attrs: graph.Attrs{graph.Type("Tvalues", tensor.Float32), graph.Type("Tsplits", tensor.Int64), graph.Int("RAGGED_RANK", 1), graph.Bool("batched_input", false)}, in: []*tensor.Tensor{tensor.Vector[int64](0, 2), tensor.Vector[float32](1, 2)}},
		{part: "CSR", op: "DenseToCSRSparseMatrix", attrs: graph.Attrs{graph.Type("T", tensor.Float32)}, in: []*tensor.Tensor{filled[float32](1, 2, 2), tensor.Must(tensor.New([]int64{0, 0, 1, 1}, 2, 2))}},
	}
)

// handle draws a handle, mostly of a kind that the op takes.
func (d *dice) handle(op string, t tensor.DType) hostileInput {
	makers := variantMakers
	if t == tensor.Resource {
		makers = resourceMakers
	}
	var fit []*maker
	for _, m := range makers {
		if strings.Contains(op, m.part) || m.part == "CSR" && strings.Contains(op, "SparseMatrix") {
			fit = append(fit, m)
		}
	}
	switch {
	case len(fit) > 0 && !d.oneIn(20):
		return hostileInput{make: fit[d.IntN(len(fit))]}
	case t == tensor.Resource && !d.oneIn(20):
		types := []tensor.DType{tensor.Float32, tensor.Float32, tensor.Float64, tensor.Int64, tensor.BFloat16}
		return hostileInput{value: d.tensor(types[d.IntN(len(types))], nil)}
	}
	return hostileInput{make: makers[d.IntN(len(makers))]}
}

// run makes the handle.
func (m *maker) run(env *engine.Env) (engine.Value, error) {
	var in []engine.Value
	for _, d := range m.data {
		v, err := d.run(env)
		if err != nil {
			return engine.Value{}, err
		}
		in = append(in, v)
	}
	for _, x := range m.in {
		in = append(in, engine.ValueOf(x))
	}
	p, err := kernel.All().PrepareEager(m.op, m.attrs, in)
	if err != nil {
		return engine.Value{}, fmt.Errorf("%s: %w", m.op, err)
	}
	var call engine.Runner
	call.Begin(context.Background(), env)
	for _, v := range in {
		call.Add(v)
	}
	if err := call.Run(p); err != nil {
		return engine.Value{}, fmt.Errorf("%s: %w", m.op, err)
	}
	return call.Results()[0].Keep(), nil
}
