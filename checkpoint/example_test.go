package checkpoint_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

type Layer struct {
	trackable.Base
	Kernel *trackable.Variable
}

func (l *Layer) Build(n int) error {
	return l.AddVariable(&l.Kernel, "kernel", trackable.VariableSpec{
		Shape: tensor.Shape{n},
		Init: func() (*tensor.Tensor, error) {
			fmt.Println("initializing the kernel")
			return tensor.Zeros(tensor.Float32, n)
		},
	})
}

type Training struct {
	Step *trackable.Scalar[int32]
	L1   *Layer
}

func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "run")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	first := &Training{trackable.NewScalar[int32](10), new(Layer)}
	if err := first.L1.Build(3); err != nil {
		log.Fatal(err)
	}
	ck, err := checkpoint.New(first, nil)
	if err != nil {
		log.Fatal(err)
	}
	path, err := ck.Save(ctx, filepath.Join(dir, "ckpt"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("saved", filepath.Base(path))

	// Another program restores before its layer is built.
	second := &Training{trackable.NewScalar[int32](0), new(Layer)}
	if ck, err = checkpoint.New(second, nil); err != nil {
		log.Fatal(err)
	}
	report, err := ck.Restore(ctx, path, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("step", second.Step.Get())
	fmt.Println("deferred:", report.Deferred[0].Path)
	if err := second.L1.Build(3); err != nil { // the kernel is made with its value
		log.Fatal(err)
	}
	fmt.Println("all restored:", report.AssertConsumed() == nil)
	// Output:
	// initializing the kernel
	// saved ckpt-1
	// step 10
	// deferred: l1.kernel
	// all restored: true
}

// A restore that doesn't fit changes nothing and lists the differences.
func ExampleCheckpoint_Restore_strict() {
	ctx, dir := context.Background(), vfs.MemDir()
	saved := &struct{ Weights *trackable.Variable }{trackable.NewVariable(tensor.Vector[float32](1, 2))}
	ck, err := checkpoint.New(saved, nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := ck.WriteTo(ctx, dir, "ckpt"); err != nil {
		log.Fatal(err)
	}
	renamed := &struct{ Weigths *trackable.Variable }{trackable.NewVariable(tensor.Vector[float32](0, 0))}
	if ck, err = checkpoint.New(renamed, nil); err != nil {
		log.Fatal(err)
	}
	_, err = ck.RestoreFS(ctx, dir, "ckpt", nil)
	var refused *checkpoint.RestoreError
	if errors.As(err, &refused) {
		fmt.Println("missing:", refused.Missing[0])
		fmt.Println("unused:", refused.Unused[0])
	}
	// Output:
	// missing: weigths float32[2]: the checkpoint has no value for this object (similar: weights)
	// unused: weights float32[2]: no object can take this value (similar: weigths)
}

func ExampleList() {
	list, err := checkpoint.List(context.Background(), "testdata/tf2.21/late_slots/ckpt-1")
	if err != nil {
		log.Fatal(err)
	}
	for _, v := range list {
		if v.DType == tensor.Float32 && v.Bytes > 4 {
			fmt.Println(v.Name, v.DType, v.Shape)
		}
	}
	// Output:
	// var/.ATTRIBUTES/VARIABLE_VALUE float32 [2]
	// var/.OPTIMIZER_SLOT/opt/momentum/.ATTRIBUTES/VARIABLE_VALUE float32 [2]
}

func ExampleView_Diff() {
	v, err := checkpoint.Open(context.Background(), "testdata/tf2.21/late_slots/ckpt-1", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer v.Close()
	d, err := v.Diff(&struct{ Var, Other *trackable.Variable }{
		trackable.NewVariable(tensor.Vector[float32](0, 0)), trackable.NewVariable(tensor.Scalar[float32](0)),
	})
	if err != nil {
		log.Fatal(err)
	}
	nodes := v.Nodes()
	for _, id := range d.OnlyCheckpoint {
		fmt.Println("only in the checkpoint:", nodes[id].Path)
	}
	for _, o := range d.OnlyObjects {
		fmt.Println("only in the program:", o.Path)
	}
	// Output:
	// only in the checkpoint: opt
	// only in the checkpoint: save_counter
	// only in the checkpoint: opt.iter
	// only in the checkpoint: opt.decay
	// only in the checkpoint: opt.learning_rate
	// only in the checkpoint: opt.momentum
	// only in the checkpoint: opt's slot "momentum" for var
	// only in the program: other
}

type Part struct{ trackable.Variable }

type Stack struct {
	trackable.Base
	Parts []*Part
}

// Stacks saves the parts of a Stack as one tensor.
var Stacks = checkpoint.Saver{
	Name: "stacks",
	Matches: func(o trackable.Trackable) bool {
		switch o.(type) {
		case *Stack, *Part:
			return true
		}
		return false
	},
	Save: func(ctx context.Context, call *checkpoint.SaveCall) ([]string, error) {
		w, err := call.NewWriter(nil)
		if err != nil {
			return nil, err
		}
		for prefix, st := range checkpoint.Only[*Stack](call.Objects) {
			var values []float32
			for _, p := range st.Parts {
				values = append(values, tensor.Values[float32](p.Load())...)
			}
			t, err := tensor.New(values, len(st.Parts), len(values)/len(st.Parts))
			if err != nil {
				return nil, err
			}
			if err := w.Add(ctx, prefix+"/value", t); err != nil {
				return nil, err
			}
		}
		return []string{call.Prefix}, w.Finish(ctx)
	},
	Restore: func(ctx context.Context, call *checkpoint.RestoreCall) error {
		for prefix, st := range checkpoint.Only[*Stack](call.Objects) {
			t, err := call.Reader.Read(ctx, prefix+"/value")
			if err != nil {
				return err
			}
			n := t.Len() / len(st.Parts)
			for i, p := range st.Parts {
				if err := p.Store(tensor.Vector(tensor.Values[float32](t)[i*n : (i+1)*n]...)); err != nil {
					return err
				}
			}
		}
		return nil
	},
}

func ExampleSavers() {
	ctx, dir := context.Background(), vfs.MemDir()
	savers := new(checkpoint.Savers)
	if err := savers.Register("Custom", Stacks); err != nil {
		log.Fatal(err)
	}
	part := func(x ...float32) *Part {
		p := new(Part)
		p.Init(tensor.Vector(x...))
		return p
	}
	st := &Stack{Parts: []*Part{part(1, 2), part(3, 4)}}
	ck, err := checkpoint.New(&struct{ Stack *Stack }{st}, &checkpoint.Options{Savers: savers})
	if err != nil {
		log.Fatal(err)
	}
	if err := ck.WriteTo(ctx, dir, "ckpt"); err != nil {
		log.Fatal(err)
	}
	v, err := checkpoint.OpenFS(ctx, dir, "ckpt", nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, x := range v.Values()[1:] {
		fmt.Println(x.Name, x.DType, x.Shape)
	}
	if _, err := ck.ReadFS(ctx, dir, "ckpt", nil); err != nil {
		log.Fatal(err)
	}
	fmt.Println(tensor.Values[float32](st.Parts[1].Load()))
	// Output:
	// stack/value float32 [2,2]
	// [3 4]
}
