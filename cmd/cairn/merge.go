package main

import (
	"github.com/spf13/cobra"

	"github.com/cairnml/cairn/convert"
)

func newMerge(a *app) *cobra.Command {
	o := &convert.MergeOptions{}
	c := &cobra.Command{
		Use:   "merge SRC… DST",
		Short: "Make one checkpoint of several",
		Long: `Make one checkpoint, DST, of several. Checkpoints become its shards, their bytes
as they are, as when TensorFlow merges what several workers wrote; slices of one
tensor may come from several of them. A tensor that two sources have is an
error. Other kinds of files are merged tensor by tensor.

Of checkpoints that have object graphs, --join makes one: a root with one child
for each source, under the names given, which their tensors' names begin with.
tf.train.Checkpoint(enc=…, dec=…) restores the example's. --graph keeps one
graph and lets the other sources' tensors lie beside it.`,
		Example: `  cairn merge part-0 part-1 model/ckpt-1
  cairn merge encoder/ckpt-9 decoder/ckpt-4 both/ckpt-1 --join enc,dec
  cairn merge encoder.npz decoder.npz model/ckpt-1`,
		Args:              need(2, -1, "at least one SRC, and DST last"),
		ValidArgsFunction: completePaths,
		RunE: func(cmd *cobra.Command, args []string) error {
			bar := a.bytesBar("merging ")
			o.Progress, o.Source = bar.update, a.open
			res, err := convert.Merge(cmd.Context(), args[:len(args)-1], args[len(args)-1], o)
			bar.done()
			if err != nil {
				return err
			}
			return a.report(res, nil)
		},
	}
	c.Flags().StringSliceVar(&o.Join, "join", nil, "join object graphs under `NAMES`, one per SRC: a,b")
	c.Flags().StringVar(&o.Graph, "graph", "", "keep the object graph of this `SRC` alone")
	writeFlags(c, &o.Options)
	return c
}
