package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cairnml/cairn/internal/inspect"
	"github.com/cairnml/cairn/internal/render"
)

func newVerify(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "verify PATH…",
		Short: "Check every checksum and all structure",
		Long: `Read all of a checkpoint and check it: every checksum, sizes and places, the
object graph. Each fault is listed with its file and the place in it. Exits
with 1 if there is any.`,
		Example: `  cairn verify model/ckpt-10
  cairn verify model && rsync -a model backup:     only if it holds
  cairn verify --json runs/*/ckpt-100.index`,
		Args:              need(1, -1, "a PATH"),
		ValidArgsFunction: completePaths,
		RunE: func(cmd *cobra.Command, args []string) error {
			type result struct {
				Path   string          `json:"path"`
				OK     bool            `json:"ok"`
				Faults []inspect.Fault `json:"faults"`
				Error  string          `json:"error,omitempty"` // why it could not be checked
			}
			var all []result
			var failed []error // what can't be checked hides no fault of the others
			bad := false
			for _, path := range args {
				bar := a.bytesBar("verifying ")
				s, faults, err := inspect.Verify(cmd.Context(), path, bar.update)
				bar.done()
				if cmd.Context().Err() != nil {
					return err
				}
				if err != nil {
					failed = append(failed, err)
					all = append(all, result{Path: path, Faults: []inspect.Fault{}, Error: trimPrefixes(err.Error())})
					continue
				}
				bad = bad || len(faults) > 0
				all = append(all, result{Path: path, OK: len(faults) == 0, Faults: append([]inspect.Fault{}, faults...)})
				if a.json {
					continue
				}
				for _, f := range faults {
					fmt.Fprintln(a.out, render.Printable(f.String()))
				}
				if len(faults) == 0 {
					var bytes int64
					for _, e := range s.Entries() {
						bytes += e.Bytes
					}
					fmt.Fprintf(a.out, "%s: sound, %d tensors, %s\n", s.Prefix, len(s.Entries()), inspect.Size(bytes))
				}
			}
			if a.json {
				if err := a.printJSONList(jsonList(all)); err != nil {
					return err
				}
			}
			if len(failed) > 0 {
				return errors.Join(failed...)
			}
			if bad {
				return errFound
			}
			return nil
		},
	}
}
