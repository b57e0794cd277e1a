package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cairnml/cairn/cmd/cairn/internal/feed"
	"github.com/cairnml/cairn/cmd/cairn/internal/profile"
	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/tensorfile"
)

// runFlags are what the user asked of run.
type runFlags struct {
	signature, inputs, outputs string
	tags                       []string
	grantRead, grantWrite      string
	picture, profile           string
	repeat                     int
	force                      bool
}

func newRun(a *app) *cobra.Command {
	f := &runFlags{}
	c := &cobra.Command{
		Use:   "run DIR",
		Short: "Run a SavedModel's signature",
		Long: `Run a signature of a SavedModel. Inputs come from a .npz file, whose arrays have
the inputs' names, from JSON as TensorFlow Serving takes it, or, if there is one
input, from a .npy file; - is stdin. The outputs go to a .npz or .json file, one
that is an image to a .png, or all as JSON to stdout.

--repeat calls it again and says how long that takes. --profile says how long
each kind of op takes, and writes a trace that chrome://tracing and Perfetto
draw.

Files are out of the model's reach, its own assets excepted, unless --grant-read
or --grant-write gives it a directory. Names below it may be absolute.`,
		Example: `  cairn run model --inputs in.npz --outputs out.npz
  cairn run model --signature classify --inputs in.json
  cairn run model --inputs in.npz -o out.png
  cairn run model --inputs in.npz -o out.npz --repeat 100 --profile trace.json
  echo '{"inputs": [[1, 2, 3]]}' | cairn run model --inputs -`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 2 && f.inputs == "" && slices.Contains([]string{".json", ".npz", ".npy"}, suffix(args[1])) {
				return usagef("run needs a DIR; the inputs come with a flag: --inputs %s", args[1])
			}
			return need(1, 1, "a DIR")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, a, args[0]) },
	}
	c.Flags().StringVar(&f.signature, "signature", "", "call `NAME`, not serving_default or the only one")
	c.Flags().StringSliceVar(&f.tags, "tags", nil, "the MetaGraph's tags, if there are several: `A,B`")
	c.Flags().StringVar(&f.inputs, "inputs", "", "read the inputs from `FILE`, or from stdin if it is -")
	c.Flags().StringVarP(&f.outputs, "outputs", "o", "", "write the outputs to `FILE`: .npz, .json or .png")
	c.Flags().StringVar(&f.picture, "picture", "", "the `NAME` of the output that a .png shows")
	c.Flags().IntVar(&f.repeat, "repeat", 0, "call it `N` times more, and print the latencies")
	c.Flags().StringVar(&f.profile, "profile", "", "print the time by op, and write a trace to `FILE`")
	c.Flags().StringVar(&f.grantRead, "grant-read", "", "let the model read files in `DIR`")
	c.Flags().StringVar(&f.grantWrite, "grant-write", "", "let the model read and write files in `DIR`")
	c.Flags().BoolVarP(&f.force, "force", "f", false, "replace FILE, if there is one")
	return c
}

// files returns what the grants let the model do.
func (f *runFlags) files() (*engine.Files, error) {
	for _, g := range []struct{ flag, dir string }{{"--grant-read", f.grantRead}, {"--grant-write", f.grantWrite}} {
		if g.dir == "" {
			continue
		}
		info, err := os.Stat(g.dir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, usagef("%s %s: there is no such directory", g.flag, g.dir)
		case err != nil:
			return nil, fmt.Errorf("%s: %w", g.flag, err)
		case !info.IsDir():
			return nil, usagef("%s %s: it is not a directory", g.flag, g.dir)
		}
	}
	return engine.GrantDirs(f.grantRead, f.grantWrite)
}

// denied words an error about a file that was not granted for somebody at a
// shell.
func denied(err error) error {
	var d *engine.DeniedError
	if !errors.As(err, &d) {
		return err
	}
	verb, flag := "read", "--grant-read"
	if d.Write {
		verb, flag = "write", "--grant-write"
	}
	node := fmt.Sprintf("%s node %q", d.Op, d.Node)
	if d.Node == "" {
		node = "a " + d.Op
	}
	return fmt.Errorf("%s wants to %s the file %q, which is out of its reach; %s DIR lets it, if the file is below DIR", node, verb, d.Name, flag)
}

func (f *runFlags) run(cmd *cobra.Command, a *app, dir string) error {
	ctx := cmd.Context()
	if err := f.check(); err != nil {
		return err
	}
	files, err := f.files()
	if err != nil {
		return err
	}
	var prof *profile.Profile
	o := &savedmodel.LoadOptions{
		Kernels: kernel.All(), Signatures: []string{}, Tags: f.tags, Files: files, Log: a.err,
		Read: &savedmodel.ReadOptions{MaxMemory: a.open.MaxMemory},
	}
	if f.profile != "" {
		prof = &profile.Profile{}
		o.Tracer = &measured{profile: prof}
	}
	m, err := savedmodel.Load(ctx, os.DirFS(dir), o)
	if err != nil {
		return fmt.Errorf("%s: %w", dir, denied(err))
	}
	s, err := m.Signature(f.choose(m))
	if err != nil {
		return err
	}
	in := map[string]*tensor.Tensor{}
	if f.inputs != "" {
		if in, err = feed.Read(ctx, f.inputs, a.in, s.Inputs()); err != nil {
			return err
		}
	}
	begin := time.Now()
	out, err := s.Call(ctx, in)
	if err != nil {
		return denied(err)
	}
	result := &runResult{first: time.Since(begin)}
	if err := result.measure(ctx, f, o, s, in); err != nil {
		return err
	}
	if prof != nil {
		result.rows = prof.Table()
		if err := f.writeTrace(a, prof); err != nil {
			return err
		}
	}
	return f.write(a, out, result)
}

