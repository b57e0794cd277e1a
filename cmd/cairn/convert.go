package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	front "github.com/cairnml/cairn"
	"github.com/cairnml/cairn/convert"
	"github.com/cairnml/cairn/inspect"
	"github.com/cairnml/cairn/keras/rescue"
)

// writeFlags declares the flags that convert, edit and merge share.
func writeFlags(c *cobra.Command, o *convert.Options) {
	c.Flags().BoolVarP(&o.Force, "force", "f", false, "replace what DST names")
	c.Flags().BoolVar(&o.Lossy, "lossy", false, "allow what can't be undone")
	c.Flags().Var((*size)(&o.MaxAlignment), "max-alignment", "follow a file that aligns tensors to so many `BYTES`")
}

// report prints the written files: their names on stdout, notes and sizes on stderr. The verbs
// convert, edit and merge end with it. changes are those of edit, nil for the others.
func (a *app) report(res *convert.Result, changes []convert.Change) error {
	for _, n := range res.Notes {
		a.note("note: %s", n)
	}
	if a.json {
		if changes == nil {
			changes = []convert.Change{}
		}
		return a.printJSON(struct {
			Files   []string         `json:"files"`
			Tensors int              `json:"tensors"`
			Bytes   int64            `json:"bytes"`
			Changes []convert.Change `json:"changes"`
			Notes   []string         `json:"notes"`
		}{append([]string{}, res.Files...), res.Tensors, res.Bytes, changes, append([]string{}, res.Notes...)})
	}
	for _, f := range res.Files {
		fmt.Fprintln(a.out, f)
	}
	if res.Tensors == 0 && len(res.Files) > 0 { // a SavedModel
		a.note("%d files", len(res.Files))
		return nil
	}
	a.note("%s, %s", inspect.Tensors(res.Tensors), inspect.Size(res.Bytes))
	return nil
}

// rescues reports whether src is a whole model of Keras that becomes one of the other version.
// If not, convert.Convert handles src, and reports the errors that rescues ignores.
func rescues(ctx context.Context, src, dst string) bool {
	archive := strings.HasSuffix(strings.ToLower(dst), ".keras")
	if !archive && !convert.IsModelTarget(dst) {
		return false
	}
	info, err := os.Stat(src)
	if err != nil || info.IsDir() && !archive {
		return false
	}
	version := rescue.Open(ctx, src)
	return version == 2 || version == 3 && !(archive && strings.HasSuffix(strings.ToLower(src), ".keras"))
}

func newConvert(a *app) *cobra.Command {
	o := &convert.Options{Run: front.Runner()}
	c := &cobra.Command{
		Use:   "convert SRC DST",
		Short: "Convert checkpoints, SavedModels, .npz, .safetensors, Keras files",
		Long: `Convert SRC to DST, whose kind its suffix says: .npz, .safetensors, .h5, .keras,
else the prefix of a checkpoint.

A SavedModel becomes another SavedModel if DST has no suffix and does not end in
a number as checkpoints do, or ends in a slash. The model is restored and saved:
objects, functions, signatures, assets and tables follow. A graph of TensorFlow
1 is written again with its signatures, collections and variables.

A checkpoint that becomes a .safetensors file keeps its object graph, strings
and layout in the file's metadata: converted back it is the same, byte for byte.
Where that can't be promised, nothing is converted. In a .npz bfloat16 and
float8 widen to float32 and strings become S arrays, which drop NULs at a
string's end: such a string is refused. --lossy allows both.

A whole Keras model moves between versions. A SavedModel, .h5 or .keras file of
Keras 2 becomes a .keras file that Keras 3 loads; a .keras or .h5 file of either
becomes a SavedModel that tf_keras and TensorFlow Serving load. Outputs stay the
same. Notes say what could not be carried over.

Another .keras or .h5 file of Keras becomes one of the same format with all that
it holds. Other kinds take its weights alone, with --lossy if that leaves
something out. Everything becomes an .h5 file with a dataset for each tensor.`,
		Example: `  cairn convert model/ckpt-10 weights.npz
  cairn convert model/ckpt-10 weights.safetensors
  cairn convert weights.safetensors model/ckpt-1
  cairn convert saved_model model/ckpt-1            a SavedModel's variables
  cairn convert saved_model copy                    a SavedModel
  cairn convert keras2_model new.keras              for Keras 3
  cairn convert new.keras served/                   for tf_keras and Serving
  cairn convert --lossy model.keras weights.npz     a Keras model's weights`,
		Args:              need(2, 2, "a SRC and a DST"),
		ValidArgsFunction: completePaths,
		RunE: func(cmd *cobra.Command, args []string) error {
			if rescues(cmd.Context(), args[0], args[1]) {
				res, err := rescue.Convert(cmd.Context(), args[0], args[1], &rescue.Options{Force: o.Force, MaxMemory: a.open.MaxMemory})
				if err != nil {
					return err
				}
				return a.report(&convert.Result{Files: res.Files, Tensors: res.Weights, Bytes: res.Bytes, Notes: res.Notes}, nil)
			}
			bar := a.bytesBar("converting ")
			o.Progress, o.Source = bar.update, a.open
			res, err := convert.Convert(cmd.Context(), args[0], args[1], o)
			bar.done()
			if err != nil {
				return err
			}
			return a.report(res, nil)
		},
	}
	writeFlags(c, o)
	return c
}
