package main

import (
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// progressAfter is how long a task runs before a bar is worth drawing.
const progressAfter = 300 * time.Millisecond

// bytesBar draws a bar of bytes on a terminal's stderr, once the work has lasted
// a moment. Elsewhere it draws nothing.
type bytesBar struct {
	a     *app
	verb  string
	start time.Time
	p     *mpb.Progress
	bar   *mpb.Bar
}

func (a *app) bytesBar(verb string) *bytesBar { return &bytesBar{a: a, verb: verb, start: time.Now()} }

// update is the progress function handed to library calls.
func (b *bytesBar) update(done, total int64) {
	if !b.a.errTTY || b.a.quiet {
		return
	}
	if b.p == nil {
		if time.Since(b.start) < progressAfter || done >= total {
			return
		}
		b.p = mpb.New(mpb.WithOutput(b.a.err), mpb.WithWidth(min(b.a.width, 80)-2), mpb.WithRefreshRate(100*time.Millisecond))
		b.bar = b.p.New(total, mpb.BarStyle().Lbound(" ").Rbound(" ").Filler("━").Tip("━").Padding("─"),
			mpb.PrependDecorators(decor.Name(b.verb)),
			mpb.AppendDecorators(
				decor.Percentage(decor.WCSyncSpace),
				decor.Name(" "),
				decor.CountersKibiByte("% .0f/% .0f"),
				decor.OnComplete(decor.AverageETA(decor.ET_STYLE_GO, decor.WC{W: 6}), ""),
			), mpb.BarRemoveOnComplete())
	}
	b.bar.SetCurrent(done)
}

// done takes the bar away.
func (b *bytesBar) done() {
	if b.p != nil {
		b.bar.Abort(true)
		b.p.Wait()
	}
}
