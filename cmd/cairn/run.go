package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/internal/app/feed"
	"github.com/cairnml/cairn/internal/app/store"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

// runFlags are what the user asked of run.
type runFlags struct {
	signature, tags, inputs, outputs string
	grantRead, grantWrite            string
	force                            bool
}

func newRun(a *app) *cobra.Command {
	f := &runFlags{}
	c := &cobra.Command{
		Use:   "run DIR",
		Short: "Run a SavedModel's signature",
		Long: `Run a signature of a SavedModel. Inputs come from a .npz file, whose arrays have
the inputs' names, or from a .json file as TensorFlow Serving takes them. The
outputs go to a .npz or .json file, or as JSON to stdout.

Files are out of the model's reach, its own assets excepted, unless --grant-read
or --grant-write gives it a directory.`,
		Example: `  cairn run model --inputs in.npz --outputs out.npz
  cairn run model --signature classify --inputs in.json
  echo '{"inputs": [[1, 2, 3]]}' > in.json && cairn run model --inputs in.json`,
		Args: need(1, 1, "a DIR"),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, a, args[0]) },
	}
	c.Flags().StringVar(&f.signature, "signature", "serving_default", "the `NAME` of what to call")
	c.Flags().StringVar(&f.tags, "tags", "", "the MetaGraph's tags, if there are several: `A,B`")
	c.Flags().StringVar(&f.inputs, "inputs", "", "read the inputs from `FILE`")
	c.Flags().StringVar(&f.outputs, "outputs", "", "write the outputs to `FILE`")
	c.Flags().StringVar(&f.grantRead, "grant-read", "", "let the model read files in `DIR`")
	c.Flags().StringVar(&f.grantWrite, "grant-write", "", "let the model read and write files in `DIR`")
	c.Flags().BoolVarP(&f.force, "force", "f", false, "replace FILE, if there is one")
	return c
}

func (f *runFlags) files() *engine.Files {
	if f.grantRead == "" && f.grantWrite == "" {
		return nil
	}
	files := &engine.Files{}
	if f.grantRead != "" {
		files.Read = os.DirFS(f.grantRead)
	}
	if f.grantWrite != "" {
		files.Write = vfs.OSDir(f.grantWrite)
	}
	return files
}

func (f *runFlags) run(cmd *cobra.Command, a *app, dir string) error {
	ctx := cmd.Context()
	if f.outputs != "" {
		if !strings.HasSuffix(f.outputs, ".npz") && !strings.HasSuffix(f.outputs, ".json") {
			return usagef("--outputs writes .npz and .json files, not %s", f.outputs)
		}
		if err := store.CheckFree(f.outputs, f.force); err != nil {
			return err
		}
	}
	o := &savedmodel.LoadOptions{
		Kernels: kernel.All(), Signatures: []string{f.signature}, Files: f.files(), Log: a.err,
		Read: &savedmodel.ReadOptions{MaxMemory: a.open.MaxMemory},
	}
	if f.tags != "" {
		o.Tags = strings.Split(f.tags, ",")
	}
	m, err := savedmodel.Load(ctx, os.DirFS(dir), o)
	if err != nil {
		return err
	}
	s, err := m.Signature(f.signature)
	if err != nil {
		return err
	}
	in := map[string]*tensor.Tensor{}
	if f.inputs != "" {
		if in, err = feed.Read(ctx, f.inputs, s.Inputs()); err != nil {
			return err
		}
	}
	out, err := s.Call(ctx, in)
	if err != nil {
		return err
	}
	return f.write(a, out)
}

// write gives the outputs to the file or to stdout.
func (f *runFlags) write(a *app, out map[string]*tensor.Tensor) error {
	if f.outputs == "" {
		v, err := feed.JSON(out)
		if err != nil {
			return err
		}
		return a.printJSON(v)
	}
	w, err := store.CreateFile(f.outputs, f.force)
	if err != nil {
		return err
	}
	defer w.Abort()
	if strings.HasSuffix(f.outputs, ".npz") {
		err = feed.WriteNPZ(w, out)
	} else {
		err = writeJSON(w, out)
	}
	if err != nil {
		return err
	}
	if err := w.Commit(); err != nil {
		return err
	}
	a.note("wrote %s", f.outputs)
	return nil
}

func writeJSON(w io.Writer, out map[string]*tensor.Tensor) error {
	v, err := feed.JSON(out)
	if err != nil {
		return err
	}
	b, err := compactJSON(v)
	if err == nil {
		_, err = fmt.Fprintf(w, "%s\n", b)
	}
	return err
}
