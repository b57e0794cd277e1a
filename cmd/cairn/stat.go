package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/maruel/natural"
	"github.com/spf13/cobra"

	"github.com/cairnml/cairn/cmd/cairn/internal/plot"
	"github.com/cairnml/cairn/inspect"
	"github.com/cairnml/cairn/inspect/render"
	"github.com/cairnml/cairn/tensorfile"
)

// The numbers are those of package inspect; this file chooses, sorts and prints them. The limits may
// change.

// maxPlots is the number of histograms in a picture that people can read.
const maxPlots = 60

// maxSorted is the number of tensors up to which they are put in natural order, as in lists: more
// would take seconds.
const maxSorted = 100_000

func newStat(a *app) *cobra.Command {
	var picture string
	var force bool
	c := &cobra.Command{
		Use:   "stat PATH [NAME…]",
		Short: "Sum up each tensor: range, mean, deviation, zeros, NaN",
		Long: `Sum up each tensor: least and largest value, mean, standard deviation, zeros,
NaN and infinities. The first four are over the finite values; of strings the
lengths are summed up. NAMEs keep tensors as they do for ls.`,
		Example: `  cairn stat model/ckpt-10
  cairn stat model/ckpt-10 kernel --plot kernels.svg
  cairn stat --json model/ckpt-10 | jq '.[] | select(.nan > 0)'`,
		Args:              need(1, -1, "a PATH"),
		ValidArgsFunction: completeNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			if picture != "" {
				if err := plot.CheckName(picture); err != nil {
					return usagef("--plot: %v", err)
				}
			}
			s, err := a.openFile(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			defer s.Close()
			if picture != "" {
				if err := checkPicture(s, picture, force); err != nil {
					return err
				}
			}
			list, err := s.Filter(cmd.Context(), args[1:])
			if err != nil {
				return err
			}
			var hists []plot.Histogram
			var done, total int64
			undrawn := 0
			none := "no tensors to sum up"
			list = list.Keep(func(e tensorfile.Entry) bool {
				if e.Name == tensorfile.GraphKey {
					none = "no tensors to sum up besides the object graph"
				}
				return e.Name != tensorfile.GraphKey
			})
			for e := range list.All() {
				total += e.Bytes
			}
			all := make([]inspect.Stats, 0, list.Len())
			bar := a.bytesBar("reading ")
			defer bar.done()
			var scratch tensorfile.Scratch
			var drawn []tensorfile.Entry // the first ones; the others are summed up together
			plain := list.Keep(func(e tensorfile.Entry) bool {
				n, err := e.Shape.NumElements()
				switch {
				case err != nil || picture == "" || !e.DType.Fixed() || n <= 1:
					return true
				case len(drawn) == maxPlots:
					undrawn++
					return true
				}
				drawn = append(drawn, e)
				return false
			})
			slices.SortStableFunc(drawn, func(a, b tensorfile.Entry) int {
				return natural.Compare(tensorfile.Short(a.Name), tensorfile.Short(b.Name))
			})
			for _, e := range drawn {
				if err := cmd.Context().Err(); err != nil {
					return err
				}
				h, err := inspect.HistEntry(cmd.Context(), s, e, &scratch, 50)
				if err != nil {
					return err
				}
				hists = append(hists, plot.Histogram{
					Title: tensorfile.Short(e.Name), Low: h.Low, BinWidth: h.BinWidth, Counts: h.Counts,
					Note: histogramNote(h.Stats),
				})
				all = append(all, h.Stats)
				done += e.Bytes
				bar.update(done, total)
			}
			err = inspect.StatEach(cmd.Context(), s, plain, func(e tensorfile.Entry, sum inspect.Stats) {
				all = append(all, sum)
				done += e.Bytes
				bar.update(done, total)
			})
			if err != nil {
				return err
			}
			if len(all) <= maxSorted {
				slices.SortStableFunc(all, func(a, b inspect.Stats) int {
					return natural.Compare(tensorfile.Short(a.Name), tensorfile.Short(b.Name))
				})
			}
			bar.done()
			if picture != "" {
				if len(hists) == 0 {
					return fmt.Errorf("%s: no tensor of numbers with more than one element to draw", s.Prefix)
				}
				if err := a.writePicture(s, picture, force, func(w io.Writer) error { return plot.Histograms(w, picture, hists) }); err != nil {
					return err
				}
				a.note("%s", histogramWords(len(hists), undrawn))
			}
			if a.json {
				return a.printJSONList(jsonList(all))
			}
			a.sayFound(s)
			if len(all) == 0 {
				fmt.Fprintln(a.out, none)
				return nil
			}
			printStats(a, all, numbered(list, s.VariableNames(cmd.Context())))
			return nil
		},
	}
	c.Flags().StringVar(&picture, "plot", "", "draw histograms to `FILE`.svg or .png")
	c.Flags().BoolVarP(&force, "force", "f", false, "replace the picture, if there is one")
	c.MarkFlagFilename("plot", "svg", "png")
	return c
}