// check looks at the flags before anything is read.
func (f *runFlags) check() error {
	if f.repeat < 0 {
		return usagef("--repeat takes a number of calls")
	}
	if f.picture != "" && !strings.HasSuffix(f.outputs, ".png") {
		return usagef("--picture is for --outputs FILE.png")
	}
	if f.profile != "" {
		if err := tensorfile.CheckFree(f.profile, f.force); err != nil {
			return err
		}
	}
	if f.outputs == "" {
		return nil
	}
	if s := suffix(f.outputs); s != ".npz" && s != ".json" && s != ".png" {
		return usagef("--outputs writes .npz, .json and .png files, not %s", f.outputs)
	}
	return tensorfile.CheckFree(f.outputs, f.force)
}

// choose returns the signature's name: the one that was asked for,
// serving_default, or the only one.
func (f *runFlags) choose(m *savedmodel.Model) string {
	if f.signature != "" {
		return f.signature
	}
	if list := m.MetaGraph().Signatures; len(list) == 1 {
		return list[0].Name
	}
	return "serving_default"
}

// measured lets a profile see the calls that are measured only, and not the
// first, which prepares.
type measured struct {
	on      bool
	profile *profile.Profile
}

// Op implements [engine.Tracer].
func (m *measured) Op(e engine.OpEvent) {
	if m.on {
		m.profile.Op(e)
	}
}

// runResult is what is known of the calls.
type runResult struct {
	first   time.Duration
	latency *profile.Latencies
	rows    []profile.Row
}

// measure calls the signature again: once to warm up, as often as --repeat says
// with the clock on, and once for the profile.
func (r *runResult) measure(ctx context.Context, f *runFlags, o *savedmodel.LoadOptions, s *savedmodel.Signature, in map[string]*tensor.Tensor) error {
	if f.repeat > 0 || f.profile != "" {
		if _, err := s.Call(ctx, in); err != nil {
			return err
		}
	}
	if f.repeat > 0 {
		took := make([]time.Duration, f.repeat)
		for i := range took {
			begin := time.Now()
			if _, err := s.Call(ctx, in); err != nil {
				return err
			}
			took[i] = time.Since(begin)
		}
		l := profile.Sum(r.first, took)
		r.latency = &l
	}
	if t, ok := o.Tracer.(*measured); ok {
		t.on = true
		_, err := s.Call(ctx, in)
		return err
	}
	return nil
}

func (f *runFlags) writeTrace(a *app, p *profile.Profile) error {
	w, err := tensorfile.CreateFile(f.profile, f.force)
	if err != nil {
		return err
	}
	defer w.Abort()
	if err := p.WriteTrace(w); err != nil {
		return err
	}
	if err := w.Commit(); err != nil {
		return err
	}
	a.note("wrote %s", f.profile)
	return nil
}

// tell prints the latencies and the table by op to stderr: the outputs have
// stdout.
func (r *runResult) tell(a *app) {
	if r.latency != nil {
		fmt.Fprintln(a.err, *r.latency)
	}
	if r.rows == nil {
		return
	}
	t := &table{head: []string{"op", "count", "µs", "share"}, right: []bool{false, true, true, true}}
	for _, x := range r.rows {
		t.add(x.Op, fmt.Sprint(x.Count), fmt.Sprintf("%.1f", 1e3*x.Self), fmt.Sprintf("%.1f%%", 100*x.Share))
	}
	t.print(&app{out: a.err, width: a.width})
}

// write gives the outputs to the file or to stdout.
func (f *runFlags) write(a *app, out map[string]*tensor.Tensor, r *runResult) error {
	if !a.json {
		r.tell(a)
	}
	if f.outputs == "" || a.json {
		v, err := feed.JSON(out)
		if err != nil {
			return err
		}
		if f.outputs != "" {
			delete(v, "outputs") // they go to the file
		}
		if a.json && r.latency != nil {
			v["latency"] = r.latency
		}
		if a.json && r.rows != nil {
			v["profile"] = r.rows
		}
		if err := a.printJSON(v); err != nil || f.outputs == "" {
			return err
		}
	}
	w, err := tensorfile.CreateFile(f.outputs, f.force)
	if err != nil {
		return err
	}
	defer w.Abort()
	switch suffix(f.outputs) {
	case ".npz":
		err = feed.WriteNPZ(w, out)
	case ".png":
		var words string
		if words, err = feed.WritePNG(w, out, f.picture); err == nil {
			a.note("%s: %s", f.outputs, words)
		}
	default:
		err = writeJSON(w, out)
	}
	if err != nil {
		return err
	}
	if err := w.Commit(); err != nil {
		return err
	}
	a.note("wrote %s", f.outputs)
	return nil
}

func writeJSON(w io.Writer, out map[string]*tensor.Tensor) error {
	v, err := feed.JSON(out)
	if err != nil {
		return err
	}
	b, err := compactJSON(v)
	if err == nil {
		_, err = fmt.Fprintf(w, "%s\n", b)
	}
	return err
}
