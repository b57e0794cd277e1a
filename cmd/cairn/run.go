package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cairnml/cairn/cmd/cairn/internal/feed"
	"github.com/cairnml/cairn/cmd/cairn/internal/profile"
	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/rest"
	"github.com/cairnml/cairn/savedmodel"
	modelrun "github.com/cairnml/cairn/savedmodel/run"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/tensorfile"
)

// runFlags are the flags of run. Their descriptions are in newRun.
type runFlags struct {
	signature, inputs, outputs string   // a name, "" for the default; two files, "" for none
	literals                   []string // --input
	feeds, fetches             []string // of the graph, in the place of a signature
	pixels                     string   // "LOW,HIGH"
	tags                       []string // of the MetaGraph; nil for the default
	grantRead, grantWrite      string   // directories, "" for none
	picture, profile           string   // an output's name; a file
	repeat                     int      // calls besides the first and one to warm up
	force                      bool
}

func newRun(a *app) *cobra.Command {
	f := &runFlags{}
	c := &cobra.Command{
		Use:   "run PATH",
		Short: "Run a SavedModel's signature, or a graph by feeds and fetches",
		Long: `Run a signature of a SavedModel. Inputs come from a .npz file, whose arrays have
the inputs' names, from a request as TensorFlow Serving's REST API takes it, or,
if there is one input, from a .npy, a PNG, a JPEG or a .csv; - is stdin. A .csv
may have the inputs' names in its first line. --input gives one input, as JSON
or as @FILE.

The outputs go to a .npz or .json file, one that is an image to a .png, or all
as JSON to stdout. A request is answered as TensorFlow Serving does: "instances"
by row, a single output without its name, NaN and Infinity as they are; --json
writes these as strings, which every parser takes.

--repeat calls it again and says how long that takes. --profile says how long
each kind of op takes, and writes a trace that chrome://tracing and Perfetto
draw.

--fetch runs the graph and no signature: a GraphDef, which is a .pb or .pbtxt
file such as a frozen graph, or a SavedModel's. It names what to compute, "y" or
"y:1"; an operation without outputs is run. --feed gives values to nodes by
name. With --inputs the graph's placeholders are fed.

Files are out of the model's reach, its own assets excepted, unless --grant-read
or --grant-write gives it a directory. Names below it may be absolute.`,
		Example: `  cairn run model --inputs in.npz --outputs out.npz
  cairn run model --signature classify --inputs in.json
  cairn run model --inputs in.npz -o out.png
  cairn run model --inputs in.npz -o out.npz --repeat 100 --profile trace.json
  cairn run model --inputs cat.jpg --pixels -1,1
  cairn run model --input 'x=[[1, 2, 3]]' --input mask=@mask.npy
  cairn run frozen.pb --feed 'x=[[1, 2, 3]]' --fetch y
  echo '{"instances": [[1, 2, 3]]}' | cairn run model --inputs -`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 2 && f.inputs == "" && slices.Contains([]string{".json", ".npz", ".npy", ".csv", ".png", ".jpg", ".jpeg"}, suffix(args[1])) {
				return usagef("run needs a PATH; the inputs come with a flag: --inputs %s", args[1])
			}
			return need(1, 1, "a PATH")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, a, args[0]) },
	}
	c.Flags().StringVar(&f.signature, "signature", "", "call `NAME`, not serving_default or the only one")
	completeFlag(c, "signature", completeSignatures)
	c.Flags().StringSliceVar(&f.tags, "tags", nil, "the MetaGraph's tags, if there are several: `A,B`")
	c.Flags().StringVar(&f.inputs, "inputs", "", "read the inputs from `FILE`, or from stdin if it is -")
	c.Flags().StringArrayVar(&f.literals, "input", nil, "give one input, `NAME=VALUE`: JSON, or @FILE")
	c.Flags().StringArrayVar(&f.feeds, "feed", nil, "give a node of the graph a value: `NAME=VALUE`")
	c.Flags().StringArrayVar(&f.fetches, "fetch", nil, "compute the node or output `NAME` of the graph")
	c.Flags().StringVar(&f.pixels, "pixels", "", "the numbers for black and white: `LOW,HIGH`")
	c.Flags().StringVarP(&f.outputs, "outputs", "o", "", "write the outputs to `FILE`: .npz, .json or .png")
	c.Flags().StringVar(&f.picture, "picture", "", "the `NAME` of the output that a .png shows")
	c.Flags().IntVar(&f.repeat, "repeat", 0, "call it `N` times more, and print the latencies")
	c.Flags().StringVar(&f.profile, "profile", "", "print the time by op, and write a trace to `FILE`")
	c.Flags().StringVar(&f.grantRead, "grant-read", "", "let the model read files in `DIR`")
	c.Flags().StringVar(&f.grantWrite, "grant-write", "", "let the model read and write files in `DIR`")
	c.Flags().BoolVarP(&f.force, "force", "f", false, "replace FILE, if there is one")
	return c
}

// files returns the file access that the grants allow the model.
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

// denied returns the error for a model's access to a file that the flags don't grant. It names the flag
// that would. Any other error is returned unchanged.
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

