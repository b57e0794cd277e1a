package run_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/savedmodel/run"
	"github.com/cairnml/cairn/tensor"
)

// largeModel returns a model whose graph is so large that it stays on the disk: n functions of
// two traces, and a signature that calls the first.
func largeModel(t *testing.T, n int) []byte {
	t.Helper()
	var p pb.SavedModel
	if err := pb.UnmarshalText(manyFunctions(n), &p); err != nil {
		t.Fatal(err)
	}
	g := p.MetaGraphs[0]
	def, err := g.GraphDef.Get()
	if err != nil {
		t.Fatal(err)
	}
	var top pb.GraphDef
	if err := pb.UnmarshalText([]byte("node { "+call("y", "x", "__inference_f0_0")+" } node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } }"), &top); err != nil {
		t.Fatal(err)
	}
	def.Node = top.Node
	info := func(name string) []*pb.TensorInfoEntry {
		return []*pb.TensorInfoEntry{{Key: name, Value: &pb.TensorInfo{Which: pb.TensorInfoName, Name: name + ":0", Dtype: pb.DataTypeFloat, TensorShape: &pb.TensorShapeProto{UnknownRank: true}}}}
	}
	g.SignatureDef = []*pb.SignatureDefEntry{{Key: "serving_default", Value: &pb.SignatureDef{Inputs: info("x"), Outputs: info("y")}}}
	b := p.Marshal()
	if len(b) < 300<<10 {
		t.Fatalf("the model has %d bytes: it is read whole", len(b))
	}
	return b
}

// works calls the signature and a function that nothing reaches.
func works(m *run.Model, function int) error {
	x := tensor.Scalar[float32](3)
	out, err := m.Call(ctx, "serving_default", map[string]*tensor.Tensor{"x": x})
	if err != nil {
		return err
	}
	if v := tensor.Values[float32](out["y"])[0]; v != 6 {
		return fmt.Errorf("the signature gives %v, want 6", v)
	}
	f, err := m.Function(fmt.Sprint("f", function))
	if err != nil {
		return err
	}
	y, err := f.Call(ctx, []any{x, true}, nil)
	if err != nil {
		return err
	}
	if v := tensor.Values[float32](y.(*tensor.Tensor))[0]; v != 9 {
		return fmt.Errorf("the function gives %v, want 9", v)
	}
	return nil
}

// TestLargeGraphsAreReadOnDemand checks that calls read the functions that they need
// later, from many goroutines too, even if the file was removed or replaced. A
// file that was overwritten is an error.
func TestLargeGraphsAreReadOnDemand(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files are read whole where an open one can't be removed")
	}
	const n = 800
	data := largeModel(t, n)
	dir := t.TempDir()
	file := filepath.Join(dir, "saved_model.pb")
	load := func() *run.Model {
		t.Helper()
		if err := os.WriteFile(file, data, 0o666); err != nil {
			t.Fatal(err)
		}
		m, err := run.Load(ctx, os.DirFS(dir), &run.LoadOptions{Kernels: kernel.All()})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	for what, change := range map[string]func() error{
		"left":    func() error { return nil },
		"removed": func() error { return os.Remove(file) },
		"replaced": func() error {
			return errors.Join(os.WriteFile(file+"2", []byte("x"), 0o666), os.Rename(file+"2", file))
		},
	} {
		m := load()
		if err := change(); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				if err := works(m, n-1-i%2); err != nil {
					t.Errorf("a file that was %s: %v", what, err)
				}
			})
		}
		wg.Wait()
		os.Remove(file)
	}
	for what, over := range map[string][]byte{"cut": data[:len(data)/2], "of other bytes": bytes.Repeat([]byte{0xff}, len(data)+1)} {
		m := load()
		if err := os.WriteFile(file, over, 0o666); err != nil { // into the file that is open
			t.Fatal(err)
		}
		if err := works(m, n-1); !errors.Is(err, savedmodel.ErrChanged) {
			t.Errorf("a file that is %s: %v, want %v", what, err, savedmodel.ErrChanged)
		}
	}
}

// unseekable is a file system whose files can only be read from the beginning.
type unseekable struct{ fs.FS }

func (u unseekable) Open(name string) (fs.File, error) {
	f, err := u.FS.Open(name)
	if err != nil {
		return nil, err
	}
	return struct{ fs.File }{f}, nil
}

// TestLargeGraphsAreReadFromAnyFileSystem: of files that can be read anywhere and of those that can't, of
// files in memory, and without a directory.
func TestLargeGraphsAreReadFromAnyFileSystem(t *testing.T) {
	data := largeModel(t, 800)
	mem := fstest.MapFS{"saved_model.pb": {Data: data}}
	for name, fsys := range map[string]fs.FS{"in memory": mem, "in order only": unseekable{mem}} {
		m, err := run.Load(ctx, fsys, &run.LoadOptions{Kernels: kernel.All()})
		if err != nil {
			t.Fatal(name, err)
		}
		if err := works(m, 799); err != nil {
			t.Error(name, err)
		}
	}
	s, err := savedmodel.Unmarshal(data, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := run.LoadMetaGraph(ctx, s.MetaGraphs[0], &run.LoadOptions{Kernels: kernel.All()})
	if err != nil {
		t.Fatal(err)
	}
	if err := works(m, 799); err != nil {
		t.Error(err)
	}
}

// TestErrorsOfFunctionsReadOnDemandNameThem: those in a function that nothing reaches are told
// when it is asked for, wherever in it they are.
func TestErrorsOfFunctionsReadOnDemandNameThem(t *testing.T) {
	data := largeModel(t, 800)
	at := bytes.Index(data, []byte("__inference_f7_0"))
	at += bytes.Index(data[at:], []byte("AddV2"))
	data[at-1]++ // the length of the op's name
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "saved_model.pb"), data, 0o666); err != nil {
		t.Fatal(err)
	}
	m, err := run.Load(ctx, os.DirFS(dir), &run.LoadOptions{Kernels: kernel.All()})
	if err != nil {
		t.Fatal(err)
	}
	if err := works(m, 8); err != nil {
		t.Errorf("another function: %v", err)
	}
	f, err := m.Function("f7")
	if err != nil {
		t.Fatal(err)
	}
	var fault *graph.NodeDefError
	if _, err := f.Call(ctx, []any{tensor.Scalar[float32](3), false}, nil); !errors.As(err, &fault) || fault.Function != "__inference_f7_0" || !strings.Contains(err.Error(), "saved_model.pb") {
		t.Errorf("%v", err)
	}
}
