package inspect

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnml/cairn/convert"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/tensorfile"
)

func TestCountsArePrintedForPeople(t *testing.T) {
	for c, want := range map[Count]string{
		{}:                                    "0 tensors, 0 B",
		{Tensors: 1, Parameters: 1, Bytes: 4}: "1 tensor, 1 parameter, 4 B",
		{Tensors: 1000, Parameters: 999, Bytes: 1 << 10}:  "1,000 tensors, 999 parameters, 1.00 KiB",
		{Tensors: 2, Parameters: 1234567, Bytes: 1 << 20}: "2 tensors, 1,234,567 parameters, 1.00 MiB",
	} {
		if got := c.String(); got != want {
			t.Errorf("%+v: %q, want %q", c, got, want)
		}
	}
}

// Without an object graph, or with a faulty one, names show which tensors are an
// optimizer's.
func TestParametersAreTheModelsByName(t *testing.T) {
	three, one := tensor.Vector[float32](1, 2, 3), tensor.Scalar[float32](1)
	broken := &pb.TrackableObjectGraph{Nodes: []*pb.TrackableObject{{
		Children:   []*pb.ObjectReference{{NodeId: 7, LocalName: "x"}},
		Attributes: []*pb.SerializedTensor{{Name: "VARIABLE_VALUE", CheckpointKey: "kernel/Adam"}},
	}}}
	for _, c := range []struct {
		name    string
		tensors map[string]*tensor.Tensor
		want    Count
	}{
		{"TF1", map[string]*tensor.Tensor{"kernel": three, "kernel/Adam": three, "beta1_power": one, "beta2_power": one, "step": tensor.Scalar[int64](1)}, Count{5, 3, 40}},
		{"scopes like slots", map[string]*tensor.Tensor{"beta1_power/w": three, "beta2_power/w": three, "other/w": three}, Count{3, 9, 36}},
		{"Keras .h5", map[string]*tensor.Tensor{"model_weights/dense/kernel": three, "optimizer_weights/adam/m": three}, Count{2, 3, 24}},
		{"Keras .keras", map[string]*tensor.Tensor{"layers/dense/vars/0": three, "optimizer/vars/1": three, "metrics/mean/vars/0": one}, Count{3, 3, 28}},
		{"a module called metrics", map[string]*tensor.Tensor{"metrics/w": three}, Count{1, 3, 12}},
		{"TF2", map[string]*tensor.Tensor{"w/.ATTRIBUTES/VARIABLE_VALUE": three, "w/.OPTIMIZER_SLOT/opt/m/.ATTRIBUTES/VARIABLE_VALUE": three, "optimizer/rate": one, "z": tensor.Vector[complex64](1i)}, Count{4, 4, 36}},
		{"a broken graph", map[string]*tensor.Tensor{"kernel": three, "kernel/Adam": three, tensorfile.GraphKey: tensor.Scalar(string(broken.Marshal()))}, Count{2, 3, 24}},
	} {
		s := write(t, c.tensors)
		if got := CountOf(context.Background(), s, s.Entries()); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// An object graph determines the owner of a variable, whatever its name.
func TestParametersAreTheModelsByGraph(t *testing.T) {
	value := func(key string) []*pb.SerializedTensor {
		return []*pb.SerializedTensor{{Name: "VARIABLE_VALUE", CheckpointKey: key}}
	}
	g := &pb.TrackableObjectGraph{Nodes: []*pb.TrackableObject{
		{Children: []*pb.ObjectReference{{NodeId: 1, LocalName: "w"}, {NodeId: 2, LocalName: "optimizer"}}, Attributes: value("root")},
		{Attributes: value("optimizer/w")},
		{
			Children:      []*pb.ObjectReference{{NodeId: 3, LocalName: "rate"}},
			Attributes:    value("state of its own"),
			SlotVariables: []*pb.SlotVariableReference{{OriginalVariableNodeId: 1, SlotName: "m", SlotVariableNodeId: 4}},
		},
		{Attributes: value("rate")},
		{Attributes: value("slot")},
	}}
	tensors := map[string]*tensor.Tensor{tensorfile.GraphKey: tensor.Scalar(string(g.Marshal()))}
	for i, name := range []string{"root", "optimizer/w", "state of its own", "rate", "slot", "no object's"} {
		tensors[name] = tensor.Must(tensor.Zeros(tensor.Float32, 1<<(4*i)))
	}
	s := write(t, tensors)
	if got, want := CountOf(context.Background(), s, s.Entries()).Parameters, int64(0x100011); got != want {
		t.Errorf("%x parameters, want %x", got, want)
	}
}

// TestParametersAreAsKerasCountsThem checks files of models with 35 parameters, with
// metrics, optimizers and Keras 3's second list of all variables.
func TestParametersAreAsKerasCountsThem(t *testing.T) {
	for _, path := range []string{"keras2", "keras3_export", "keras3_checkpoint/ckpt"} {
		s, err := tensorfile.Open(t.Context(), filepath.Join("testdata", "tf2.21", path), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if got := CountOf(t.Context(), s, s.Entries()).Parameters; got != 35 {
			t.Errorf("%s: %d parameters, want 35", path, got)
		}
	}
}

// Between kinds of files, data that only one of them can hold is no difference.
func TestDiffAcrossKindsOfFiles(t *testing.T) {
	ctx := context.Background()
	graph := tensor.Scalar(string((&pb.TrackableObjectGraph{Nodes: []*pb.TrackableObject{{}}}).Marshal()))
	a := write(t, map[string]*tensor.Tensor{
		tensorfile.GraphKey: graph, "half": tensor.Vector(tensor.ToBF16(1), tensor.ToBF16(2)), "number": tensor.Vector[int32](1), "only": tensor.Scalar(true),
	})
	path := filepath.Join(t.TempDir(), "x.npz")
	if _, err := convert.Convert(ctx, a.Prefix, path, &convert.Options{}); err != nil {
		t.Fatal(err)
	}
	x, err := tensorfile.Open(ctx, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	b := write(t, map[string]*tensor.Tensor{
		tensorfile.GraphKey: graph, "half": tensor.Vector[float32](1, 2), "number": tensor.Vector[float32](1), "other": tensor.Scalar(true),
	})
	onlyA, onlyB := Difference{Kind: OnlyInA, Name: "only", A: "bool"}, Difference{Kind: OnlyInB, Name: "other", B: "bool"}
	dtypes := func(name, a, b string) Difference { return Difference{Kind: DTypes, Name: name, A: a, B: b} }
	for _, c := range []struct {
		what string
		a, b *tensorfile.File
		want []Difference
	}{
		{"a checkpoint and its .npz", a, x, nil},
		{"a .npz and its checkpoint", x, a, nil},
		{"a .npz and another checkpoint", x, b, []Difference{dtypes("number", "int32 [1]", "float32 [1]"), onlyA, onlyB}},
		{"another checkpoint and a .npz", b, x, []Difference{dtypes("number", "float32 [1]", "int32 [1]"), {Kind: OnlyInB, Name: "only", B: "bool"}, {Kind: OnlyInA, Name: "other", A: "bool"}}},
		{"two checkpoints", a, b, []Difference{dtypes("half", "bfloat16 [2]", "float32 [2]"), dtypes("number", "int32 [1]", "float32 [1]"), onlyA, onlyB}},
	} {
		got, err := Diff(ctx, c.a, c.b, nil)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.what, d)
		}
	}
	// A tolerance has numbers compared, not numbers with strings.
	for _, o := range []*DiffOptions{{ATol: 1}, {RTol: 1}} {
		if got, err := Diff(ctx, a, b, o); err != nil || len(got) != 2 {
			t.Errorf("with %+v: %+v, %v", *o, got, err)
		}
	}
	words := write(t, map[string]*tensor.Tensor{"half": tensor.Vector("1", "2"), "number": tensor.Vector[complex64](1)})
	for _, pair := range [][2]*tensorfile.File{{a, words}, {words, a}} {
		got, err := Diff(ctx, pair[0], pair[1], &DiffOptions{ATol: 1})
		if err != nil || !slices.ContainsFunc(got, func(d Difference) bool { return d.Name == "half" && d.Kind == DTypes }) ||
			!slices.ContainsFunc(got, func(d Difference) bool { return d.Name == "number" && d.Kind == DTypes }) {
			t.Errorf("numbers and others: %+v, %v", got, err)
		}
	}
	// Two files of one kind both hold all that the kind can, and a checkpoint of
	// either version holds all.
	as := func(s *tensorfile.File, name string) *tensorfile.File {
		path := filepath.Join(t.TempDir(), name)
		if _, err := convert.Convert(ctx, s.Prefix, path, &convert.Options{}); err != nil {
			t.Fatal(err)
		}
		out, err := tensorfile.Open(ctx, path, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { out.Close() })
		return out
	}
	half, full := map[string]*tensor.Tensor{"half": tensor.Vector(tensor.ToBF16(1))}, map[string]*tensor.Tensor{"half": tensor.Vector[float32](1)}
	got, err := Diff(ctx, as(write(t, half), "a.safetensors"), as(write(t, full), "b.safetensors"), nil)
	if d := cmp.Diff([]Difference{dtypes("half", "bfloat16 [1]", "float32 [1]")}, got); err != nil || d != "" {
		t.Errorf("two files of one kind: %v (-want +got):\n%s", err, d)
	}
}

func TestDiffSaysHowFarItIs(t *testing.T) {
	vector := func(n int) *tensor.Tensor { return tensor.Must(tensor.Zeros(tensor.Int8, n)) }
	a := write(t, map[string]*tensor.Tensor{"a": vector(1), "c": vector(4), "d": vector(8), "f": vector(16)})
	b := write(t, map[string]*tensor.Tensor{"b": vector(2), "c": vector(4), "d": vector(9)})
	var got [][2]int64
	if _, err := Diff(context.Background(), a, b, &DiffOptions{Progress: func(done, total int64) { got = append(got, [2]int64{done, total}) }}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([][2]int64{{1, 29}, {1, 29}, {5, 29}, {13, 29}, {29, 29}}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// 64-bit integers differ by their exact difference, though as floats they may be the
// same.
func TestDiffOfLargeIntegersIsExact(t *testing.T) {
	a := write(t, map[string]*tensor.Tensor{"i": tensor.Vector[int64](-1<<63, 5), "u": tensor.Vector[uint64](1<<63, 1<<64-1)})
	b := write(t, map[string]*tensor.Tensor{"i": tensor.Vector[int64](-1<<63+2, 5), "u": tensor.Vector[uint64](1<<63-1, 1<<64-1)})
	for _, pair := range [][2]*tensorfile.File{{a, b}, {b, a}} {
		got, err := Diff(context.Background(), pair[0], pair[1], nil)
		if err != nil || len(got) != 2 {
			t.Fatalf("%+v, %v", got, err)
		}
		for i, want := range []float64{2, 1} {
			if d := got[i]; d.Differ != 1 || d.Count != 2 || d.MaxAbs == nil || *d.MaxAbs != want {
				t.Errorf("%s: %+v differ by %v, want by %v", d.Name, d, *d.MaxAbs, want)
			}
		}
	}
}
