package main

import (
	"fmt"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cairnml/cairn/internal/inspect"
	"github.com/cairnml/cairn/internal/render"
	"github.com/cairnml/cairn/internal/store"
)

func newLs(a *app) *cobra.Command {
	var long bool
	c := &cobra.Command{
		Use:   "ls PATH [NAME…]",
		Short: "List the tensors: names, types, shapes, bytes",
		Long: `List the tensors of PATH: names, types, shapes, bytes, sorted by name.

NAMEs keep those that contain one of them; * stands for anything. The ending
/.ATTRIBUTES/VARIABLE_VALUE, which TensorFlow gives to all variables, is left
out of the table; --long and --json show it. Every command finds a tensor by
either name.`,
		Example: `  cairn ls model/ckpt-10
  cairn ls model/ckpt-10 kernel
  cairn ls --long model/ckpt-10           with the place in the data files
  cairn ls --json model/ckpt-10 | jq '.[] | select(.bytes > 1e6) | .name'`,
		Args:              need(1, -1, "a PATH"),
		ValidArgsFunction: completeNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := store.Open(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			defer s.Close()
			list, err := filter(s, args[1:])
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(append([]store.Entry{}, list...))
			}
			a.sayFound(s)
			printList(a, list, long)
			return nil
		},
	}
	c.Flags().BoolVarP(&long, "long", "l", false, "full names, and where in the files the tensors lie")
	return c
}

// sayFound tells which checkpoint a directory stood for.
func (a *app) sayFound(s *store.Store) {
	if s.Found != "" {
		a.note("%s: %s", s.Found, s.Prefix)
	}
}

// filter keeps the entries whose name, or short name, one of the patterns fits.
func filter(s *store.Store, patterns []string) ([]store.Entry, error) {
	if len(patterns) == 0 {
		return s.Entries(), nil
	}
	var out []store.Entry
	for _, e := range s.Entries() {
		for _, p := range patterns {
			if fits(p, e.Name) {
				out = append(out, e)
				break
			}
		}
	}
	if len(out) == 0 {
		_, err := s.Entry(patterns[0])
		return nil, err
	}
	return out, nil
}

func fits(pattern, name string) bool {
	if !strings.ContainsAny(pattern, "*?") {
		return strings.Contains(name, pattern)
	}
	// * crosses slashes here, as it does in people's minds.
	flat := func(s string) string { return strings.ReplaceAll(s, "/", "\x01") }
	for _, n := range []string{name, store.Short(name)} {
		if ok, err := path.Match(flat(pattern), flat(n)); ok && err == nil {
			return true
		}
	}
	return false
}

func printList(a *app, list []store.Entry, long bool) {
	t := &table{head: []string{"NAME", "DTYPE", "SHAPE", "BYTES"}, right: []bool{false, false, false, true}, width: a.width}
	if long {
		t.head, t.right = append(t.head, "SHARD", "OFFSET"), append(t.right, true, true)
	}
	var total int64
	for _, e := range list {
		row := []string{render.Printable(store.Short(e.Name)), e.DType.String(), e.Shape.String(), fmt.Sprint(e.Bytes)}
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
		t.add(row...)
		total += e.Bytes
	}
	t.print(a)
	word := "tensors"
	if len(list) == 1 {
		word = "tensor"
	}
	fmt.Fprintf(a.out, "%d %s, %s\n", len(list), word, inspect.Size(total))
}
