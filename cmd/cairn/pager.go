package main

import (
	"bytes"
	"cmp"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
)

// pagedVerbs are the verbs whose output goes to a pager if it is longer than the terminal.
var pagedVerbs = []string{"cat", "diff", "help", "ls", "scan", "show", "stat"}

// The pager is for people at a terminal: output to a file or a pipe never comes here.

// mostHeld is the number of bytes from which on the output counts as long. It may change.
const mostHeld = 1 << 18

// pager is a writer to a terminal. It holds the first lines, and starts the user's pager when
// there are more of them than the terminal has.
type pager struct {
	out     *os.File
	rows    int    // of the terminal
	command string // a line of sh, "" for none

	held   []byte         // the output until it is known whether it is long
	direct bool           // the output goes to the terminal as it comes
	pipe   io.WriteCloser // the pager's stdin; nil before it starts
	proc   *exec.Cmd      // the pager; nil before it starts
	late   bytes.Buffer   // output to stderr while the pager runs
}

// pagerCommand returns the user's pager: CAIRN_PAGER, PAGER, or less. It is "" if the user
// wants none, or there is none.
func pagerCommand() string {
	for _, name := range []string{"CAIRN_PAGER", "PAGER"} {
		if p, ok := os.LookupEnv(name); ok {
			if p = strings.TrimSpace(p); p == "cat" {
				return ""
			}
			return p
		}
	}
	if _, err := exec.LookPath("less"); err != nil {
		return ""
	}
	return "less"
}

// choose sets whether the verb's output is paged.
func (p *pager) choose(verb string, off bool) {
	if p != nil && (off || p.command == "" || !slices.Contains(pagedVerbs, verb)) {
		p.direct = true
	}
}

// Write holds b, or passes it on.
func (p *pager) Write(b []byte) (int, error) {
	switch {
	case p.pipe != nil:
		return p.pipe.Write(b)
	case p.direct:
		return p.out.Write(b)
	}
	p.held = append(p.held, b...)
	if bytes.Count(p.held, []byte("\n")) < p.rows && len(p.held) < mostHeld {
		return len(b), nil
	}
	held := p.held
	p.held = nil
	p.start()
	if _, err := p.Write(held); err != nil {
		return 0, err
	}
	return len(b), nil
}

// start runs the pager. Without one that starts the output goes to the terminal.
func (p *pager) start() {
	p.direct = true
	c := exec.Command("sh", "-c", p.command)
	c.Stdout, c.Stderr = p.out, os.Stderr
	c.Env = append(os.Environ(), "LESS="+cmp.Or(os.Getenv("LESS"), "FRX"))
	in, err := c.StdinPipe()
	if err != nil || c.Start() != nil {
		return
	}
	signal.Ignore(os.Interrupt) // which the pager gets too; the user ends it by its own key
	p.pipe, p.proc = in, c
}

// stderr returns a writer that doesn't write into the pager's screen: it holds its input
// while the pager runs.
func (p *pager) stderr(w io.Writer) io.Writer { return &besidePager{p, w} }

type besidePager struct {
	p *pager
	w io.Writer
}

// Write writes b to stderr now, or after the pager.
func (b *besidePager) Write(text []byte) (int, error) {
	if b.p.pipe != nil {
		return b.p.late.Write(text)
	}
	return b.w.Write(text)
}

// close writes the held output, and waits for the pager. w is stderr.
func (p *pager) close(w io.Writer) error {
	if p == nil {
		return nil
	}
	if p.pipe == nil {
		held := p.held
		p.held, p.direct = nil, true
		_, err := p.out.Write(held)
		return err
	}
	p.pipe.Close()
	_ = p.proc.Wait() // its exit code is the user's affair
	p.pipe = nil
	_, err := w.Write(p.late.Bytes())
	return err
}
