package tensor

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// TextOptions are the settings of [Tensor.Text]; the zero value means numpy's
// defaults.
type TextOptions struct {
	// Threshold is the number of elements above which the middle of long
	// dimensions is left out; negative means never. Default 1000.
	Threshold int
	// EdgeItems is how many elements stay at either end of a dimension that is
	// summarised. Default 3.
	EdgeItems int
	// LineWidth is the number of columns after which a row wraps. Default 75.
	LineWidth int
	// Precision is the most digits after the decimal point. Default 8.
	Precision int
}

func (o *TextOptions) orDefault() TextOptions {
	var c TextOptions
	if o != nil {
		c = *o
	}
	def := func(p *int, v int) {
		if *p == 0 {
			*p = v
		}
	}
	def(&c.Threshold, 1000)
	def(&c.EdgeItems, 3)
	def(&c.LineWidth, 75)
	def(&c.Precision, 8)
	return c
}

// String prints the elements as numpy's print does, large tensors summarised.
func (t *Tensor) String() string { return t.Text(nil) }

// Text prints the elements as numpy's print does: columns aligned, as few
// digits as distinguish the values, the middle of large tensors left out.
// Strings are printed as Python prints bytes, elements of variant and resource
// by their length. Nil options mean the defaults. The command's verb cat prints
// this text, and its goldens contain it.
func (t *Tensor) Text(opts *TextOptions) string {
	o := opts.orDefault()
	if t.Len() == 0 {
		return "[]"
	}
	p := printer{t: t, o: o}
	if t.Rank() == 0 {
		return p.scalar()
	}
	p.summary = o.Threshold >= 0 && t.Len() > o.Threshold
	p.pick(0, 0)
	p.format()
	var b strings.Builder
	p.b = &b
	p.print(0, " ", o.LineWidth)
	return b.String()
}

// printer prints one tensor: pick collects the elements that are shown, format
// turns them into words of equal width, print lays them out.
type printer struct {
	t       *Tensor
	o       TextOptions
	summary bool
	shown   []int    // flat indices, in order
	words   []string // the texts of shown
	next    int      // index of the next word to print
	b       *strings.Builder
}

// ends returns the number of items of a dimension shown at its start and end;
// gap is false if all of them are (then all count as the end).
func (p *printer) ends(n int) (lead, trail int, gap bool) {
	if p.summary && 2*p.o.EdgeItems < n {
		return p.o.EdgeItems, p.o.EdgeItems, true
	}
	return 0, n, false
}

// pick appends the flat indices of the elements that are shown, of part number base of the
// dimensions before axis.
func (p *printer) pick(axis, base int) {
	n := p.t.shape[axis]
	last := axis == p.t.Rank()-1
	visit := func(i int) {
		if at := base*n + i; last {
			p.shown = append(p.shown, at)
		} else {
			p.pick(axis+1, at)
		}
	}
	lead, trail, _ := p.ends(n)
	for i := range lead {
		visit(i)
	}
	for i := n - trail; i < n; i++ {
		visit(i)
	}
}

// print lays out the part of the tensor below axis, as numpy's array2string
// does with a blank as the separator.
func (p *printer) print(axis int, indent string, width int) {
	n := p.t.shape[axis]
	lead, trail, gap := p.ends(n)
	p.b.WriteByte('[')
	if axis == p.t.Rank()-1 {
		p.row(lead, trail, gap, indent, width-1)
	} else {
		sep := strings.Repeat("\n", p.t.Rank()-axis-1)
		items := lead + trail
		for i := range items {
			if i > 0 {
				p.b.WriteString(sep)
				p.b.WriteString(indent)
			}
			if gap && i == lead {
				p.b.WriteString("..." + sep + indent)
			}
			p.print(axis+1, indent+" ", width-1)
		}
	}
	p.b.WriteByte(']')
}

// row lays out the next words as one row of the last dimension, in lines of at most width columns.
func (p *printer) row(lead, trail int, gap bool, indent string, width int) {
	at := len(indent) // column, counted from the line's hanging indent
	first := true
	put := func(w string) {
		switch {
		case first:
			first = false
		case at+1+len(w) > width:
			p.b.WriteString("\n" + indent)
			at = len(indent)
		default:
			p.b.WriteByte(' ')
			at++
		}
		p.b.WriteString(w)
		at += len(w)
	}
	for i := range lead + trail {
		if gap && i == lead {
			put("...")
		}
		put(p.words[p.next])
		p.next++
	}
}

