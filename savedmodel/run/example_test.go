package run_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"

	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/savedmodel/run"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

// A model has its own state, which its functions change: bump adds to a
// variable. Another instance starts with the weights of the file again.
func ExampleLoad() {
	ctx := context.Background()
	model, err := run.Load(ctx, os.DirFS("../testdata/models/module"), &run.LoadOptions{Kernels: kernel.All()})
	if err != nil {
		fmt.Println(err) // all ops without a kernel in one error, with the places that need them
		return
	}
	again, err := model.Instantiate(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range []*run.Model{model, model, again} {
		out, err := m.Call(ctx, "bump", map[string]*tensor.Tensor{"by": tensor.Scalar[int64](5)})
		fmt.Println(out["output_0"], err)
	}
	// Output:
	// 5 <nil>
	// 10 <nil>
	// 5 <nil>
}

// A function that hangs in the object graph takes arguments as its Python function
// did: by position, or by name.
func ExampleModel_Function() {
	ctx := context.Background()
	model, err := run.Load(ctx, os.DirFS("../testdata/models/module"), &run.LoadOptions{Kernels: kernel.All()})
	if err != nil {
		fmt.Println(err)
		return
	}
	branch, err := model.Function("branch")
	if err != nil {
		fmt.Println(err) // lists the paths that are most like it
		return
	}
	y, err := branch.Call(ctx, []any{tensor.Vector[float32](1, 2)}, map[string]any{"n": int32(3)})
	fmt.Println(y, err)
	// Output: [3. 7.] <nil>
}

// A frozen graph has no signatures: Prune takes the feeds and fetches.
func ExampleLoadGraphDef() {
	ctx := context.Background()
	m, err := run.LoadGraphDef(ctx, os.DirFS("../testdata/graphs"), "frozen.pb", &run.LoadOptions{Kernels: kernel.All()})
	if err != nil {
		fmt.Println(err)
		return
	}
	top, err := m.Prune([]string{"y"}, []string{"top:1"})
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := top.Call(ctx, map[string]*tensor.Tensor{"y": tensor.Must(tensor.New([]float32{1, 5, 2, 4}, 1, 4))})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(out["top:1"])
	// Output: [[1 3]]
}

func ExampleModel_Save() {
	ctx := context.Background()
	m, err := run.Load(ctx, os.DirFS("../testdata/models/module"), &run.LoadOptions{Kernels: kernel.All()})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := m.Call(ctx, "bump", map[string]*tensor.Tensor{"by": tensor.Scalar[int64](3)}); err != nil {
		fmt.Println(err)
		return
	}
	dir := vfs.MemDir()
	if err := m.Save(ctx, dir, "bumped", nil); err != nil {
		fmt.Println(err)
		return
	}
	fsys, err := fs.Sub(dir, "bumped")
	if err != nil {
		fmt.Println(err)
		return
	}
	again, err := run.Load(ctx, fsys, &run.LoadOptions{Kernels: kernel.All()})
	if err != nil {
		fmt.Println(err)
		return
	}
	count, err := again.Variable("count")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(count.Load())
	// Output:
	// 3
}
