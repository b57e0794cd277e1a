package main

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/spf13/cobra"

	front "github.com/cairnml/cairn"
	"github.com/cairnml/cairn/convert"
	"github.com/cairnml/cairn/inspect/render"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/tensorfile"
)

func newEdit(a *app) *cobra.Command {
	o := &convert.Options{Run: front.Runner()}
	var renames, drops, casts, keeps, freezes, tags []string
	var serving bool
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
another, or NaN into one, is refused. --lossy allows both.

A SavedModel becomes another SavedModel if DST has no suffix and no number, as
for convert. Then patterns match signatures ("signatures.NAME"), functions and
variables by their paths from the root: --keep and --drop choose signatures and
functions, --rename names them, --cast stores variables in another type, which
functions don't notice, and --freeze makes variables constants. --serving leaves
only the signatures and what they use.`,
		Example: `  cairn edit model/ckpt-10 new/ckpt-1 --rename '^net/l1/=net/dense/' --dry-run
  cairn edit model/ckpt-10 new/ckpt-1 --drop OPTIMIZER_SLOT
  cairn edit keras3/ckpt-1 lean/ckpt-1 --drop '^optimizer/' --keep-shared
  cairn edit model/ckpt-10 small/ckpt-1 --cast 'kernel/.ATTR=bfloat16'
  cairn edit saved_model lean --serving --cast 'kernel=float16'
  cairn edit saved_model other --drop '^signatures.train$' --tag gpu`,
		Args:              need(1, 2, "a SRC and a DST"),
		ValidArgsFunction: completePaths,
		RunE: func(cmd *cobra.Command, args []string) error {
			own := len(keeps)+len(freezes)+len(tags) > 0 || serving
			e, err := parseEdits(renames, drops, casts, own)
			if err != nil {
				return err
			}
			o.Source = a.open
			if len(args) == 2 && convert.IsModelTarget(args[1]) || len(args) == 1 && own {
				if convert.IsModel(cmd.Context(), args[0], o) {
					return a.editModel(cmd, args, dry, convert.ModelEdits{Rename: e.Rename, Drop: e.Drop, Cast: e.Cast, Tags: tags, Serving: serving}, keeps, freezes, o)
				}
			}
			if own {
				return usagef("--keep, --freeze, --tag and --serving are for a SavedModel that becomes a directory")
			}
			e.KeepShared = keepShared
			dst := ""
			switch {
			case len(args) == 2 && !dry:
				dst = args[1]
			case len(args) == 1 && !dry:
				return usagef("edit needs a DST to write to; --dry-run prints the changes alone")
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
	c.Flags().StringArrayVar(&keeps, "keep", nil, "keep signatures and functions that match `PATTERN`")
	c.Flags().StringArrayVar(&freezes, "freeze", nil, "make variables that match `PATTERN` constants")
	c.Flags().StringArrayVar(&tags, "tag", nil, "add the `TAG` to the model's")
	c.Flags().BoolVar(&serving, "serving", false, "leave only what the signatures need")
	c.Flags().BoolVar(&keepShared, "keep-shared", false, "keep what --drop means but other objects use too")
	c.Flags().BoolVarP(&dry, "dry-run", "n", false, "say what would change, write nothing")
	writeFlags(c, o)
	return c
}

// printChange prints a change of a tensor on stdout, for people: --json has all changes.
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

// editModel writes a SavedModel with changes.
func (a *app) editModel(cmd *cobra.Command, args []string, dry bool, e convert.ModelEdits, keeps, freezes []string, o *convert.Options) error {
	for _, list := range []struct {
		flag  string
		texts []string
		to    *[]*regexp.Regexp
	}{{"keep", keeps, &e.Keep}, {"freeze", freezes, &e.Freeze}} {
		for _, s := range list.texts {
			re, err := pattern(list.flag, s)
			if err != nil {
				return err
			}
			*list.to = append(*list.to, re)
		}
	}
	dst := ""
	switch {
	case dry:
	case len(args) == 2:
		dst = args[1]
	default:
		return usagef("edit needs a DST to write to; --dry-run prints the changes alone")
	}
	bar := a.bytesBar("writing ")
	o.Progress = bar.update
	changes, res, err := convert.EditModel(cmd.Context(), args[0], dst, e, o)
	bar.done()
	if err != nil {
		return err
	}
	if a.json {
		return a.report(res, changes)
	}
	for _, c := range changes {
		printModelChange(a, c)
	}
	if dry {
		a.note("nothing was written")
		return nil
	}
	return a.report(res, changes)
}

// printModelChange works like printChange, for a change of a SavedModel.
func printModelChange(a *app, c convert.Change) {
	name := render.Printable(c.Name)
	switch {
	case c.Drop:
		fmt.Fprintf(a.out, "drop    %s\n", name)
	case c.To != "":
		fmt.Fprintf(a.out, "rename  %s\n     to %s\n", name, render.Printable(c.To))
	case c.Freeze:
		fmt.Fprintf(a.out, "freeze  %s\n", name)
	case c.Add:
		fmt.Fprintf(a.out, "add     %s\n", name)
	default:
		fmt.Fprintf(a.out, "cast    %s to %s\n", name, c.Cast)
	}
}

// pattern compiles a pattern of a flag.
func pattern(flag, s string) (*regexp.Regexp, error) {
	re, err := regexp.Compile(s)
	if err != nil || s == "" {
		why := "it is empty"
		var fault *syntax.Error
		if errors.As(err, &fault) {
			why = fmt.Sprintf("%v at %q", fault.Code, fault.Expr)
		}
		hint := ""
		if strings.HasPrefix(s, "*") {
			hint = "; patterns here are regular expressions, where .* stands for anything"
		}
		return nil, usagef("--%s %q: not a regular expression: %s%s", flag, s, why, hint)
	}
	return re, nil
}

// parseEdits returns the edits of the flags. none means that other flags of the command line are
// edits too, so that these may be absent.
func parseEdits(renames, drops, casts []string, none bool) (convert.Edits, error) {
	var e convert.Edits
	pair := func(flag, s, words string) (*regexp.Regexp, string, error) {
		// The last =, since a pattern may contain one and the replacement hardly does.
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
	if !none && len(renames)+len(drops)+len(casts) == 0 {
		return e, usagef("edit needs --rename, --drop or --cast")
	}
	return e, nil
}
