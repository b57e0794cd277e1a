package callbacks

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/term"
)

// IsTerminal reports whether a writer is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// ProgbarLogger writes the progress to the run's Output: a bar for each epoch if Verbose is
// 1, a line for each epoch if it is 2. Fit, Evaluate and Predict add one.
//
// A line that does not fit the terminal's width has a shorter bar. If that isn't enough, it
// loses its last numbers while it moves; the finished line of an epoch has all.
type ProgbarLogger struct {
	Base
	// Width is the number of columns of the terminal. Default: those of Output, or no limit.
	Width int

	inFit bool
	run   *Run
	bar   *progbar
	now   func() time.Time // time.Now, except in tests
}

// OnTrainBegin makes validations silent.
func (p *ProgbarLogger) OnTrainBegin(context.Context, *Run) error {
	p.inFit = true
	return nil
}

// OnTrainEnd lets evaluations be shown again.
func (p *ProgbarLogger) OnTrainEnd(context.Context, *Run, Logs) error {
	p.inFit = false
	return nil
}

// OnTrainAbort lets evaluations be shown again, and ends the line of a moving bar.
func (p *ProgbarLogger) OnTrainAbort() {
	p.inFit = false
	if p.bar != nil && p.bar.open {
		p.bar.open = false
		p.run.Printf("\n")
	}
}

// OnEpochBegin begins a bar.
func (p *ProgbarLogger) OnEpochBegin(_ context.Context, r *Run, epoch int) error {
	p.begin(r)
	if r.Params.Verbose != 0 && r.Params.Epochs > 1 {
		r.Printf("Epoch %d/%d\n", epoch+1, r.Params.Epochs)
	}
	return nil
}

// OnTrainBatchEnd moves the bar.
func (p *ProgbarLogger) OnTrainBatchEnd(_ context.Context, r *Run, batch int, logs Logs) error {
	p.bar.update(r, batch+1, logs, false)
	return nil
}

// OnEpochEnd ends the bar.
func (p *ProgbarLogger) OnEpochEnd(_ context.Context, r *Run, _ int, logs Logs) error {
	p.bar.finish(r, logs)
	return nil
}

// OnTestBegin begins a bar outside of Fit.
func (p *ProgbarLogger) OnTestBegin(_ context.Context, r *Run) error {
	if !p.inFit {
		p.begin(r)
	}
	return nil
}

// OnTestBatchEnd moves the bar outside of Fit.
func (p *ProgbarLogger) OnTestBatchEnd(_ context.Context, r *Run, batch int, logs Logs) error {
	if !p.inFit {
		p.bar.update(r, batch+1, logs, false)
	}
	return nil
}

// OnTestEnd ends the bar outside of Fit.
func (p *ProgbarLogger) OnTestEnd(_ context.Context, r *Run, logs Logs) error {
	if !p.inFit {
		p.bar.finish(r, logs)
	}
	return nil
}

// OnPredictBegin begins a bar.
func (p *ProgbarLogger) OnPredictBegin(_ context.Context, r *Run) error {
	p.begin(r)
	return nil
}

// OnPredictBatchEnd moves the bar.
func (p *ProgbarLogger) OnPredictBatchEnd(_ context.Context, r *Run, batch int) error {
	p.bar.update(r, batch+1, nil, false)
	return nil
}

// OnPredictEnd ends the bar.
func (p *ProgbarLogger) OnPredictEnd(_ context.Context, r *Run) error {
	p.bar.finish(r, nil)
	return nil
}

// begin begins a bar. The number of steps of an earlier one is kept if it was unknown.
func (p *ProgbarLogger) begin(r *Run) {
	if p.now == nil {
		p.now = time.Now
	}
	width := p.Width
	if f, ok := r.Output.(*os.File); ok && width == 0 {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil {
			width = w
		}
	}
	p.run = r
	target := r.Params.Steps
	if target == 0 && p.bar != nil {
		target = p.bar.target
	}
	p.bar = &progbar{target: target, width: width, now: p.now, start: p.now()}
}

// barWidth is the number of characters of a whole bar, as in tf_keras. shortBar is that of the
// shortest one, and ours.
const (
	barWidth = 30
	shortBar = 10
)

// interval is the least time between two pictures of a bar, as in tf_keras.
const interval = 50 * time.Millisecond

// progbar is the progress of one epoch.
type progbar struct {
	target     int // 0: unknown
	width      int // of the terminal, 0 for no limit
	now        func() time.Time
	start      time.Time
	afterFirst time.Time
	shown      time.Time
	seen       int  // steps so far
	drawn      int  // the length of the last picture
	open       bool // the last picture was not the finished one
}

// finish ends the bar. It learns the number of steps if it was unknown.
func (b *progbar) finish(r *Run, logs Logs) {
	if b.target == 0 {
		b.target = max(b.seen, 1)
	}
	b.update(r, b.target, logs, true)
}

