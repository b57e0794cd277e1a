package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cairnml/cairn/inspect"
	"github.com/cairnml/cairn/inspect/render"
	"github.com/cairnml/cairn/internal/demo"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/callbacks"
	"github.com/cairnml/cairn/keras/training"
	"github.com/cairnml/cairn/tensorfile"
)

func newDemo(a *app) *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "demo [--dir DIR]",
		Short: "Train, save, stop and resume a small model",
		Long: `Train a small classifier of handwritten digits (1,797 of them are in this
program), save through a checkpoint manager, stop half way, make everything
anew, resume from the files, and show what the last checkpoint holds. TensorFlow
reads these files as its own. Export the trained model as a SavedModel, load it
and train it on. Then run a network that TensorFlow trained and saved, and
compare with TensorFlow's answers.`,
		Example: `  cairn demo
  cairn demo --dir digits     keep the checkpoints there; a second run goes on`,
		Args: need(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			d := &digits{a: a, dir: dir}
			err := d.run(cmd.Context())
			if errors.Is(err, context.Canceled) && d.dir != "" && d.saved {
				a.note("what was saved stays; go on with: cairn demo --dir %s", d.dir)
			}
			return err
		},
	}
	c.Flags().StringVar(&dir, "dir", "", "where to save (default: a new temporary directory)")
	c.MarkFlagDirname("dir")
	return c
}

// demoOptions returns the sizes of the run. app_test.go expects its steps, these
// texts, and lines of at most 80 columns.
func demoOptions() *demo.Options { return &demo.Options{Epochs: 8, EpochSteps: 500, MaxToKeep: 3} }

// digits is one run of the demo. Package internal/demo trains; this file reports.
type digits struct {
	a     *app
	dir   string // of the checkpoints
	saved bool   // a checkpoint exists, from which a later run can resume
}

// report prints a line of the report; with --json only the result is printed.
func (d *digits) report(format string, args ...any) {
	if !d.a.json {
		fmt.Fprintf(d.a.out, format+"\n", args...)
		d.a.flush()
	}
}

// run trains half, stops, trains the rest, exports the model, and runs the one of TensorFlow.
func (d *digits) run(ctx context.Context) error {
	start := time.Now()
	if d.dir == "" {
		dir, err := os.MkdirTemp("", "cairn-demo-")
		if err != nil {
			return err
		}
		d.dir = dir
	}
	train, heldOut, err := counts()
	if err != nil {
		return err
	}
	d.report("Learning to read handwritten digits: %d images to learn from, %d held out.", train, heldOut)
	d.report("Checkpoints go to %s\n", d.dir)

	stopped, err := d.trainPart(ctx, true)
	if err != nil {
		return err
	}
	if stopped {
		d.report("Stopped half way, and everything in memory thrown away.\n")
		if _, err := d.trainPart(ctx, false); err != nil {
			return err
		}
	}
	r, err := demo.New(d.dir, demoOptions())
	if err != nil {
		return err
	}
	defer r.Close()
	path, err := r.Resume(ctx)
	if err != nil {
		return err
	}
	accuracy, err := r.Accuracy(ctx)
	if err != nil {
		return err
	}
	model := filepath.Join(d.dir, "model")
	if err := r.Export(ctx, model); err != nil {
		return err
	}
	reloaded, err := demo.Reload(ctx, model, moreSteps)
	if err != nil {
		return err
	}
	pretrained, err := demo.RunPretrained(ctx)
	if err != nil {
		return err
	}
	if d.a.json {
		return d.a.printJSON(struct {
			Dir        string  `json:"dir"`
			Checkpoint string  `json:"checkpoint"`
			Steps      int     `json:"steps"`
			Accuracy   float64 `json:"accuracy"`
			Export     any     `json:"export"`
			Pretrained any     `json:"pretrained"`
			Seconds    float64 `json:"seconds"`
		}{d.dir, path, int(r.Training.Step.Get()), accuracy, exportJSON(model, reloaded), pretrainedJSON(pretrained), time.Since(start).Seconds()})
	}
	d.report("%.1f%% of the held-out digits are read right. Some of them:\n", 100*accuracy)
	guesses, err := r.Guess(ctx, heldOut)
	if err != nil {
		return err
	}
	drawDigits(d.a, choose(guesses))
	d.report("\nWhat the checkpoint holds:\n")
	if err := d.show(ctx, path); err != nil {
		return err
	}
	d.report("\nExported as a SavedModel to %s,\nloaded again without the program's types: %.1f%% are read right. %d more\nsteps by its own training function take the loss from %.4f to %.4f.",
		model, 100*reloaded.Accuracy, reloaded.Steps, reloaded.First, reloaded.Last)
	d.reportPretrained(pretrained)
	d.report("\nThat took %.1f s. Now try\n", time.Since(start).Seconds())
	for _, c := range []string{
		"ls " + path,
		"stat " + path + " --plot weights.svg",
		"show " + path + " --svg graph.svg",
		"show " + model,
		"diff " + earlier(path) + " " + path,
		"convert " + path + " digits.npz",
	} {
		d.report("  %s %s", commandName(os.Executable()), c)
	}
	return nil
}

// moreSteps is how many steps the exported model trains on.
const moreSteps = 20

func exportJSON(dir string, r *demo.Reloaded) any {
	return struct {
		Dir      string  `json:"dir"`
		Accuracy float64 `json:"accuracy"`
		Steps    int     `json:"steps"`
		First    float64 `json:"first_loss"`
		Last     float64 `json:"last_loss"`
	}{dir, r.Accuracy, r.Steps, r.First, r.Last}
}

