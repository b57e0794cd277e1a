package tensor

import (
	"math"
	"strconv"
	"strings"
)

// parse reads the header's text, a Python dictionary of exactly the keys descr,
// fortran_order and shape.
func (h *NPYHeader) parse(text string) error {
	p := &pyLiteral{s: text}
	if !p.eat('{') {
		return npyErr("the header is no dictionary: %.60q", text)
	}
	seen := map[string]bool{}
	var descr string
	for !p.eat('}') {
		key, ok := p.str()
		if !ok || !p.eat(':') || seen[key] {
			return npyErr("the header can't be read at byte %d: %.80q", p.at, text)
		}
		seen[key] = true
		switch key {
		case "descr":
			p.space()
			if p.at < len(p.s) && p.s[p.at] == '[' {
				return npyErr("a structured array; only arrays of one plain type can be tensors")
			}
			descr, ok = p.str()
		case "fortran_order":
			h.Fortran, ok = p.boolean()
		case "shape":
			h.Shape, ok = p.shape()
		default:
			return npyErr("the header has the unknown key %q", key)
		}
		if !ok {
			return npyErr("the header's %s can't be read: %.80q", key, text)
		}
		if !p.eat(',') {
			if !p.eat('}') {
				return npyErr("the header's dictionary doesn't end: %.80q", text)
			}
			break
		}
	}
	if len(seen) != 3 {
		return npyErr("the header lacks descr, fortran_order or shape: %.80q", text)
	}
	if p.space(); p.at != len(p.s) {
		return npyErr("text after the header's dictionary: %.40q", p.s[p.at:])
	}
	n, err := h.Shape.NumElements()
	if err != nil {
		return &NPYError{What: "the header's shape", Err: err}
	}
	if err := h.setType(descr); err != nil {
		return err
	}
	if h.width > 0 && int64(n) > math.MaxInt64/int64(h.width) {
		return npyErr("shape %v of %s overflows", h.Shape, descr)
	}
	h.Size = int64(n) * int64(h.width)
	return nil
}

// setType understands numpy's type string: byte order, kind, bytes.
func (h *NPYHeader) setType(descr string) error {
	d := descr
	if d != "" && strings.IndexByte("<>|=", d[0]) >= 0 {
		switch d[0] {
		case '>':
			h.bigEndian = true
		case '=':
			h.bigEndian = bigEndianHost
		}
		d = d[1:]
	}
	if d == "" {
		return npyErr("the type %q is not known", descr)
	}
	kind := d[0]
	n, err := strconv.Atoi(d[1:])
	if d == "?" {
		kind, n, err = 'b', 1, nil
	}
	if err != nil && kind != 'O' && kind != 'M' && kind != 'm' || n < 0 {
		return npyErr("the type %q is not known", descr)
	}
	switch kind {
	case 'S', 'a':
		h.DType, h.width = String, n
		return nil
	case 'U':
		if n > math.MaxInt32/4 {
			return npyErr("strings of %d characters", n)
		}
		h.DType, h.width, h.unicode = String, 4*n, true
		return nil
	case 'V':
		return npyErr("an array of raw bytes (%s): numpy saves bfloat16 and float8 so and forgets which it was; cast it to float32 before saving", descr)
	case 'O':
		return npyErr("an array of Python objects, which would need pickle")
	case 'M', 'm':
		return npyErr("an array of dates or times (%s)", descr)
	}
	canonical := string(kind) + strconv.Itoa(n)
	for t, code := range npyCodes {
		if code[1:] == canonical {
			h.DType, h.width = t, t.Size()
			return nil
		}
	}
	return npyErr("no tensor has elements of type %q", descr)
}

// pyLiteral reads the few Python literals that a header is made of. Its methods skip blanks
// first, and return false if the text is something else.
type pyLiteral struct {
	s  string
	at int
}

func (p *pyLiteral) space() {
	for p.at < len(p.s) && strings.IndexByte(" \t\r\n\x00", p.s[p.at]) >= 0 {
		p.at++
	}
}

func (p *pyLiteral) eat(c byte) bool {
	p.space()
	if p.at < len(p.s) && p.s[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *pyLiteral) str() (string, bool) {
	p.space()
	if p.at >= len(p.s) {
		return "", false
	}
	q := p.s[p.at]
	if q != '\'' && q != '"' {
		return "", false
	}
	n := strings.IndexByte(p.s[p.at+1:], q)
	if n < 0 {
		return "", false
	}
	s := p.s[p.at+1 : p.at+1+n]
	p.at += n + 2
	return s, !strings.Contains(s, `\`)
}

func (p *pyLiteral) boolean() (v, ok bool) {
	p.space()
	for _, w := range []string{"True", "False"} {
		if strings.HasPrefix(p.s[p.at:], w) {
			p.at += len(w)
			return w == "True", true
		}
	}
	return false, false
}

func (p *pyLiteral) shape() (Shape, bool) {
	if !p.eat('(') {
		return nil, false
	}
	s := Shape{}
	for !p.eat(')') {
		p.space()
		start := p.at
		for p.at < len(p.s) && p.s[p.at] >= '0' && p.s[p.at] <= '9' {
			p.at++
		}
		n, err := strconv.ParseInt(p.s[start:p.at], 10, strconv.IntSize)
		if err != nil || len(s) >= MaxRank {
			return nil, false
		}
		if p.at < len(p.s) && p.s[p.at] == 'L' { // Python 2's long
			p.at++
		}
		s = append(s, int(n))
		if !p.eat(',') {
			return s, p.eat(')')
		}
	}
	return s, true
}
