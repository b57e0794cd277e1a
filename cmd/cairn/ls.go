package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/cairnml/cairn/inspect"
	"github.com/cairnml/cairn/inspect/render"
	"github.com/cairnml/cairn/tensorfile"
)

func newLs(a *app) *cobra.Command {
	var long, all bool
	c := &cobra.Command{
		Use:   "ls PATH [NAME…]",
		Short: "List the tensors: names, types, shapes, bytes",
		Long: `List the tensors of PATH: names, types, shapes, bytes, sorted by name, numbers
by their values. On a terminal a list of more than 40 tensors is folded: tensors
of one type and shape whose names differ in numbers alone share a line, such as
layers/{0…95}/kernel. --all lists each, as does a pipe.

NAMEs keep those that contain one of them, or that match it where it holds a *
or ?. The ending /.ATTRIBUTES/VARIABLE_VALUE, which TensorFlow gives to all
variables, is left out of the table; --long and --json show it. Every command
finds a tensor by either name, and by its path in the object graph. Parameters
are the elements of the model's floating-point variables: neither counters nor
what an optimizer keeps.`,
		Example: `  cairn ls model/ckpt-10
  cairn ls model/ckpt-10 kernel
  cairn ls --long model/ckpt-10           with the place in the data files
  cairn ls --json model/ckpt-10 | jq '.[] | select(.bytes > 1e6) | .name'`,
		Args:              need(1, -1, "a PATH"),
		ValidArgsFunction: completeNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.openFile(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			defer s.Close()
			list, err := s.Filter(cmd.Context(), args[1:])
			if err != nil {
				return err
			}
			list = list.Natural()
			if a.json {
				names := s.VariableNames(cmd.Context())
				return a.printJSONList(list.Len(), func(i int) (any, error) {
					e := list.At(i)
					return jsonEntry{e, names[e.Name]}, nil
				})
			}
			a.sayFound(s)
			printList(a, list, long, all, numbered(list, s.VariableNames(cmd.Context())))
			fmt.Fprintln(a.out, inspect.CountOf(cmd.Context(), s, list))
			return nil
		},
	}
	c.Flags().BoolVarP(&all, "all", "a", false, "list each tensor on a terminal too")
	c.Flags().BoolVarP(&long, "long", "l", false, "full names, and where in the files the tensors lie")
	return c
}

// sayFound prints on stderr which checkpoint a directory stood for, unless openFile already has.
func (a *app) sayFound(s *tensorfile.File) {
	if s.Found != "" && !s.Elsewhere {
		a.note("%s: %s", s.Found, s.Prefix)
	}
}

// openFile opens a path for a verb. It reports a checkpoint that isn't in the directory
// which the user named.
func (a *app) openFile(ctx context.Context, path string) (*tensorfile.File, error) {
	s, err := tensorfile.Open(ctx, path, a.source())
	if err == nil {
		a.sayElsewhere(s)
	}
	return s, err
}

func (a *app) sayElsewhere(s *tensorfile.File) {
	if s != nil && s.Elsewhere {
		a.note("%s: %s: %s", s.Path, s.Found, s.Prefix)
	}
}

// jsonEntry is an entry with the name of its variable, if that has another one.
type jsonEntry struct {
	tensorfile.Entry
	variable string
}

// MarshalJSON returns the entry's object with a field for the variable's name.
func (e jsonEntry) MarshalJSON() ([]byte, error) {
	b, err := e.Entry.MarshalJSON()
	if err != nil || e.variable == "" || e.variable == tensorfile.Short(e.Name) {
		return b, err
	}
	v, err := json.Marshal(e.variable)
	return slices.Concat(b[:len(b)-1], []byte(`,"variable":`), v, []byte("}")), err
}

// numbered returns the names of variables if tensors of the list have numbers for names,
// as in exports of Keras 3; else nil.
func numbered(list tensorfile.Entries, names map[string]string) map[string]string {
	if len(names) == 0 {
		return nil
	}
	for e := range list.All() {
		if _, err := strconv.Atoi(path.Base(tensorfile.Short(e.Name))); err == nil && names[e.Name] != "" {
			return names
		}
	}
	return nil
}

// withVariables inserts a column for the names of variables after the first column.
func (t *table) withVariables(names map[string]string) {
	if names != nil {
		t.head, t.right = slices.Insert(t.head, 1, "VARIABLE"), slices.Insert(t.right, 1, false)
	}
}

// minFolded is the length from which a list is folded on a terminal. The help text above names it.
const minFolded = 41

// printList prints a list for people, folded if it is long and on a terminal. variables are the
// names of the tensors' variables, nil for no column of them.
func printList(a *app, list tensorfile.Entries, long, all bool, variables map[string]string) {
	if a.outTTY && !long && !all && list.Len() >= minFolded {
		printFolded(a, list, variables)
		return
	}
	t := &table{head: []string{"NAME", "DTYPE", "SHAPE", "BYTES"}, right: []bool{false, false, false, true}}
	t.withVariables(variables)
	if long {
		t.head, t.right = append(t.head, "SHARD", "OFFSET"), append(t.right, true, true)
	}
	row := func(e tensorfile.Entry) []string {
		row := []string{render.Printable(tensorfile.Short(e.Name)), e.DType.String(), e.Shape.String(), fmt.Sprint(e.Bytes)}
		if long {
			row[0] = render.Printable(e.Name)
			switch {
			case len(e.Slices) > 0:
				row = append(row, "", fmt.Sprintf("%d slices", len(e.Slices)))
			case e.Offset < 0:
				row = append(row, "", "")
			default:
				row = append(row, fmt.Sprint(e.Shard), fmt.Sprint(e.Offset))
			}
		}
		if variables != nil {
			row = slices.Insert(row, 1, render.Printable(variables[e.Name]))
		}
		return row
	}
	t.each = func(yield func([]string) bool) {
		for e := range list.All() {
			if !yield(row(e)) {
				return
			}
		}
	}
	t.print(a)
}
