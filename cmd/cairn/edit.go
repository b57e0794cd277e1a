package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cairnml/cairn/convert"
	"github.com/cairnml/cairn/inspect/render"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/tensorfile"
)

func newEdit(a *app) *cobra.Command {
	o := &convert.Options{}
	var renames, drops, casts []string
	var dry, keepShared bool
	c := &cobra.Command{
		Use:   "edit SRC DST [--rename OLD=NEW] [--drop PATTERN] [--cast PATTERN=DTYPE]",
		Short: "Rename, drop and cast tensors",
		Long: `Write SRC to DST with tensors renamed, dropped or cast. Patterns are regular
expressions that match anywhere in a name, as it is in SRC; in NEW, $1 stands
for the first group. Each flag may be given several times.

The object graph follows: its keys are the new names, and where all that lies
below an object moves, the edge to it is renamed too, so that a program whose
objects go by the new names restores them. What is not changed is copied as it
stands, unknown fields included.

In Keras 3's checkpoints a model's kernels have names below the optimizer: what
--drop would take from other objects is refused unless --keep-shared keeps it.
A cast rounds to the new type's digits; one that would turn a number into
another, or NaN into one, is refused. --lossy allows both.`,
		Example: `  cairn edit model/ckpt-10 new/ckpt-1 --rename '^net/l1/=net/dense/' --dry-run
  cairn edit model/ckpt-10 new/ckpt-1 --drop OPTIMIZER_SLOT
  cairn edit keras3/ckpt-1 lean/ckpt-1 --drop '^optimizer/' --keep-shared
  cairn edit model/ckpt-10 small/ckpt-1 --cast 'kernel/.ATTR=bfloat16'`,
		Args:              need(1, 2, "a SRC and a DST"),
		ValidArgsFunction: completePaths,
		RunE: func(cmd *cobra.Command, args []string) error {
			e, err := parseEdits(renames, drops, casts)
			if err != nil {
				return err
			}
			e.KeepShared = keepShared
			dst := ""
			switch {
			case len(args) == 2 && !dry:
				dst = args[1]
			case len(args) == 1 && !dry:
				return usagef("edit needs a DST to write to; --dry-run only says what would change")
			}
			bar := a.bytesBar("writing ")
			o.Progress, o.Source = bar.update, a.open
			changes, res, err := convert.Edit(cmd.Context(), args[0], dst, e, o)
			bar.done()
			if err != nil {
				return err
			}
			if a.json {
				return a.report(res, changes)
			}
			for _, c := range changes {
				printChange(a, c)
			}
			if dry {
				for _, n := range res.Notes {
					a.note("note: %s", n)
				}
				a.note("nothing was written")
				return nil
			}
			return a.report(res, changes)
		},
	}
	c.Flags().StringArrayVar(&renames, "rename", nil, "replace what matches OLD by NEW (`OLD=NEW`)")
	c.Flags().StringArrayVar(&drops, "drop", nil, "leave out tensors whose name matches `PATTERN`")
	c.Flags().StringArrayVar(&casts, "cast", nil, "cast tensors whose name matches (`PATTERN=DTYPE`)")
	c.Flags().BoolVar(&keepShared, "keep-shared", false, "keep what --drop means but other objects use too")
	c.Flags().BoolVarP(&dry, "dry-run", "n", false, "say what would change, write nothing")
	writeFlags(c, o)
	return c
}

func printChange(a *app, c convert.Change) {
	name := render.Printable(tensorfile.Short(c.Name))
	switch {
	case c.Drop:
		fmt.Fprintf(a.out, "drop    %s\n", name)
	case c.To != "":
		fmt.Fprintf(a.out, "rename  %s\n     to %s\n", name, render.Printable(tensorfile.Short(c.To)))
		if c.Cast != "" {
			fmt.Fprintf(a.out, "   cast %s\n", c.Cast)
		}
	default:
		fmt.Fprintf(a.out, "cast    %s to %s\n", name, c.Cast)
	}
}

func parseEdits(renames, drops, casts []string) (convert.Edits, error) {
	var e convert.Edits
	pattern := func(flag, s string) (*regexp.Regexp, error) {
		re, err := regexp.Compile(s)
		if err != nil || s == "" {
			hint := ""
			if strings.HasPrefix(s, "*") {
				hint = "; patterns here are regular expressions, where .* stands for anything"
			}
			return nil, usagef("--%s: %q is no pattern: %v%s", flag, s, err, hint)
		}
		return re, nil
	}
	pair := func(flag, s, words string) (*regexp.Regexp, string, error) {
		// The last =, since a pattern may hold one and what follows hardly does.
		i := strings.LastIndexByte(s, '=')
		if i <= 0 {
			return nil, "", usagef("--%s %q: it is written %s", flag, s, words)
		}
		re, err := pattern(flag, s[:i])
		return re, s[i+1:], err
	}
	for _, s := range renames {
		re, with, err := pair("rename", s, "OLD=NEW")
		if err != nil {
			return e, err
		}
		e.Rename = append(e.Rename, convert.Rename{Match: re, With: with})
	}
	for _, s := range drops {
		re, err := pattern("drop", s)
		if err != nil {
			return e, err
		}
		e.Drop = append(e.Drop, re)
	}
	for _, s := range casts {
		re, to, err := pair("cast", s, "PATTERN=DTYPE")
		if err != nil {
			return e, err
		}
		d, err := tensor.ParseDType(to)
		if err != nil {
			return e, usagef("--cast %q: %v", s, err)
		}
		e.Cast = append(e.Cast, convert.Cast{Match: re, To: d})
	}
	if len(renames)+len(drops)+len(casts) == 0 {
		return e, usagef("edit needs --rename, --drop or --cast")
	}
	return e, nil
}
