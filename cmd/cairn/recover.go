package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cairnml/cairn/convert"
	"github.com/cairnml/cairn/inspect/render"
)

// newRecover returns the verb recover. An error with one checkpoint doesn't keep it from the next
// one; all errors are reported at the end.
func newRecover(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "recover CHECKPOINT…",
		Short: "Finish a write over a checkpoint that was cut off",
		Long: `Finish the replacement of a checkpoint that a crash has cut off: its files get
their names one by one, so a crash on the way leaves an old index beside new
data, or no index at all. By then the new checkpoint is whole on the disk, under
names of which some are temporary; recover gives it its names. A checkpoint that
is sound is left alone, all of it is read. Nobody may be writing it meanwhile.

It is an error where a checkpoint is damaged and nothing whole lies beside it.`,
		Example: `  cairn recover model/ckpt-10
  cairn verify model/ckpt-10 || cairn recover model/ckpt-10`,
		Args:              need(1, -1, "a CHECKPOINT"),
		ValidArgsFunction: completePaths,
		RunE: func(cmd *cobra.Command, args []string) error {
			type result struct {
				Path      string `json:"path"`
				Recovered bool   `json:"recovered"`
			}
			all := []result{}
			var errs []error
			for _, path := range args {
				prefix := convert.RecoverPrefix(path)
				done, err := convert.Recover(cmd.Context(), path)
				if err != nil {
					errs = append(errs, err)
					if cmd.Context().Err() != nil {
						break
					}
					continue
				}
				all = append(all, result{path, done})
				switch {
				case a.json:
				case done:
					fmt.Fprintf(a.out, "%s: finished; the checkpoint that was being written is in its place\n", render.Printable(prefix))
				default:
					fmt.Fprintf(a.out, "%s: sound, nothing to finish\n", render.Printable(prefix))
				}
			}
			if a.json {
				errs = append(errs, a.printJSONList(jsonList(all)))
			}
			return errors.Join(errs...)
		},
	}
}
