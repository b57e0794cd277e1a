package main

import "time"

// progressAfter is the time that a task runs before a bar is drawn. It may change.
const progressAfter = 300 * time.Millisecond

// bar is a progress bar that is being drawn: progress_mpb.go has one for systems with terminals,
// progress_none.go one for the others.
type bar interface {
	set(n int64) // n bytes are done, of those that newBytesBar was called with
	done()       // removes the bar from the terminal
}

// bytesBar draws a bar of bytes on a terminal's stderr, once the work has lasted
// a moment. Elsewhere it draws nothing.
type bytesBar struct {
	a     *app
	verb  string
	start time.Time
	bar   bar
}

func (a *app) bytesBar(verb string) *bytesBar { return &bytesBar{a: a, verb: verb, start: time.Now()} }

// update shows progress; library calls get it as their progress function.
func (b *bytesBar) update(done, total int64) {
	if !b.a.errTTY || b.a.quiet {
		return
	}
	if b.bar == nil {
		if time.Since(b.start) < progressAfter || done >= total {
			return
		}
		b.bar = newBytesBar(b.a, b.verb, total)
	}
	b.bar.set(done)
}

// done takes the bar away; a second call does nothing.
func (b *bytesBar) done() {
	if b.bar != nil {
		b.bar.done()
		b.bar = nil
	}
}
