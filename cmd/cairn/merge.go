package main

import (
	"github.com/spf13/cobra"

	"github.com/cairnml/cairn/internal/rewrite"
)

func newMerge(a *app) *cobra.Command {
	o := &rewrite.Options{}
	c := &cobra.Command{
		Use:   "merge SRC… DST",
		Short: "Make one checkpoint of several",
		Long: `Make one checkpoint, DST, of several. Checkpoints become its shards, their bytes
as they are, as when TensorFlow merges what several workers wrote; slices of one
tensor may come from several of them. A tensor that two sources have is an
error. Other kinds of files are merged tensor by tensor.`,
		Example: `  cairn merge part-0 part-1 model/ckpt-1
  cairn merge encoder.npz decoder.npz model/ckpt-1`,
		Args:              need(2, -1, "at least one SRC, and DST last"),
		ValidArgsFunction: completePaths,
		RunE: func(cmd *cobra.Command, args []string) error {
			bar := a.bytesBar("merging ")
			o.Progress = bar.update
			res, err := rewrite.Merge(cmd.Context(), args[:len(args)-1], args[len(args)-1], o)
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
