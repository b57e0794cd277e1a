package cairn_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"regexp"

	"github.com/cairnml/cairn"
	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/convert"
	"github.com/cairnml/cairn/inspect"
	"github.com/cairnml/cairn/inspect/render"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/tensorfile"
	"github.com/cairnml/cairn/trackable"
)

// Save an object's variables, then look at the files as any tool may.
func Example() {
	dir, err := os.MkdirTemp("", "cairn")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()

	type Linear struct{ W, B *trackable.Variable }
	model := &Linear{
		W: trackable.NewVariable(tensor.Must(tensor.New([]float32{1, 2, 3, 4, 5, 6}, 3, 2))),
		B: trackable.NewVariable(tensor.Vector[float32](7, 8)),
	}
	ckpt, err := checkpoint.New(model, nil)
	if err != nil {
		log.Fatal(err)
	}
	path, err := ckpt.Save(ctx, filepath.Join(dir, "ckpt"))
	if err != nil {
		log.Fatal(err)
	}

	entries, err := cairn.List(ctx, dir, nil) // the directory's latest checkpoint
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range entries {
		fmt.Println(e.Name, e.DType, e.Shape)
	}
	b, err := cairn.Read(ctx, path, "b", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(tensor.Values[float32](b))
	// Output:
	// _CHECKPOINTABLE_OBJECT_GRAPH string []
	// b/.ATTRIBUTES/VARIABLE_VALUE float32 [2]
	// save_counter/.ATTRIBUTES/VARIABLE_VALUE int64 []
	// w/.ATTRIBUTES/VARIABLE_VALUE float32 [3,2]
	// [7 8]
}

// saved writes a small checkpoint and returns its prefix.
func saved(dir string) string {
	type Dense struct{ Kernel, Bias *trackable.Variable }
	root := &struct{ Net *Dense }{&Dense{
		Kernel: trackable.NewVariable(tensor.Must(tensor.New([]float32{-1, 0, 1, 2}, 2, 2))),
		Bias:   trackable.NewVariable(tensor.Vector[float32](0, 0.5)),
	}}
	ckpt, err := checkpoint.New(root, nil)
	if err != nil {
		log.Fatal(err)
	}
	prefix := filepath.Join(dir, "ckpt")
	if err := ckpt.Write(context.Background(), prefix); err != nil {
		log.Fatal(err)
	}
	return prefix
}

func tempDir() (dir string, remove func()) {
	dir, err := os.MkdirTemp("", "cairn")
	if err != nil {
		log.Fatal(err)
	}
	return dir, func() { os.RemoveAll(dir) }
}

func ExampleList_fileSystem() {
	dir, remove := tempDir()
	defer remove()
	saved(dir)
	entries, err := cairn.List(context.Background(), "ckpt", &tensorfile.Options{FS: os.DirFS(dir)}) // or an embed.FS, a zip, …
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range entries[1:] {
		fmt.Println(e.Name, e.Bytes, "bytes")
	}
	// Output:
	// net/bias/.ATTRIBUTES/VARIABLE_VALUE 8 bytes
	// net/kernel/.ATTRIBUTES/VARIABLE_VALUE 16 bytes
}

func ExampleRead() {
	dir, remove := tempDir()
	defer remove()
	path := saved(dir)
	kernel, err := cairn.Read(context.Background(), path, "net/kernel", nil)
	fmt.Println(tensor.Values[float32](kernel), err)
	_, err = cairn.Read(context.Background(), path, "net/kernle", nil)
	if missing, ok := errors.AsType[*tensorfile.NotFoundError](err); ok {
		fmt.Println("perhaps", missing.Nearest[0])
	}
	// Output:
	// [-1 0 1 2] <nil>
	// perhaps net/kernel
}

func ExampleStat() {
	dir, remove := tempDir()
	defer remove()
	stats, err := cairn.Stat(context.Background(), saved(dir), nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range stats {
		fmt.Printf("%s: %v to %v, mean %v, %d zeros\n", s.Name, s.Min, s.Max, s.Mean, s.Zeros)
	}
	// Output:
	// net/bias/.ATTRIBUTES/VARIABLE_VALUE: 0 to 0.5, mean 0.25, 1 zeros
	// net/kernel/.ATTRIBUTES/VARIABLE_VALUE: -1 to 2, mean 0.5, 1 zeros
}

func ExampleShow() {
	dir, remove := tempDir()
	defer remove()
	saved(dir)
	o := &inspect.ShowOptions{Open: tensorfile.Options{FS: os.DirFS(dir)}, Text: render.TextOptions{ASCII: true}}
	if err := cairn.Show(context.Background(), os.Stdout, "ckpt", o); err != nil {
		log.Fatal(err)
	}
	// Output:
	// ckpt  (2 tensors, 6 parameters, 24 B)
	// `- net
	//    |- kernel  float32 [2,2]
	//    `- bias    float32 [2]
}

func ExampleConvert() {
	dir, remove := tempDir()
	defer remove()
	w, err := cairn.Convert(context.Background(), saved(dir), filepath.Join(dir, "weights.safetensors"), nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(w.Files), "file,", w.Tensors, "tensors")
	// Output: 1 file, 2 tensors
}

func ExampleEdit() {
	dir, remove := tempDir()
	defer remove()
	changes, _, err := cairn.Edit(context.Background(), saved(dir), filepath.Join(dir, "new"), convert.Edits{
		Cast:   []convert.Cast{{Match: regexp.MustCompile("kernel"), To: tensor.Float64}},
		Rename: []convert.Rename{{Match: regexp.MustCompile("^net/"), With: "dense/"}},
	}, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range changes {
		fmt.Println(c.Name, "->", c.To, c.Cast)
	}
	// Output:
	// net/kernel/.ATTRIBUTES/VARIABLE_VALUE -> dense/kernel/.ATTRIBUTES/VARIABLE_VALUE float64
	// net/bias/.ATTRIBUTES/VARIABLE_VALUE -> dense/bias/.ATTRIBUTES/VARIABLE_VALUE
}

func ExampleMerge() {
	dir, remove := tempDir()
	defer remove()
	ctx, all := context.Background(), saved(dir)
	kernels, biases := filepath.Join(dir, "kernels.npz"), filepath.Join(dir, "biases.npz")
	for dst, drop := range map[string]string{kernels: "bias|^_", biases: "kernel|^_"} {
		e := convert.Edits{Drop: []*regexp.Regexp{regexp.MustCompile(drop)}}
		if _, _, err := cairn.Edit(ctx, all, dst, e, nil); err != nil {
			log.Fatal(err)
		}
	}
	both := filepath.Join(dir, "both")
	w, err := cairn.Merge(ctx, []string{kernels, biases}, both, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(w.Tensors, "tensors")

	faults, err := cairn.Verify(ctx, both, nil)
	fmt.Println(len(faults), "faults", err)
	diff, err := cairn.Diff(ctx, kernels, both, nil)
	fmt.Println(diff.Differences[0].Kind, diff.Differences[0].Name, err)
	// Output:
	// 2 tensors
	// 0 faults <nil>
	// only in B net/bias/.ATTRIBUTES/VARIABLE_VALUE <nil>
}
