package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cairnml/cairn/convert"
	"github.com/cairnml/cairn/inspect"
	"github.com/cairnml/cairn/inspect/render"
	"github.com/cairnml/cairn/tensorfile"
)

func newVerify(a *app) *cobra.Command {
	var full bool
	c := &cobra.Command{
		Use:   "verify PATH…",
		Short: "Check every checksum and all structure",
		Long: `Read all of a checkpoint and check it: every checksum, sizes and places, the
object graph; of a SavedModel's directory its graphs, functions, assets and the
hashes of its fingerprint too.
Each fault is listed with its file and the place in it, a missing file once;
after the first 100 the others are counted, unless --full or --json asks for
all. Exits with 1 if there is any.`,
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

				Recoverable bool `json:"recoverable,omitempty"`
			}
			var all []result
			var failed []error // an input that can't be checked hides no fault of the others
			bad := false
			for _, given := range args {
				path := given
				model, isModel := a.modelDir(path)
				if isModel {
					path = model
				}
				var notes []string
				bar := a.bytesBar("verifying ")
				s, faults, err := inspect.Verify(cmd.Context(), path, &inspect.VerifyOptions{Open: a.open, Progress: bar.update, Note: func(note string) { notes = append(notes, note) }})
				bar.done()
				if cmd.Context().Err() != nil {
					return err
				}
				if err != nil {
					failed = append(failed, err)
					all = append(all, result{Path: given, Faults: []inspect.Fault{}, Error: trimPrefixes(err.Error())})
					continue
				}
				a.sayElsewhere(s)
				for _, n := range notes {
					a.note("not verified: %s", render.Printable(n))
				}
				bad = bad || len(faults) > 0
				prefix := path
				if s != nil {
					prefix = s.Prefix
				}
				recoverable := len(faults) > 0 && convert.Recoverable(cmd.Context(), prefix)
				all = append(all, result{Path: given, OK: len(faults) == 0, Faults: append([]inspect.Fault{}, faults...), Recoverable: recoverable})
				if a.json {
					continue
				}
				shown := faults
				if !full && len(faults) > maxFaults {
					shown = faults[:maxFaults]
				}
				for _, f := range shown {
					fmt.Fprintln(a.out, render.Printable(f.String()))
				}
				if n := len(faults) - len(shown); n > 0 {
					fmt.Fprintf(a.out, "… %d more; --full lists them\n", n)
				}
				switch {
				case len(faults) == 0 && s == nil:
					fmt.Fprintf(a.out, "%s: sound, %s, no variables\n", path, modelParts)
				case len(faults) == 0:
					what, count := s.Prefix+": sound", inspect.CountOf(cmd.Context(), s, s.Entries())
					if isModel {
						what = path + ": sound, " + modelParts
					}
					fmt.Fprintf(a.out, "%s, %v\n", what, count)
				default:
					fmt.Fprintln(a.out, faultWords(path, s, faults))
				}
				if recoverable {
					fmt.Fprintf(a.out, "a write over it was cut off, cairn recover finishes it\n")
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
	c.Flags().BoolVar(&full, "full", false, "list every fault, however many")
	return c
}

// modelParts are the parts of a SavedModel that are checked besides its
// checkpoint.
const modelParts = "a SavedModel's graphs, functions and assets"

// maxFaults is the number of a checkpoint's faults that are printed without --full. It may change, together with
// the help.
const maxFaults = 100

// faultWords returns the line that sums the faults up. s is nil if the model has no checkpoint.
func faultWords(path string, s *tensorfile.File, faults []inspect.Fault) string {
	if s != nil && !slices.ContainsFunc(faults, func(f inspect.Fault) bool { return !strings.HasPrefix(f.File, s.Prefix) }) {
		path = s.Prefix // no file of a SavedModel is at fault besides those of its checkpoint
	}
	n, bad := len(faults), 0
	tensors := map[string]bool{}
	for _, f := range faults {
		bad += f.Tensors
		if f.Tensor != "" && f.Tensor != tensorfile.GraphKey {
			tensors[f.Tensor] = true
		}
	}
	words := "1 fault"
	if n > 1 {
		words = fmt.Sprintf("%d faults", n)
	}
	if bad += len(tensors); bad > 0 && s != nil {
		all := s.Entries().Len()
		if s.Has(tensorfile.GraphKey) {
			all-- // nor is it counted elsewhere
		}
		words += fmt.Sprintf(", in %d of %s", bad, inspect.Tensors(all))
	}
	return path + ": damaged, " + words
}
