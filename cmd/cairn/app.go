package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/cairnml/cairn/inspect/render"
	"github.com/cairnml/cairn/tensorfile"
)

// Exit codes. Scripts depend on them, so they must stay. The error of a verb decides: nil is 0,
// errFound is 1, and every other error is 2, whatever its type or text.
const (
	exitFound  = 1 // differs, corrupt
	exitFailed = 2 // usage, I/O, unsupported
)

// errFound ends a verb that has reported its findings. Its text is never printed.
var errFound = errors.New("found")

// app is the state that the verbs share: their output streams and options.
type app struct {
	in       io.Reader
	out, err io.Writer
	width    int                // columns of the terminal; 80 if there is none
	outTTY   bool               // stdout is a terminal
	errTTY   bool               // stderr is a terminal: progress bars are drawn
	color    bool               // output has escape sequences: on a terminal, without NO_COLOR
	json     bool               // --json
	quiet    bool               // --quiet: no notes and no progress bars
	noPager  bool               // --no-pager
	pager    *pager             // of a terminal; nil for others
	open     tensorfile.Options // how sources are opened
}

// source returns the options for opening the files that a verb reads.
func (a *app) source() *tensorfile.Options { return &a.open }

// newApp returns the app of the process's streams. Tests make theirs field by field.
func newApp(in *os.File, out, errOut *os.File) *app {
	a := &app{in: in, out: out, err: errOut, width: 80}
	if closedAtStart(out) {
		a.out = closedWriter{}
	}
	a.outTTY = term.IsTerminal(int(out.Fd()))
	dumb := os.Getenv("TERM") == "dumb"
	a.errTTY = term.IsTerminal(int(errOut.Fd())) && !dumb
	a.color = a.outTTY && !dumb && os.Getenv("NO_COLOR") == ""
	if a.outTTY {
		w, rows, err := term.GetSize(int(out.Fd()))
		if err == nil && w >= 40 {
			a.width = min(w, 160)
		}
		if err == nil && rows > 0 && !dumb {
			a.pager = &pager{out: out, rows: rows, command: pagerCommand()}
			a.out, a.err = a.pager, a.pager.stderr(errOut)
		}
	}
	return a
}

// run runs one command line and returns the exit code.
func run(ctx context.Context, a *app, args []string) int {
	if os.Getenv("GOGC") == "" {
		// The limits bound the memory that files make the command use, and listings of
		// millions of names are held whole. Garbage adds half as much at this setting,
		// which costs a few hundredths of the time.
		defer debug.SetGCPercent(debug.SetGCPercent(50))
	}
	buf := bufio.NewWriterSize(a.out, 1<<16)
	a.out = buf
	root := newRoot(a)
	root.SetArgs(args)
	root.SetIn(a.in)
	root.SetOut(buf)
	root.SetErr(a.err)
	cmd, err := root.ExecuteContextC(ctx)
	ferr := buf.Flush()
	if cerr := a.pager.close(os.Stderr); ferr == nil {
		ferr = cerr
	}
	if err == nil && ferr != nil && !errors.Is(ferr, errPipe) {
		err = fmt.Errorf("stdout: %w", ferr)
	}
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errFound):
		return exitFound
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		fmt.Fprintln(a.err, "cairn: interrupted; nothing was left half written")
		return exitFailed
	}
	fmt.Fprintf(a.err, "cairn: %s\n", plainLines(withFlags(trimPrefixes(err.Error()))))
	var usage *usageError
	if errors.As(err, &usage) {
		fmt.Fprintf(a.err, "Run '%s --help' for how it is used.\n", cmd.CommandPath())
	}
	return exitFailed
}

// plainLines makes a message of several lines fit for a terminal. Tabs, which cobra's
// messages have, become spaces.
func plainLines(s string) string {
	lines := strings.Split(strings.ReplaceAll(s, "\t", "  "), "\n")
	for i, l := range lines {
		lines[i] = render.Printable(l)
	}
	return strings.Join(lines, "\n")
}

// trimPrefixes removes the package names that library errors begin with: they
// mean nothing to the user of a shell.
func trimPrefixes(s string) string {
	for _, p := range []string{"savedmodel: ", "scan: ", "graph: ", "bundle: ", "checkpoint: ", "tensor: ", "safetensors: ", "npz: ", "npy: ", "hdf5: ", "kerasfile: "} {
		s = strings.TrimPrefix(strings.ReplaceAll(s, ": "+p, ": "), p)
	}
	return s
}

// usageError is the error of a wrong command line.
type usageError struct{ what string }

func (e *usageError) Error() string { return e.what }

func usagef(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// need checks the number of arguments; most < 0 means any number.
func need(least, most int, words string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return usagef("%s needs %s", cmd.Name(), words)
		case most >= 0 && len(args) > most:
			return usagef("%s takes %s; %q is one too many", cmd.Name(), words, args[most])
		}
		return nil
	}
}

// printJSON prints an object on one line.
func (a *app) printJSON(v any) error {
	text, err := compactJSON(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.out, "%s\n", text)
	return err
}

// printJSONList prints an array of n objects, one on each line. The first error
// ends it.
func (a *app) printJSONList(n int, item func(i int) (any, error)) error {
	sep := "[\n "
	for i := range n {
		v, err := item(i)
		if err != nil {
			return err
		}
		text, err := compactJSON(v)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(a.out, "%s%s", sep, text); err != nil {
			return err
		}
		sep = ",\n "
	}
	end := "\n]"
	if n == 0 {
		end = "[]"
	}
	_, err := fmt.Fprintln(a.out, end)
	return err
}

// jsonList returns a list for printJSONList.
func jsonList[T any](list []T) (int, func(i int) (any, error)) {
	return len(list), func(i int) (any, error) { return list[i], nil }
}

func compactJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}

// flush writes the buffered output, for verbs that print in steps.
func (a *app) flush() {
	if b, ok := a.out.(*bufio.Writer); ok {
		b.Flush()
	}
}

// note prints a message on stderr.
func (a *app) note(format string, args ...any) {
	if !a.quiet {
		a.flush() // earlier output has to be read first
		fmt.Fprintf(a.err, format+"\n", args...)
	}
}
