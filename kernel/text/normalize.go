package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/cairnml/cairn/engine"
)

// The kernels of NormalizeUTF8 and CaseFoldUTF8. Results depend on the Unicode version of
// golang.org/x/text.

// forms are Unicode's normalization forms by their names in lower case.
var forms = map[string]norm.Form{"nfc": norm.NFC, "nfkc": norm.NFKC, "nfd": norm.NFD, "nfkd": norm.NFKD}

// normalizeUTF8 converts texts to the normalization form of an attribute. It
// doesn't change invalid UTF-8.
func normalizeUTF8(n *engine.Node) (func(*engine.Call) error, error) {
	name := n.Attrs.String("normalization_form", "")
	form, ok := forms[strings.ToLower(name)]
	if !ok {
		return nil, fmt.Errorf("the normalization form is %q, not one of NFC, NFKC, NFD and NFKD", name)
	}
	return func(c *engine.Call) error {
		if err := c.Need(1); err != nil {
			return err
		}
		return onEach(c, func(s string) (string, error) { return normalized(form, s, c.Check), nil })
	}, nil
}

// normalized returns s in a normalization form. It takes a long text in parts, which end where the
// form allows, and calls check after each.
func normalized(form norm.Form, s string, check func()) string {
	const part = 1 << 14 // bytes
	if len(s) <= part {
		return form.String(s)
	}
	var b strings.Builder
	for len(s) > part {
		at := part
		for at < len(s) && !utf8.RuneStart(s[at]) {
			at++
		}
		next := form.FirstBoundaryInString(s[at:])
		if next < 0 {
			break
		}
		b.WriteString(form.String(s[:at+next]))
		s = s[at+next:]
		check()
	}
	return b.String() + form.String(s)
}

// caseFoldUTF8 converts texts to the form NFKC_Casefold: without differences of
// case and of compatible characters, and without invisible characters.
func caseFoldUTF8(c *engine.Call) error {
	if err := c.Need(1); err != nil {
		return err
	}
	return onEach(c, func(s string) (string, error) { return caseFold(s, c.Check), nil })
}

// caseFold returns the form of s; it calls check now and then.
func caseFold(s string, check func()) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	var b strings.Builder
	for i := 0; len(s) > 0; i++ {
		if i%4096 == 4095 {
			check()
		}
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 {
			b.WriteString(s[:1])
		} else {
			b.WriteString(foldRune(r))
		}
		s = s[n:]
	}
	return normalized(norm.NFC, b.String(), check)
}

// isASCII reports whether all bytes are below 0x80.
func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// caseFolder is Unicode's full case folding. It keeps no state.
var caseFolder = cases.Fold()

// foldRune returns Unicode's property NFKC_CF. It folds and normalizes the
// character, and removes invisible ones, until nothing changes.
func foldRune(r rune) string {
	if r < utf8.RuneSelf {
		return string(unicode.ToLower(r))
	}
	if ignorable(r) {
		return ""
	}
	if up, ok := cherokee(r); ok {
		return string(up)
	}
	s := string(r)
	for {
		next := strings.Map(func(r rune) rune {
			if ignorable(r) {
				return -1
			}
			return r
		}, norm.NFKC.String(caseFolder.String(norm.NFD.String(s))))
		if next == s {
			return s
		}
		s = next
	}
}

// cherokee returns the folded form of a Cherokee letter: its older form, the
// upper case. Only this script is folded to upper case.
func cherokee(r rune) (rune, bool) {
	switch {
	case 0x13a0 <= r && r <= 0x13f5:
		return r, true
	case 0x13f8 <= r && r <= 0x13fd:
		return r - 8, true
	case 0xab70 <= r && r <= 0xabbf:
		return r - 0xab70 + 0x13a0, true
	}
	return r, false
}

// ignorable reports whether a character has Unicode's property
// Default_Ignorable_Code_Point.
func ignorable(r rune) bool {
	if r < 0xad {
		return false
	}
	switch {
	case unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r), unicode.Is(unicode.Variation_Selector, r):
		return true
	case !unicode.Is(unicode.Cf, r):
		return false
	}
	return !unicode.Is(unicode.Prepended_Concatenation_Mark, r) && !unicode.Is(unicode.White_Space, r) &&
		(r < 0xfff9 || r > 0xfffb) && (r < 0x13430 || r > 0x13440)
}
