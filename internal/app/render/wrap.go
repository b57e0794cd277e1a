package render

import "strings"

// Wrap returns words broken at blanks into lines of at most width columns, two
// fewer after the first; a word that is longer stays whole.
func Wrap(s string, width int) []string {
	var lines []string
	for Width(s) > width {
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
