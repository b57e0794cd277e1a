package statefile

import (
	"math"
	"strconv"
	"strings"
)

// parser reads a CheckpointState. It fails by lexer.fail: callers continue, and Parse returns the first error.
type parser struct{ lexer }

func (p *parser) punct(text string) bool { return p.tok.kind == tokPunct && p.tok.text == text }

func (p *parser) accept(text string) bool {
	if p.punct(text) {
		p.next()
		return true
	}
	return false
}

func (p *parser) expect(text string) {
	if !p.accept(text) {
		p.fail(p.tok.at, "got %v (want %q)", p.tok, text)
	}
}

// field reads one field of the message and the separator after it.
func (p *parser) field(s *State) {
	name := p.tok
	if name.kind != tokIdent {
		p.unknown(0)
		return
	}
	switch name.text {
	case "model_checkpoint_path":
		p.next()
		p.expect(":")
		s.ModelCheckpointPath = p.str()
	case "all_model_checkpoint_paths":
		p.next()
		p.expect(":")
		p.list(func() {
			if v := p.str(); p.hasSpace(len(s.AllModelCheckpointPaths), name) {
				s.AllModelCheckpointPaths = append(s.AllModelCheckpointPaths, v)
			}
		})
	case "all_model_checkpoint_timestamps":
		p.next()
		p.expect(":")
		p.list(func() {
			if v := p.number(); p.hasSpace(len(s.AllModelCheckpointTimestamps), name) {
				s.AllModelCheckpointTimestamps = append(s.AllModelCheckpointTimestamps, v)
			}
		})
	case "last_preserved_timestamp":
		p.next()
		p.expect(":")
		s.LastPreservedTimestamp = p.number()
	default:
		p.unknown(0)
		return
	}
	p.separator()
}

func (p *parser) separator() {
	if !p.accept(",") {
		p.accept(";")
	}
}

func (p *parser) hasSpace(n int, name token) bool {
	if p.err != nil {
		return false
	}
	if n >= MaxEntries {
		p.fail(name.at, "more than %d entries", MaxEntries)
		return false
	}
	return true
}

// list reads one value, or several in brackets.
func (p *parser) list(one func()) {
	if !p.accept("[") {
		one()
		return
	}
	if p.accept("]") {
		return
	}
	for p.err == nil {
		one()
		if p.accept("]") {
			return
		}
		p.expect(",")
	}
}

// str reads a string, or several adjacent ones, which are one.
func (p *parser) str() string {
	if p.tok.kind != tokString {
		p.fail(p.tok.at, "got %v (want a string)", p.tok)
		return ""
	}
	v := p.tok.text
	p.next()
	if p.tok.kind != tokString {
		return v
	}
	var b strings.Builder
	b.WriteString(v)
	for p.tok.kind == tokString {
		b.WriteString(p.tok.text)
		p.next()
	}
	return b.String()
}

// number reads a double as protobuf's Python does: no octal or hexadecimal numbers, "inf" and "nan" in any
// case, and infinity for numbers beyond the range.
func (p *parser) number() float64 {
	at := p.tok.at
	minus := p.accept("-")
	text := p.tok.text
	switch p.tok.kind {
	case tokIdent:
		var v float64
		switch strings.ToLower(text) {
		case "inf", "infinity", "inff", "infinityf":
			v = math.Inf(1)
		case "nan", "nanf":
			v = math.NaN()
		default:
			p.fail(at, "got %v (want a number)", p.tok)
			return 0
		}
		p.next()
		if minus {
			v = -v
		}
		return v
	case tokNumber:
		digits := strings.TrimRight(text, "fF")
		octal := len(digits) > 1 && digits[0] == '0' && isDigit(digits[1])
		if octal || len(text)-len(digits) > 1 || strings.ContainsAny(digits, "xXpP_") {
			p.fail(at, "%q is no decimal number", clip(text))
			return 0
		}
		text = digits
	default:
		p.fail(at, "got %v (want a number)", p.tok)
		return 0
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil && v-v == 0 { // beyond the range is infinity, as in Python
		p.fail(at, "%q is no decimal number", clip(text))
		return 0
	}
	p.next()
	if minus {
		v = -v
	}
	return v
}

// unknown skips a field that CheckpointState doesn't have: a later TensorFlow's
// or another program's.
func (p *parser) unknown(depth int) {
	switch {
	case p.tok.kind == tokIdent || p.tok.kind == tokNumber:
		p.next()
	case p.punct("["): // an extension's name, or a type's address
		for p.next(); p.tok.kind == tokIdent || p.tok.kind == tokNumber || p.punct(".") || p.punct("/") || p.punct("-"); {
			p.next()
		}
		p.expect("]")
	default:
		p.fail(p.tok.at, "got %v (want a field's name)", p.tok)
		return
	}
	if p.accept(":") || p.punct("{") || p.punct("<") || p.punct("[") {
		p.list(func() { p.skipValue(depth) })
	} else {
		p.fail(p.tok.at, "got %v (want \":\")", p.tok)
		return
	}
	p.separator()
}

// skipValue skips the value of an unknown field. depth counts the messages around it.
func (p *parser) skipValue(depth int) {
	open := p.tok
	switch {
	case p.punct("{") || p.punct("<"):
		if depth >= maxDepth {
			p.fail(open.at, "fields are nested deeper than %d", maxDepth)
			return
		}
		end := "}"
		if open.text == "<" {
			end = ">"
		}
		for p.next(); p.err == nil && !p.accept(end); {
			if p.tok.kind == tokEOF {
				p.fail(open.at, "the message that begins here has no %q", end)
				return
			}
			p.unknown(depth + 1)
		}
	case p.tok.kind == tokString:
		p.str()
	case p.tok.kind == tokIdent || p.tok.kind == tokNumber:
		p.next()
	case p.punct("-"):
		if p.next(); p.tok.kind != tokIdent && p.tok.kind != tokNumber {
			p.fail(p.tok.at, "got %v (want a number)", p.tok)
			return
		}
		p.next()
	default:
		p.fail(p.tok.at, "got %v (want a value)", p.tok)
	}
}
