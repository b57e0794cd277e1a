package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cairnml/cairn/inspect/render"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/savedmodel/scan"
)

// scanFlags are the flags of scan.
type scanFlags struct {
	sarif, all bool
	failOn     string
}

func newScan(a *app) *cobra.Command {
	f := &scanFlags{}
	c := &cobra.Command{
		Use:   "scan PATH...",
		Short: "Look for files, network, code and traps in a SavedModel",
		Long: `Look for what a SavedModel would do besides computing, in its graph and in every
function: ops that read or write files, talk to other processes or run code; ops
that nobody knows; tensors that would fill the memory; functions that call
themselves; odd names and paths; files beside it that carry programs. Nothing is
run.

PATH is a SavedModel's directory, a saved_model.pb, the file of a GraphDef, or a
model of Keras as .keras or .h5, whose Lambda layers and imports are reported.
Severities are note, warning and high; from warnings on the exit code is 1.
Notes are what every model may have, such as its own saver; --all prints them.`,
		Example: `  cairn scan model
  cairn scan model --fail-on high
  cairn scan models/* --sarif > models.sarif`,
		Args:              need(1, -1, "a PATH"),
		ValidArgsFunction: completePaths,
		RunE:              func(cmd *cobra.Command, args []string) error { return f.run(cmd, a, args) },
	}
	c.Flags().BoolVar(&f.sarif, "sarif", false, "print SARIF 2.1.0, for code hosts and editors")
	c.Flags().BoolVar(&f.all, "all", false, "print notes too")
	c.Flags().StringVar(&f.failOn, "fail-on", "warning", "exit with 1 from this `SEVERITY` on")
	completeFlag(c, "fail-on", cobra.FixedCompletions([]string{"note", "warning", "high"}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func (f *scanFlags) run(cmd *cobra.Command, a *app, paths []string) error {
	fail, err := scan.ParseSeverity(f.failOn)
	if err != nil {
		return usagef("--fail-on: %v", err)
	}
	if f.sarif && a.json {
		return usagef("--sarif and --json are two forms; use one")
	}
	o := &savedmodel.ReadOptions{MaxMemory: a.open.MaxMemory}
	var reports []*scan.Report
	var failed []error // of paths; the others are scanned all the same
	for _, path := range paths {
		if err := a.checkModel(cmd.Context(), "scan", path, ".keras", ".h5", ".hdf5"); err != nil {
			failed = append(failed, err)
			continue
		}
		r, err := scan.Path(cmd.Context(), path, o)
		if cmd.Context().Err() != nil {
			return cmd.Context().Err()
		}
		if err != nil {
			failed = append(failed, a.noModel(cmd.Context(), "scan", path, err))
			continue
		}
		if unknownFile(path, r) {
			failed = append(failed, fmt.Errorf("scan %s: it is no SavedModel, no GraphDef and no model of Keras; %s", path, wantModel))
			continue
		}
		reports = append(reports, r)
	}
	if err := f.print(a, reports); err != nil || failed != nil {
		return errors.Join(append(failed, err)...)
	}
	for _, r := range reports {
		if worst, any := r.Worst(); any && worst >= fail {
			return errFound
		}
	}
	return nil
}

// unknownFile reports whether a file that isn't called a graph could not be read as one. For such
// a file scan reports an error, not a finding: exit code 2 instead of 1. A damaged .pb, .pbtxt or
// model of Keras is a finding.
func unknownFile(path string, r *scan.Report) bool {
	if info, err := os.Stat(path); err != nil || info.IsDir() {
		return false
	}
	head := make([]byte, 8)
	if file, err := os.Open(path); err == nil {
		n, _ := io.ReadFull(file, head) // a short file is of no such kind
		head = head[:n]
		file.Close()
	}
	if bytes.HasPrefix(head, []byte("PK\x03\x04")) || bytes.HasPrefix(head, []byte("\x89HDF")) {
		return false // a model of Keras that is damaged
	}
	ext := strings.ToLower(filepath.Ext(path))
	return ext != ".pb" && ext != ".pbtxt" && len(r.Findings) == 1 && r.Findings[0].Rule == "malformed"
}

// jsonScan is a report with its path.
type jsonScan struct {
	Path      string         `json:"path"`
	Functions int            `json:"functions"`
	Nodes     int            `json:"nodes"`
	Findings  []scan.Finding `json:"findings"`
}

// print prints the reports in the form that the flags ask for. SARIF and --json have all
// findings, the text has notes only with --all.
func (f *scanFlags) print(a *app, reports []*scan.Report) error {
	switch {
	case f.sarif:
		return scan.SARIF(a.out, version, reports...)
	case a.json:
		return a.printJSONList(len(reports), func(i int) (any, error) {
			r := reports[i]
			return jsonScan{r.Path, r.Functions, r.Nodes, r.Findings}, nil
		})
	}
	for i, r := range reports {
		if i > 0 {
			fmt.Fprintln(a.out)
		}
		f.printReport(a, r)
	}
	return nil
}

func (f *scanFlags) printReport(a *app, r *scan.Report) {
	paint := map[scan.Severity]string{scan.High: "\x1b[31m", scan.Warning: "\x1b[33m"}
	counts := map[scan.Severity]int{}
	for _, x := range r.Findings {
		counts[x.Severity]++
		if x.Severity == scan.Note && !f.all {
			continue
		}
		word := fmt.Sprintf("%-7s", x.Severity)
		if a.color && paint[x.Severity] != "" {
			word = paint[x.Severity] + word + "\x1b[0m"
		}
		fmt.Fprintf(a.out, "%s  %s\n", word, x.Rule)
		words := x.Words()
		if x.Count > 1 {
			words += fmt.Sprintf(" (%d times)", x.Count)
		}
		for _, line := range render.Wrap(render.Printable(words), a.width-9) {
			fmt.Fprintf(a.out, "         %s\n", line)
		}
		if place := x.Place(); place != "" {
			fmt.Fprintf(a.out, "         at %s\n", render.Printable(place))
		}
	}
	var parts []string
	for _, s := range []scan.Severity{scan.High, scan.Warning, scan.Note} {
		parts = append(parts, fmt.Sprintf("%d %s", counts[s], s))
	}
	fmt.Fprintf(a.out, "%s: %s; %d nodes in %d functions\n", render.Printable(r.Path), strings.Join(parts, ", "), r.Nodes, r.Functions)
}