func (b *progbar) update(r *Run, current int, logs Logs, finish bool) {
	b.seen = current
	now := b.now()
	elapsed := now.Sub(b.start).Seconds()
	perUnit := b.perStep(current, now)
	switch r.Params.Verbose {
	case 1:
		if !finish && now.Sub(b.shown) < interval {
			return
		}
		b.shown = now
		b.draw(r, current, logs, finish, elapsed, perUnit)
	case 2:
		if finish {
			line := b.count(current) + fmt.Sprintf(" - %.0fs", elapsed) + numbers(r, logs, false, 0)
			r.Printf("%s - %s - %s\n", line, duration(elapsed, "epoch"), duration(elapsed/float64(b.target), "step"))
		}
	}
}

func (b *progbar) draw(r *Run, current int, logs Logs, finish bool, elapsed, perUnit float64) {
	text := fmt.Sprintf("%7d/Unknown", current)
	info := fmt.Sprintf(" - %.0fs", elapsed)
	if b.target > 0 {
		width := b.cells(r, logs)
		n := width * current / b.target
		bar := ""
		if n > 0 {
			bar = strings.Repeat("=", n-1) + ">"
			if current >= b.target {
				bar = strings.Repeat("=", n)
			}
		}
		text = b.count(current) + " [" + bar + strings.Repeat(".", max(width-n, 0)) + "]"
	}
	if b.target == 0 || finish {
		info += " " + duration(perUnit, "step")
	} else {
		info = " - ETA: " + eta(perUnit*float64(b.target-current))
	}
	text += info
	limit := 0
	if !finish && b.width > 0 {
		limit = max(b.width-1-len(text), 1)
	}
	text += numbers(r, logs, true, limit)
	if !finish && b.width > 0 && len(text) > b.width-1 {
		text = text[:max(b.width-1, 0)]
	}
	padding := strings.Repeat(" ", max(b.drawn-len(text), 0))
	back := strings.Repeat("\b", b.drawn) + "\r"
	b.drawn, b.open = len(text), !finish
	end := ""
	if finish {
		end = "\n"
	}
	r.Printf("%s%s%s%s", back, text, padding, end)
}

// cells returns the number of characters of the bar: fewer than usual if all numbers fit the
// terminal then.
func (b *progbar) cells(r *Run, logs Logs) int {
	const times = len(" - 10s 100ms/step")
	left := b.width - 1 - len(b.count(b.target)+" []") - times - len(numbers(r, logs, true, 0))
	if b.width == 0 || left < shortBar {
		return barWidth
	}
	return min(left, barWidth)
}

// count returns "  3/120".
func (b *progbar) count(current int) string {
	total := strconv.Itoa(b.target)
	return fmt.Sprintf("%*d/%s", len(total), current, total)
}

// perStep returns an estimate of the seconds that a step takes. The first step, which
// traces the model, is left out if there are others.
func (b *progbar) perStep(current int, now time.Time) float64 {
	if current == 0 {
		return 0
	}
	each := now.Sub(b.start).Seconds() / float64(current)
	if !b.afterFirst.IsZero() && current > 1 {
		each = now.Sub(b.afterFirst).Seconds() / float64(current-1)
	}
	if current == 1 {
		b.afterFirst = now
	}
	return each
}

// numbers returns " - loss: 0.1234 - …" in the order of the run's metrics; others come after
// them by name. limit is the number of characters that it may have, 0 for any.
func numbers(r *Run, logs Logs, absolute bool, limit int) string {
	var out strings.Builder
	for _, name := range r.names(logs) {
		x := logs[name]
		size := x
		if absolute {
			size = math.Abs(x)
		}
		text := fmt.Sprintf(" - %s: %s", name, format(x, size > 1e-3))
		if limit > 0 && out.Len()+len(text) > limit {
			break
		}
		out.WriteString(text)
	}
	return out.String()
}

func format(x float64, fixed bool) string {
	switch {
	case math.IsNaN(x):
		return "nan"
	case math.IsInf(x, 1):
		return "inf"
	case math.IsInf(x, -1):
		return "-inf"
	case fixed:
		return strconv.FormatFloat(x, 'f', 4, 64)
	}
	return strconv.FormatFloat(x, 'e', 4, 64)
}

// names returns the names of logs in the order of the metrics.
func (r *Run) names(logs Logs) []string {
	var names []string
	for _, name := range r.Params.Metrics {
		if _, ok := logs[name]; ok && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(logs)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func duration(seconds float64, unit string) string {
	switch {
	case seconds >= 1 || seconds == 0:
		return fmt.Sprintf("%.0fs/%s", seconds, unit)
	case seconds >= 1e-3:
		return fmt.Sprintf("%.0fms/%s", seconds*1e3, unit)
	}
	return fmt.Sprintf("%.0fus/%s", seconds*1e6, unit)
}

func eta(seconds float64) string {
	n := int(min(seconds, math.MaxInt32))
	switch {
	case seconds > 3600:
		return fmt.Sprintf("%d:%02d:%02d", n/3600, n%3600/60, n%60)
	case seconds > 60:
		return fmt.Sprintf("%d:%02d", n/60, n%60)
	}
	return strconv.Itoa(n) + "s"
}
