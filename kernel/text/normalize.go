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
	return each(func(s string) (string, error) { return form.String(s), nil }), nil
}

// caseFoldUTF8 converts texts to the form NFKC_Casefold: without differences of
// case and of compatible characters, and without invisible characters.
var caseFoldUTF8 = each(func(s string) (string, error) {
	if isASCII(s) {
		return strings.ToLower(s), nil
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 {
			b.WriteString(s[:1])
		} else {
			b.WriteString(foldRune(r))
		}
		s = s[n:]
	}
	return norm.NFC.String(b.String()), nil
})

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// folder is Unicode's full case folding. It keeps no state.
var folder = cases.Fold()

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
		}, norm.NFKC.String(folder.String(norm.NFD.String(s))))
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