// format fills words with the shown elements' texts.
func (p *printer) format() {
	t := p.t
	p.words = make([]string, len(p.shown))
	switch {
	case !t.dtype.Fixed():
		for i, at := range p.shown {
			p.words[i] = stringWord(t.dtype, t.strings()[at])
		}
	case t.dtype.IsComplex():
		re, im := make([]float64, len(p.shown)), make([]float64, len(p.shown))
		for i, at := range p.shown {
			c := t.complexAt(at)
			re[i], im[i] = real(c), imag(c)
		}
		part := Float64
		if t.dtype == Complex64 {
			part = Float32
		}
		r, m := newFloatFormat(part, re, p.o.Precision, false), newFloatFormat(part, im, p.o.Precision, true)
		for i := range p.words {
			w := m.format(im[i])
			trimmed := strings.TrimRight(w, " ")
			p.words[i] = r.format(re[i]) + trimmed + "j" + w[len(trimmed):]
		}
	case t.dtype.IsFloating():
		v := make([]float64, len(p.shown))
		for i, at := range p.shown {
			t.readFloats(v[i:i+1], at)
		}
		f := newFloatFormat(t.dtype, v, p.o.Precision, false)
		for i, x := range v {
			p.words[i] = f.format(x)
		}
	default:
		width := 0
		for i, at := range p.shown {
			p.words[i] = t.intWord(at)
			width = max(width, len(p.words[i]))
		}
		for i, w := range p.words {
			p.words[i] = strings.Repeat(" ", width-len(w)) + w
		}
		if t.dtype == Bool {
			for i, w := range p.words {
				p.words[i] = strings.Repeat(" ", 5-len(w)) + w
			}
		}
	}
}

func (t *Tensor) complexAt(i int) complex128 {
	var v [1]complex128
	t.readComplex(v[:], i)
	return v[0]
}

func (t *Tensor) intWord(i int) string {
	var v [1]int64
	t.readInts(v[:], i)
	switch {
	case t.dtype == Bool && v[0] != 0:
		return "True"
	case t.dtype == Bool:
		return "False"
	case t.dtype == Uint64:
		return strconv.FormatUint(uint64(v[0]), 10)
	}
	return strconv.FormatInt(v[0], 10)
}

// scalar prints a tensor of no dimensions as Python prints the number.
func (p *printer) scalar() string {
	t := p.t
	switch {
	case !t.dtype.Fixed():
		return stringWord(t.dtype, t.strings()[0])
	case t.dtype.IsComplex():
		c := t.complexAt(0)
		part := Float64
		if t.dtype == Complex64 {
			part = Float32
		}
		re := strings.TrimSuffix(scalarFloat(part, real(c)), ".0")
		im := strings.TrimSuffix(scalarFloat(part, imag(c)), ".0")
		if !strings.HasPrefix(im, "-") {
			im = "+" + im
		}
		if real(c) == 0 && !math.Signbit(real(c)) {
			return strings.TrimPrefix(im, "+") + "j"
		}
		return "(" + re + im + "j)"
	case t.dtype.IsFloating():
		var v [1]float64
		t.readFloats(v[:], 0)
		return scalarFloat(t.dtype, v[0])
	}
	return t.intWord(0)
}

func scalarFloat(d DType, v float64) string {
	switch {
	case math.IsNaN(v):
		return "nan"
	case math.IsInf(v, 0):
		return strings.TrimPrefix(strings.ToLower(strconv.FormatFloat(v, 'g', -1, 64)), "+")
	}
	if a := math.Abs(v); a != 0 && (a < 1e-4 || a >= 1e16) {
		mant, exp, _ := strings.Cut(shortest(d, v, 'e'), "e")
		return mant + "e" + exp
	}
	s := shortest(d, v, 'f')
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// stringWord prints s as Python prints bytes; variants and resources by length.
func stringWord(d DType, s string) string {
	if d != String {
		return fmt.Sprintf("<%v, %d bytes>", d, len(s))
	}
	quote := byte('\'')
	if strings.IndexByte(s, '\'') >= 0 && strings.IndexByte(s, '"') < 0 {
		quote = '"'
	}
	b := make([]byte, 0, len(s)+3)
	b = append(b, 'b', quote)
	for i := range len(s) {
		switch c := s[i]; {
		case c == quote || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, `\n`...)
		case c == '\r':
			b = append(b, `\r`...)
		case c == '\t':
			b = append(b, `\t`...)
		case c < 0x20 || c >= 0x7f:
			const hex = "0123456789abcdef"
			b = append(b, '\\', 'x', hex[c>>4], hex[c&15])
		default:
			b = append(b, c)
		}
	}
	return string(append(b, quote))
}
