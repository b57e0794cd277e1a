package text

import (
	"regexp"
	"unicode/utf8"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of StaticRegexFullMatch, RegexFullMatch, StaticRegexReplace and
// RegexReplace.

// staticMatch reports which strings match a pattern as a whole.
func staticMatch(n *engine.Node) (func(*engine.Call) error, error) {
	re, err := compileWhole(n.Attrs.String("pattern", ""))
	if err != nil {
		return nil, err
	}
	return func(c *engine.Call) error {
		if err := c.Need(1); err != nil {
			return err
		}
		return match(c, re)
	}, nil
}

// fullMatch works as staticMatch, with the pattern as an input.
func fullMatch(n *engine.Node) (func(*engine.Call) error, error) {
	compile := compileWhole
	if re, err := constant(n, 1, compileWhole); re != nil || err != nil {
		compile = func(string) (*pattern, error) { return re, err }
	}
	return func(c *engine.Call) error {
		if err := c.Need(2); err != nil {
			return err
		}
		expression, err := one(c, 1, "the pattern")
		if err != nil {
			return err
		}
		re, err := compileUntilDone(c, expression, compile)
		if err != nil {
			return err
		}
		return match(c, re)
	}, nil
}

// constant compiles the pattern in input i if its value is known.
func constant[T any](n *engine.Node, i int, compile func(string) (*T, error)) (*T, error) {
	if i >= len(n.In) || n.In[i].Value == nil || n.In[i].DType != tensor.String || n.In[i].Value.Len() != 1 {
		return nil, nil
	}
	return compile(n.In[i].Value.Strings()[0])
}

// match reports for each string in input 0 whether re matches it.
func match(c *engine.Call, re *pattern) error {
	in, err := texts(c, 0)
	if err != nil {
		return err
	}
	out, err := c.Alloc(0, tensor.Bool, c.In(0).Shape())
	if err != nil {
		return err
	}
	v := tensor.Values[bool](out)
	read := 0 // bytes since the last check of the context
	for i, s := range in {
		if read += len(s) + 64; read > 1<<20 {
			c.Check()
			read = 0
		}
		// RE2 has no character for invalid bytes: nothing matches them.
		v[i] = utf8.ValidString(s) && re.matches(c, s)
	}
	return nil
}

// staticReplace replaces matches of a pattern in an attribute.
func staticReplace(n *engine.Node) (func(*engine.Call) error, error) {
	re, err := compilePattern(n.Attrs.String("pattern", ""))
	if err != nil {
		return nil, err
	}
	with := parseRewrite(n.Attrs.String("rewrite", ""), re.Regexp)
	all := replaceAll(n.Attrs)
	return func(c *engine.Call) error {
		if err := c.Need(1); err != nil {
			return err
		}
		return substitute(c, re, with, all)
	}, nil
}

// replaceAll returns the attribute replace_global, whose default is true.
func replaceAll(as graph.Attrs) bool {
	return !as.Has("replace_global") || as.Bool("replace_global")
}

// replace works as staticReplace, with the pattern and the rewrite as inputs.
func replace(n *engine.Node) (func(*engine.Call) error, error) {
	compile := compilePattern
	if re, err := constant(n, 1, compilePattern); re != nil || err != nil {
		compile = func(string) (*pattern, error) { return re, err }
	}
	all := replaceAll(n.Attrs)
	return func(c *engine.Call) error {
		if err := c.Need(3); err != nil {
			return err
		}
		expression, err := one(c, 1, "the pattern")
		if err != nil {
			return err
		}
		text, err := one(c, 2, "the rewrite")
		if err != nil {
			return err
		}
		re, err := compileUntilDone(c, expression, compile)
		if err != nil {
			return err
		}
		return substitute(c, re, parseRewrite(text, re.Regexp), all)
	}, nil
}

// rewrite is the replacement of a match: texts and groups of the match in turn.
// Its text has RE2's form: \0 to \9 are groups, \\ is a backslash.
type rewrite struct {
	pieces []piece
	cut    bool // another escape ends it, which RE2 doesn't report
	none   bool // it names a group that the pattern lacks: nothing is replaced
}

// piece is a part of a rewrite.
type piece struct {
	text  string
	group int // -1: the text
}

// parseRewrite reads a rewrite for re. It reports no errors, as RE2 in
// TensorFlow doesn't.
func parseRewrite(s string, re *regexp.Regexp) rewrite {
	var out rewrite
	var text []byte
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] != '\\':
			text = append(text, s[i])
			continue
		case i+1 < len(s) && s[i+1] == '\\':
			text = append(text, '\\')
		case i+1 < len(s) && '0' <= s[i+1] && s[i+1] <= '9':
			g := int(s[i+1] - '0')
			out.none = out.none || g > re.NumSubexp()
			out.pieces = append(out.pieces, piece{string(text), -1}, piece{group: g})
			text = nil
		default:
			out.cut = true
		}
		if out.cut {
			break
		}
		i++
	}
	out.pieces = append(out.pieces, piece{string(text), -1})
	return out
}

// append appends the replacement of a match in s. A group without a match adds
// nothing.
func (r *rewrite) append(dst []byte, s string, at []int) []byte {
	for _, p := range r.pieces {
		switch {
		case p.group < 0:
			dst = append(dst, p.text...)
		case at[2*p.group] >= 0:
			dst = append(dst, s[at[2*p.group]:at[2*p.group+1]]...)
		}
	}
	return dst
}

// substitute replaces the matches in every string, or the first one. Strings
// without a match, and rewrites with an error, stay as they are. A cut rewrite
// is still used if all matches are replaced, as in RE2's GlobalReplace.
func substitute(c *engine.Call, re *pattern, with rewrite, all bool) error {
	var out []byte
	return onEach(c, func(s string) (string, error) {
		if with.none || with.cut && !all {
			return s, nil
		}
		found, end := false, 0
		out = out[:0]
		err := re.each(c, s, all, func(at []int) error {
			out = append(out, s[end:at[0]]...)
			out = with.append(out, s, at)
			found, end = true, at[1]
			return c.Afford(int64(len(out)))
		})
		if err != nil || !found {
			return s, err
		}
		out = append(out, s[end:]...)
		return string(out), nil
	})
}
