package nearest

import (
	"fmt"
	"strconv"
	"strings"
)

// ThereAre returns a clause that lists names: `there is "a"`, `there are "a", "b"`.
func ThereAre(names []string) string {
	if len(names) == 1 {
		return "there is " + Quoted(names)
	}
	return "there are " + Quoted(names)
}

// Quoted returns all names, each in quotes, with commas between them.
func Quoted(names []string) string {
	list := make([]string, len(names))
	for i, n := range names {
		list[i] = strconv.Quote(n)
	}
	return strings.Join(list, ", ")
}

// Few returns the first four names, and the number of the others.
func Few(names []string) string {
	const most = 4
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