// run loads the model, reads the inputs, calls the signature, and writes the outputs. Nothing is
// written if any of the steps before fails.
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
	o := &modelrun.LoadOptions{
		Kernels: kernel.All(), Signatures: []string{}, Tags: f.tags, Files: files, Log: a.err,
		Read: &savedmodel.ReadOptions{MaxMemory: a.open.MaxMemory},
	}
	if f.profile != "" {
		prof = &profile.Profile{}
		o.Tracer = &measured{profile: prof}
	}
	m, err := f.load(ctx, a, dir, o)
	if err != nil {
		return err
	}
	src := &feed.Source{}
	if f.inputs != "" {
		if src, err = feed.Open(f.inputs, a.in); err != nil {
			return err
		}
		defer src.Close()
	}
	s, def, err := f.callee(m, src, dir)
	if err != nil {
		return err
	}
	in, err := f.read(ctx, a, src, s)
	if err != nil {
		return err
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
	answer := &feed.Answer{Outputs: out, Signature: def}
	answer.Form, answer.Named = src.Form()
	for _, x := range in {
		if answer.Form == rest.Examples {
			answer.Examples = x.Len()
		}
	}
	return f.write(a, answer, result)
}

// read returns the inputs.
func (f *runFlags) read(ctx context.Context, a *app, src *feed.Source, s *modelrun.Signature) (map[string]*tensor.Tensor, error) {
	opts := &feed.Options{Note: a.note}
	if f.pixels != "" {
		low, high, _ := strings.Cut(f.pixels, ",")
		var err1, err2 error
		opts.Low, err1 = strconv.ParseFloat(strings.TrimSpace(low), 64)
		opts.High, err2 = strconv.ParseFloat(strings.TrimSpace(high), 64)
		if err1 != nil || err2 != nil || opts.Low == opts.High {
			return nil, usagef("--pixels takes two numbers, such as -1,1")
		}
	}
	if f.inputs != "" {
		return src.Read(ctx, s.Inputs(), opts)
	}
	in := map[string]*tensor.Tensor{}
	for flag, list := range map[string][]string{"--input": f.literals, "--feed": f.feeds} {
		for _, l := range list {
			if err := feed.AddLiteral(ctx, in, l, a.in, s.Inputs(), opts); err != nil {
				return nil, fmt.Errorf("%s: %w", flag, err)
			}
		}
	}
	return in, nil
}

// check looks at the flags before anything is read.
func (f *runFlags) check() error {
	if f.inputs != "" && f.literals != nil {
		return usagef("--inputs and --input both set the inputs; use one")
	}
	if err := f.checkGraph(); err != nil {
		return err
	}
	if f.repeat < 0 {
		return usagef("--repeat takes a number of calls")
	}
	if f.picture != "" && !strings.HasSuffix(f.outputs, ".png") {
		return usagef("--picture is for --outputs FILE.png; add it")
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

// choose returns the signature's name: the one that the user or the request asks
// for, serving_default, or the only one.
func (f *runFlags) choose(m *modelrun.Model, src *feed.Source) (string, error) {
	asked := src.Signature()
	switch list := m.MetaGraph().Signatures; {
	case f.signature != "" && asked != "" && asked != f.signature:
		return "", usagef("--signature is %q, and the request asks for %q", f.signature, asked)
	case f.signature != "":
		return f.signature, nil
	case asked != "":
		return asked, nil
	case len(list) == 1:
		return list[0].Name, nil
	}
	return "serving_default", nil
}

// measured passes ops on to a profile while on is set. So the profile has the measured call alone, without the
// first one, which prepares kernels.
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

// runResult contains the measurements of the calls.
type runResult struct {
	first   time.Duration
	latency *profile.Latencies
	rows    []profile.Row
}

// measure calls the signature again if --repeat or --profile asks for it: once to warm up, then
// --repeat times with the clock on, and once for the profile.
func (r *runResult) measure(ctx context.Context, f *runFlags, o *modelrun.LoadOptions, s *modelrun.Signature, in map[string]*tensor.Tensor) error {
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
		l := profile.Summarize(r.first, took)
		r.latency = &l
	}
	if t, ok := o.Tracer.(*measured); ok {
		t.on = true
		_, err := s.Call(ctx, in)
		return err
	}
	return nil
}

// writeTrace writes the profile's trace to the file of --profile.
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

// printTimes prints the latencies and the table by op to stderr: stdout has the
// outputs.
func (r *runResult) printTimes(a *app) {
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

// write writes the outputs to the file or to stdout.
func (f *runFlags) write(a *app, answer *feed.Answer, r *runResult) error {
	if !a.json {
		r.printTimes(a)
	}
	var more []feed.Field
	if r.latency != nil {
		more = append(more, feed.Field{Name: "latency", Value: r.latency})
	}
	if r.rows != nil {
		more = append(more, feed.Field{Name: "profile", Value: r.rows})
	}
	switch {
	case f.outputs != "" && a.json: // the outputs go to the file
		if err := feed.WriteFields(a.out, more); err != nil {
			return err
		}
	case f.outputs == "" && a.json:
		return answer.WriteJSONWith(a.out, more)
	case f.outputs == "":
		return answer.WriteJSON(a.out, false)
	}
	w, err := tensorfile.CreateFile(f.outputs, f.force)
	if err != nil {
		return err
	}
	defer w.Abort()
	switch suffix(f.outputs) {
	case ".npz":
		err = feed.WriteNPZ(w, answer.Outputs)
	case ".png":
		var words string
		if words, err = feed.WritePNG(w, answer.Outputs, f.picture); err == nil {
			a.note("%s: %s", f.outputs, words)
		}
	default:
		err = answer.WriteJSON(w, a.json)
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
