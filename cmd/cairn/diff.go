package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cairnml/cairn/inspect"
	"github.com/cairnml/cairn/inspect/render"
	"github.com/cairnml/cairn/tensorfile"
)

func newDiff(a *app) *cobra.Command {
	o := &inspect.DiffOptions{}
	var valuesOnly bool
	c := &cobra.Command{
		Use:   "diff A B",
		Short: "Compare names, types, shapes, values and object graphs",
		Long: `Compare two checkpoints, or a checkpoint with a .npz or .safetensors file:
names, types, shapes, values and, where both have one, object graphs. Of two
SavedModels it also compares signatures, functions (by what they compute),
objects and assets, and lists what isn't compared. Values are equal if
|a-b| <= atol + rtol*|b|; NaN equals NaN. With a tolerance types may differ too,
and the numbers count. Exits with 1 if anything differs.`,
		Example: `  cairn diff model/ckpt-9 model/ckpt-10
  cairn diff --rtol 1e-5 ours/ckpt-1 theirs/ckpt-1
  cairn diff model/ckpt-10 weights.npz`,
		Args:              need(2, 2, "two PATHs to compare"),
		ValidArgsFunction: completePaths,
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, v := range []float64{o.RTol, o.ATol} {
				if !(v >= 0) || math.IsInf(v, 0) {
					return usagef("a tolerance is a number of at least 0, not %v", v)
				}
			}
			bar := a.bytesBar("comparing ")
			o.Progress, o.Graph, o.OpenA, o.OpenB = bar.update, !valuesOnly, a.open, a.open
			found, err := inspect.Compare(cmd.Context(), args[0], args[1], o)
			bar.done()
			if err != nil {
				return err
			}
			for _, n := range found.Notes {
				a.note("%s", n)
			}
			if a.json {
				err = a.printJSONList(jsonList(found.Differences))
			} else {
				printDiff(a, found)
			}
			if len(found.NotCompared) > 0 {
				a.note("not compared: %s", render.Printable(strings.Join(found.NotCompared, ", ")))
			}
			if err == nil && len(found.Differences) > 0 {
				return errFound
			}
			return err
		},
	}
	c.Flags().Float64Var(&o.RTol, "rtol", 0, "relative tolerance")
	c.Flags().Float64Var(&o.ATol, "atol", 0, "absolute tolerance")
	c.Flags().BoolVar(&valuesOnly, "values", false, "compare the tensors alone")
	return c
}

// printDiff prints the differences for people. Scripts read --json, so this form may change,
// together with the goldens.
func printDiff(a *app, found *inspect.Comparison) {
	list := found.Differences
	if len(list) == 0 {
		more := ""
		if found.Models {
			more = ", signatures, functions, objects and assets"
		}
		fmt.Fprintf(a.out, "no difference in %s%s\n", inspect.Tensors(found.Tensors), more)
		return
	}
	paint := func(code, s string) string {
		if !a.color {
			return s
		}
		return "\x1b[" + code + "m" + s + "\x1b[0m"
	}
	fmt.Fprintln(a.out, paint("31", "- "+found.A))
	fmt.Fprintln(a.out, paint("32", "+ "+found.B))
	counts := map[string]int{}
	alone := map[string]bool{} // variables that only one side has
	for _, d := range list {
		if d.Kind == inspect.OnlyInA || d.Kind == inspect.OnlyInB {
			alone[tensorfile.Short(d.Name)] = true
		}
	}
	for _, d := range list {
		if d.Kind == inspect.Objects && alone[d.Name] && (d.A == "" || d.B == "") {
			continue // its tensor was named already
		}
		counts[d.Kind]++
		name := render.Printable(tensorfile.Short(d.Name))
		switch d.Kind {
		case inspect.OnlyInA:
			fmt.Fprintln(a.out, paint("31", "- "+name+"  "+d.A))
		case inspect.OnlyInB:
			fmt.Fprintln(a.out, paint("32", "+ "+name+"  "+d.B))
		case inspect.DTypes, inspect.Shapes:
			fmt.Fprintf(a.out, "! %s  %s, %s\n", name, paint("31", d.A), paint("32", d.B))
		case inspect.Values:
			fmt.Fprintf(a.out, "! %s\n", name)
			if d.Count == 1 {
				fmt.Fprintf(a.out, "    %s, %s\n", paint("31", d.A), paint("32", d.B))
				break
			}
			line := fmt.Sprintf("    %d of %d differ", d.Differ, d.Count)
			if d.MaxAbs != nil {
				line += fmt.Sprintf(", by up to %.3g", *d.MaxAbs)
			}
			if d.MaxRel != nil {
				line += fmt.Sprintf(" (%.3g relative)", *d.MaxRel)
			}
			fmt.Fprintln(a.out, line)
			fmt.Fprintf(a.out, "    first at %s: %s, %s\n", strings.ReplaceAll(fmt.Sprint(d.First), " ", ","), paint("31", d.A), paint("32", d.B))
		default:
			word, x, y := diffWords[d.Kind], render.Printable(d.A), render.Printable(d.B)
			switch {
			case d.B == "":
				fmt.Fprintln(a.out, paint("31", "- "+word+" "+name+"  "+x))
			case d.A == "":
				fmt.Fprintln(a.out, paint("32", "+ "+word+" "+name+"  "+y))
			case len(x)+len(y) > 60:
				fmt.Fprintf(a.out, "! %s %s\n    %s\n    %s\n", word, name, paint("31", x), paint("32", y))
			default:
				fmt.Fprintf(a.out, "! %s %s  %s, %s\n", word, name, paint("31", x), paint("32", y))
			}
		}
	}
	var sum []string
	for _, k := range []struct{ kind, words string }{
		{inspect.Values, "with other values"}, {inspect.Shapes, "with another shape"}, {inspect.DTypes, "with another type"},
		{inspect.OnlyInA, "only in the first"}, {inspect.OnlyInB, "only in the second"}, {inspect.Objects, "in the object graph"},
		{inspect.Signatures, "in signatures"}, {inspect.Functions, "in functions"}, {inspect.Assets, "in assets"}, {inspect.MetaGraphs, "in MetaGraphs"},
	} {
		if n := counts[k.kind]; n > 0 {
			sum = append(sum, fmt.Sprintf("%d %s", n, k.words))
		}
	}
	fmt.Fprintln(a.out, strings.Join(sum, ", "))
}

// diffWords are the names of differences other than tensors.
var diffWords = map[string]string{
	inspect.Objects: "object", inspect.Signatures: "signature", inspect.Functions: "function", inspect.Assets: "asset", inspect.MetaGraphs: "MetaGraph",
}
