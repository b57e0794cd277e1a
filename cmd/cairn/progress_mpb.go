//go:build !js && !wasip1 && !plan9

package main

import (
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

type mpbBar struct {
	p   *mpb.Progress
	bar *mpb.Bar
}

func (b mpbBar) set(n int64) { b.bar.SetCurrent(n) }

func (b mpbBar) done() {
	b.bar.Abort(true)
	b.p.Wait()
}

func newMPB(a *app, total int64, options ...mpb.BarOption) bar {
	p := mpb.New(mpb.WithOutput(a.err), mpb.WithWidth(min(a.width, 80)-2), mpb.WithRefreshRate(80*time.Millisecond))
	style := mpb.BarStyle().Lbound(" ").Rbound(" ").Filler("━").Tip("━").Padding("─")
	return mpbBar{p, p.New(total, style, append(options, mpb.BarRemoveOnComplete())...)}
}

// newBytesBar shows bytes done, of how many, and how long the rest will take.
func newBytesBar(a *app, verb string, total int64) bar {
	return newMPB(a, total,
		mpb.PrependDecorators(decor.Name(verb)),
		mpb.AppendDecorators(
			decor.Percentage(decor.WCSyncSpace),
			decor.Name(" "),
			decor.CountersKibiByte("% .0f/% .0f"),
			decor.AverageETA(decor.ET_STYLE_GO, decor.WC{W: 6}),
		))
}
