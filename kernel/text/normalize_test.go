package text

import (
	"math/rand/v2"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
)

// TestLongTextsAreNormalizedAsShortOnes: a text that is normalized in parts has the same form as
// one that is normalized at once, damaged and unassigned characters included.
func TestLongTextsAreNormalizedAsShortOnes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"a", "é", "e\u0301\u0323", "\u1100\u1161\u11a8", "각", "\u0344", "ﬁ", "\xff", "\xe3\x81", "\u2126", "\U0001d15e", strings.Repeat("\u0301", 12), "\u034f"}
	for name, form := range forms {
		for range 20 {
			var b strings.Builder
			for b.Len() < 1<<15 {
				b.WriteString(pieces[rng.IntN(len(pieces))])
			}
			if got, want := normalized(form, b.String(), func() {}), form.String(b.String()); got != want {
				t.Fatalf("%s: the parts are not the text's form", name)
			}
		}
	}
	if s := strings.Repeat("ÄṩΣ", 1<<13); caseFold(s, func() {}) != norm.NFC.String(strings.Repeat(caseFold("ÄṩΣ", func() {}), 1<<13)) {
		t.Error("a long text is not folded as its parts are")
	}
}
