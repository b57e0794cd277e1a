package graph

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/tensor"
)

// get decodes a message.
func get[M any](t testing.TB, l *pb.Lazy[M]) *M {
	t.Helper()
	m, err := l.Get()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// tfStructures returns the structured values of TensorFlow's SavedModels and odd
// ones, by the place where they were found.
func tfStructures(t testing.TB) map[string]*pb.StructuredValue {
	out := map[string]*pb.StructuredValue{}
	dir := "../internal/pb/testdata/tf2.21/"
	var odd pb.StructuredValue
	read(t, dir+"tensorflow.StructuredValue.odd.pb.gz", &odd)
	out["odd"] = &odd
	files, _ := filepath.Glob(dir + "tensorflow.SavedModel.*.pb.gz")
	for _, f := range files {
		var m pb.SavedModel
		read(t, f, &m)
		for _, meta := range m.MetaGraphs {
			if meta.ObjectGraphDef == nil {
				continue
			}
			objects := get(t, meta.ObjectGraphDef)
			for _, e := range objects.ConcreteFunctions {
				out[e.Key+" in"], out[e.Key+" out"] = get(t, e.Value.CanonicalizedInputSignature), get(t, e.Value.OutputSignature)
			}
			for _, n := range objects.Nodes {
				if n.Function != nil && n.Function.FunctionSpec != nil {
					spec := get(t, n.Function.FunctionSpec)
					out[f+" fullargspec"], out[f+" signature"] = spec.Fullargspec, spec.InputSignature
				}
			}
		}
	}
	if len(out) < 20 {
		t.Fatalf("%d structured values", len(out))
	}
	return out
}

func TestStructuresOfTensorFlowRoundTrip(t *testing.T) {
	for name, p := range tfStructures(t) {
		if p == nil {
			continue
		}
		s, err := structureFromProto(p)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		back, err := s.proto()
		if err != nil || !bytes.Equal(back.Marshal(), p.Marshal()) {
			t.Errorf("%s: %v is written as another message (%v)", name, s, err)
		}
		if !s.Equal(s) || !s.Accepts(s) {
			t.Errorf("%s: %v doesn't accept itself", name, s)
		}
	}
}

func TestAChangedStructureIsWrittenAsItIsNow(t *testing.T) {
	odd := tfStructures(t)["odd"]
	s, err := structureFromProto(odd)
	if err != nil {
		t.Fatal(err)
	}
	was := s.Elems[0]
	s.Elems[0] = StaticOf("changed")
	p, err := s.proto()
	if err != nil {
		t.Fatal(err)
	}
	again, err := structureFromProto(p)
	if err != nil || !again.Elems[0].Equal(s.Elems[0]) || again.Elems[0].Equal(was) {
		t.Errorf("%v (%v)", again, err)
	}
}

func floatSpec(dims ...int) *Structure {
	return TensorOf("", Fact{DType: tensor.Float32, Shape: ShapeOf(dims...)})
}

func TestStructuresAcceptWhatTheyDescribe(t *testing.T) {
	in := func(x *Structure, static any) *Structure {
		return NamedOf("In", []string{"x", "k"}, []*Structure{x, StaticOf(static)})
	}
	bounded := func(s *Structure) *Structure {
		s.Min = tensor.Scalar[float32](1)
		return s
	}
	rank, rows, exact := TensorOf("", Fact{DType: tensor.Float32}), floatSpec(-1, 4), floatSpec(2, 4)
	for _, c := range []struct {
		s, o *Structure
		want bool
	}{
		{in(rank, true), in(floatSpec(2, 5), true), true},
		{in(rows, true), in(floatSpec(2, 5), true), false},
		{in(rows, true), in(exact, true), true},
		{in(exact, true), in(rows, true), false},
		{in(rows, true), in(exact, false), false},
		{in(rows, true), in(exact, int64(1)), true},
		{in(rows, int64(2)), in(exact, 2.0), true},
		{in(rows, int64(2)), in(exact, "2"), false},
		{in(rows, int64(1<<53)), in(exact, int64(1<<53+1)), false},
		{bounded(floatSpec(-1)), floatSpec(3), true},
		{bounded(floatSpec(-1)), bounded(floatSpec(3)), true},
		{floatSpec(-1), bounded(floatSpec(3)), false},
		{ListOf(rows), TupleOf(rows), false},
	} {
		if got := c.s.Accepts(c.o); got != c.want {
			t.Errorf("%v accepts %v: %v", c.s, c.o, got)
		}
	}
	if StaticOf(true).Equal(StaticOf(int64(1))) {
		t.Error("True and 1 are accepted for each other, but they aren't equal in a file")
	}
}

func TestAMisfitIsNamed(t *testing.T) {
	in := func(x *Structure, training bool) *Structure {
		return NamedOf("In", []string{"x", "training"}, []*Structure{x, StaticOf(training)})
	}
	list := []*Structure{in(floatSpec(2, 4), true), in(floatSpec(-1, 4), true), in(floatSpec(-1, 4), false)}
	e := &NoFitError{in(floatSpec(2, 5), true), list}
	if !strings.Contains(e.Error(), "fits none of the function's 3 signatures\n  In(x: float32[2,4], training: true)") {
		t.Errorf("no fit: %v", e)
	}
	e = &NoFitError{in(floatSpec(2, 5), false), list[2:]}
	if !strings.Contains(e.Error(), "x is float32[2,5], not float32[?,4]") {
		t.Errorf("one candidate: %v", e)
	}
}

func TestPartsOfCompositesAreTheirTensors(t *testing.T) {
	shape := StaticOf(ShapeOf(3, -1, 5))
	dtype, i64 := StaticOf(tensor.Float32), StaticOf(tensor.Int64)
	for name, c := range map[string]struct {
		s    *Structure
		want string
	}{
		"sparse": {&Structure{Kind: CompositeStructure, Composite: &Composite{Class: SparseComposite, Tensors: 3, State: TupleOf(shape, dtype)}},
			"int64[?,3] float32[?] int64[3]"},
		"ragged": {&Structure{Kind: CompositeStructure, Composite: &Composite{Class: RaggedComposite, Tensors: 2, State: TupleOf(shape, dtype, StaticOf(int64(1)), i64)}},
			"float32[?,5] int64[4]"},
		"slices": {&Structure{Kind: CompositeStructure, Composite: &Composite{Class: SlicesComposite, Tensors: 3, State: TupleOf(shape, dtype, i64, i64, StaticOf(ShapeOf(-1)))}},
			"float32[?,?,5] int64[?] int64[3]"},
		"variable": {&Structure{Kind: CompositeStructure, Composite: &Composite{Class: VariableComposite, Tensors: 1}}, "resource"},
		"other":    {&Structure{Kind: CompositeStructure, Composite: &Composite{Class: ExtensionComposite, Tensors: 2}}, "dtype(0)<unknown> dtype(0)<unknown>"},
	} {
		var got []string
		for _, l := range c.s.Flatten() {
			got = append(got, l.Fact.String())
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", name, got, c.want)
		}
	}
}

func TestGoValuesWithoutAFormInFilesAreNamed(t *testing.T) {
	s := NamedOf("In", []string{"x", "opts"}, []*Structure{floatSpec(1), ListOf(StaticOf(complex(1, 2)))})
	if _, err := s.proto(); err == nil || !strings.Contains(err.Error(), "opts: element 0: a static complex128") {
		t.Errorf("%v", err)
	}
}
