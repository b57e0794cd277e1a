package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/internal/app/render"
	"github.com/cairnml/cairn/internal/app/store"
	"github.com/cairnml/cairn/vfs"
)

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
				prefix := prefixOf(path)
				done, err := bundle.Recover(cmd.Context(), vfs.OSDir(filepath.Dir(prefix)), filepath.Base(prefix))
				if err != nil {
					err = fmt.Errorf("%s: %w", prefix, err)
					if _, there := os.Stat(bundle.IndexName(prefix)); there != nil {
						err = cmp.Or(store.CheckForeign(prefix), err)
					}
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

// prefixOf returns the prefix of the checkpoint that a path means, which needn't have
// an index: of one that a write over it was cut off from.
func prefixOf(path string) string {
	if prefix, _, _, ok := bundle.ParseDataName(path); ok {
		return prefix
	}
	if found, err := bundle.FindFile(path); err == nil && found.Kind != bundle.FoundV1 {
		return found.Prefix
	}
	return strings.TrimSuffix(path, bundle.IndexName(""))
}

// cutOff reports whether a write over a checkpoint was cut off and can be finished.
func cutOff(ctx context.Context, path string) bool {
	prefix := prefixOf(path)
	can, err := bundle.Recoverable(ctx, os.DirFS(filepath.Dir(prefix)), filepath.Base(prefix))
	return can && err == nil
}