// commandName returns the words by which the user can call this program again: those
// of go run if it was built for one run.
func commandName(executable string, err error) string {
	if err == nil && strings.Contains(filepath.ToSlash(executable), "/go-build") {
		return "go run ./cmd/cairn"
	}
	return "cairn"
}

func pretrainedJSON(p *demo.Pretrained) any {
	return struct {
		Accuracy   float64 `json:"accuracy"`
		Difference float64 `json:"max_difference"`
		LoadMS     float64 `json:"load_ms"`
		CallMS     float64 `json:"call_ms"`
	}{float64(p.Right) / float64(p.Images), p.Difference, p.Load.Seconds() * 1e3, p.Call.Seconds() * 1e3}
}

// reportPretrained describes the model that TensorFlow trained.
func (d *digits) reportPretrained(p *demo.Pretrained) {
	d.report("\nA SavedModel that TensorFlow %s trained and wrote: loaded in %.3g ms, %d\ndigits read in %.3g ms, %.1f%% of them right. The largest difference from\nTensorFlow's own answers is %.1g.",
		p.Writer, p.Load.Seconds()*1e3, p.Images, p.Call.Seconds()*1e3, 100*float64(p.Right)/float64(p.Images), p.Difference)
}

// trainPart trains from the latest checkpoint in the directory: to half of the epochs
// if half is set, otherwise to the end. It reports whether it stopped before the end.
func (d *digits) trainPart(ctx context.Context, half bool) (stopped bool, err error) {
	r, err := demo.New(d.dir, demoOptions())
	if err != nil {
		return false, err
	}
	defer r.Close()
	path, err := r.Resume(ctx)
	if err != nil {
		return false, err
	}
	begin := r.Epoch()
	switch {
	case path == "":
		d.report("Nothing to resume from: starting at step 0.")
	default:
		d.report("Resumed from %s at step %d.", filepath.Base(path), r.Training.Step.Get())
	}
	until := r.Options.Epochs
	if half && begin < until/2 {
		until, stopped = until/2, true
	}
	if begin >= until {
		d.report("The training is done already.\n")
		return false, nil
	}
	logs, err := r.Train(ctx, until, d.progress())
	d.saved = r.Manager.Latest() != ""
	if err == nil {
		d.report("Step %d, loss %.3f, saved as %s.", r.Training.Step.Get(), logs["loss"], filepath.Base(r.Manager.Latest()))
	}
	return stopped, err
}

// progress returns the options that report the progress of a fit: a bar for each epoch on a terminal, a line for each
// elsewhere.
func (d *digits) progress() *keras.FitOptions {
	o := &keras.FitOptions{Output: d.a.err, Verbose: training.Lines}
	switch {
	case d.a.quiet:
		o.Verbose = training.Silent
	case d.a.errTTY:
		o.Verbose = training.Bar
		o.Callbacks = []callbacks.Callback{&callbacks.ProgbarLogger{Width: d.a.width}}
	}
	return o
}

// counts returns the number of images to learn from and held out.
func counts() (train, heldOut int, err error) {
	a, b, err := demo.Split()
	if err != nil {
		return 0, 0, err
	}
	x, err := a.Labels.Tensor()
	if err != nil {
		return 0, 0, err
	}
	y, err := b.Labels.Tensor()
	if err != nil {
		return 0, 0, err
	}
	return x.Len(), y.Len(), nil
}

// show prints the checkpoint's object graph as text.
func (d *digits) show(ctx context.Context, path string) error {
	s, err := tensorfile.Open(ctx, path, nil)
	if err != nil {
		return err
	}
	defer s.Close()
	g, err := inspect.Graph(ctx, s)
	if err != nil {
		return err
	}
	if len(g.Nodes) > 0 {
		g.Nodes[0].Title = strings.Replace(g.Nodes[0].Title, path, filepath.Base(path), 1)
	}
	return g.Text(d.a.out, &render.TextOptions{Color: d.a.color, Width: d.a.width, Break: d.a.outTTY})
}

// earlier returns the checkpoint before path, or path if there is none.
func earlier(path string) string {
	base := strings.TrimRight(path, "0123456789")
	var n int
	if _, err := fmt.Sscan(path[len(base):], &n); err == nil {
		before := fmt.Sprintf("%s%d", base, n-1)
		if _, err := os.Stat(before + ".index"); err == nil {
			return before
		}
	}
	return path
}

// choose picks three digits that were read right, no two alike, and one that was
// not, if there is one.
func choose(all []demo.Guess) []demo.Guess {
	var out []demo.Guess
	seen := map[int]bool{}
	for _, g := range all {
		if g.Guess == g.Truth && !seen[g.Truth] && len(out) < 3 {
			seen[g.Truth] = true
			out = append(out, g)
		}
	}
	for _, g := range all {
		if g.Guess != g.Truth {
			return append(out, g)
		}
	}
	return out
}

// drawDigits draws images of 8 by 8 in a row, two columns a pixel, with the
// net's guesses below.
func drawDigits(a *app, guesses []demo.Guess) {
	shades := []string{"  ", "░░", "▒▒", "▓▓", "██"}
	for y := range 8 {
		var line strings.Builder
		for _, g := range guesses {
			line.WriteString("  ")
			for x := range 8 {
				line.WriteString(shades[min(int(g.Image[8*y+x])*5/17, 4)])
			}
		}
		fmt.Fprintln(a.out, strings.TrimRight(line.String(), " "))
	}
	var line strings.Builder
	for _, g := range guesses {
		words := fmt.Sprintf("a %d", g.Guess)
		if g.Guess != g.Truth {
			words += fmt.Sprintf(", but it is a %d", g.Truth)
		}
		fmt.Fprintf(&line, "  %-16s", words)
	}
	fmt.Fprintln(a.out, strings.TrimRight(line.String(), " "))
}
