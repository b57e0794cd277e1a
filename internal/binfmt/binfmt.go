// Package binfmt prints bytes of a file with their meaning: offset, hex, words.
// Golden tests compare such dumps, so that a difference between two files reads
// as a difference in meaning. Packages bundle and internal/table use it.
package binfmt

import (
	"fmt"
	"io"
	"strings"
)

// width is the number of bytes on a line; of longer fields the first and the last ones are shown. Goldens
// of the packages above have this form.
const width = 12

// A Printer walks through bytes and prints a line for each field. The first
// error of its writer sticks.
type Printer struct {
	w      io.Writer
	b      []byte
	at     int   // the next byte of b
	base   int64 // the offset of b[0] in the file
	indent int   // levels of In
	err    error // the writer's first error
}

// New returns a Printer to w of the bytes b, whose first byte is at offset
// base.
func New(w io.Writer, b []byte, base int64) *Printer { return &Printer{w: w, b: b, base: base} }

// In increases the indentation of the following lines, Out decreases it.
func (p *Printer) In() { p.indent++ }

// Out undoes In.
func (p *Printer) Out() { p.indent-- }

// Rest returns the bytes that haven't been printed.
func (p *Printer) Rest() []byte { return p.b[p.at:] }

// Err returns the writer's first error.
func (p *Printer) Err() error { return p.err }

// Line prints words without bytes.
func (p *Printer) Line(format string, args ...any) {
	p.print("", "", fmt.Sprintf(format, args...))
}

// Field prints the next n bytes (or the rest) with their meaning.
func (p *Printer) Field(n int, format string, args ...any) {
	n = max(0, min(n, len(p.b)-p.at))
	b := p.b[p.at : p.at+n]
	p.print(fmt.Sprintf("%08x", p.base+int64(p.at)), Hex(b), fmt.Sprintf(format, args...))
	p.at += n
}

// Skip passes the next n bytes over.
func (p *Printer) Skip(n int) { p.at += max(0, min(n, len(p.b)-p.at)) }

func (p *Printer) print(offset, hex, words string) {
	if p.err != nil {
		return
	}
	line := fmt.Sprintf("%-8s  %-*s  %s%s", offset, width*3-1, hex, strings.Repeat("  ", p.indent), words)
	_, p.err = fmt.Fprintln(p.w, strings.TrimRight(line, " "))
}

// Hex returns b as pairs of digits; the middle of long runs is left out.
func Hex(b []byte) string {
	if len(b) <= width {
		return fmt.Sprintf("% x", b)
	}
	return fmt.Sprintf("% x ... % x", b[:width-3], b[len(b)-2:])
}