// histogramNote returns the line below a histogram's title: type, shape, the least and
// the largest value, and the number of values that aren't finite.
func histogramNote(s inspect.Stats) string {
	note := fmt.Sprintf("%v %v", s.DType, s.Shape)
	if !math.IsNaN(s.Min) {
		note += fmt.Sprintf(", %s to %s", number(s.Min), number(s.Max))
	}
	if s.NaN > 0 {
		note += fmt.Sprintf(", %d NaN", s.NaN)
	}
	if n := s.Infinite(); n > 0 {
		note += fmt.Sprintf(", %d infinite", n)
	}
	return note
}

// histogramWords returns a text with the number of histograms in a picture, and
// of those left out.
func histogramWords(drawn, undrawn int) string {
	s := "1 histogram"
	if drawn > 1 {
		s = fmt.Sprintf("%d histograms", drawn)
	}
	if undrawn > 0 {
		s = fmt.Sprintf("the first %d of %d histograms; name the tensors to draw others", drawn, drawn+undrawn)
	}
	return s
}

func printStats(a *app, all []inspect.Stats, variables map[string]string) {
	t := &table{head: []string{"NAME", "MIN", "MAX", "MEAN", "STD", "ZEROS"}, right: []bool{false, true, true, true, true, true}}
	nan, inf := false, false
	for _, s := range all {
		nan = nan || s.NaN > 0
		inf = inf || s.Infinite() > 0
	}
	// Columns without information are left out.
	if nan {
		t.head, t.right = append(t.head, "NAN"), append(t.right, true)
	}
	if inf {
		t.head, t.right = append(t.head, "INF"), append(t.right, true)
	}
	t.withVariables(variables)
	odd := 0
	for _, s := range all {
		if s.NaN+s.Infinite() > 0 {
			odd++
		}
	}
	t.each = func(yield func([]string) bool) {
		for _, s := range all {
			row := []string{render.Printable(tensorfile.Short(s.Name)), number(s.Min), number(s.Max), number(s.Mean), number(s.Std), strconv.Itoa(s.Zeros)}
			if !s.DType.Fixed() {
				row[0] += " (lengths)"
			}
			if nan {
				row = append(row, strconv.Itoa(s.NaN))
			}
			if inf {
				row = append(row, strconv.Itoa(s.Infinite()))
			}
			if variables != nil {
				row = slices.Insert(row, 1, render.Printable(variables[s.Name]))
			}
			if !yield(row) {
				return
			}
		}
	}
	t.print(a)
	if odd > 0 {
		verb := "hold"
		if odd == 1 {
			verb = "holds"
		}
		fmt.Fprintf(a.out, "%d of %s %s NaN or infinities\n", odd, inspect.Tensors(len(all)), verb)
	}
}

// number prints a value with four digits.
func number(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	if v == 0 {
		return "0" // never -0
	}
	if v == math.Trunc(v) && math.Abs(v) < 1e6 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}
