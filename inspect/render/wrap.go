package render

import (
	"strings"
	"unicode/utf8"
)

// The command breaks text for terminals with these two functions. Lines after the first are two columns
// shorter, because callers indent them.

// fits reports whether a text takes at most width columns. It takes a longer text for a wider one without counting its
// columns, so that breaking it takes linear time.
func fits(s string, width int) bool {
	const bytesPerColumn, least = 8, 4 << 10 // letters of several code points are long
	return (len(s) <= least || len(s)/bytesPerColumn <= width) && Width(s) <= width
}

// Wrap returns words broken at blanks into lines of at most width columns, two
// fewer after the first; a word that is longer stays whole.
func Wrap(s string, width int) []string {
	var lines []string
	for !fits(s, width) {
		cut, used := -1, 0
		for i, r := range s {
			if r == ' ' && i > 0 && s[i-1] != ' ' {
				if used > width && cut > 0 {
					break
				}
				cut = i
			}
			used += Width(string(r))
			if used > width && cut > 0 {
				break
			}
		}
		if cut <= 0 {
			break
		}
		if len(lines) == 0 {
			width -= 2
		}
		lines = append(lines, s[:cut])
		s = strings.TrimLeft(s[cut:], " ")
	}
	return append(lines, s)
}

// Break returns a name in lines of at most width columns, two fewer after the first:
// broken after a slash or comma in a line's second half, or at the end of the line.
func Break(s string, width int) []string {
	var lines []string
	for !fits(s, width) {
		cut, used := 0, 0
		for i, r := range s {
			if used += Width(string(r)); used > width && i > 0 {
				cut = i
				break
			}
		}
		if cut == 0 {
			break // a single letter
		}
		if end := strings.LastIndexAny(s[:cut], "/,") + 1; end > cut/2 {
			cut = end
		}
		for r, _ := utf8.DecodeRuneInString(s[cut:]); cut < len(s) && Width(string(r)) == 0; r, _ = utf8.DecodeRuneInString(s[cut:]) {
			cut += utf8.RuneLen(r) // stays with the letter that it changes
		}
		if len(lines) == 0 {
			width = max(width-2, 1)
		}
		lines = append(lines, s[:cut])
		s = s[cut:]
	}
	return append(lines, s)
}
