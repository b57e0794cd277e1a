package pb

import "strconv"

// enumString is a value's name, or its number where it has none.
func enumString[E ~int32](names map[E]string, e E) string {
	if s, ok := names[e]; ok {
		return s
	}
	return strconv.Itoa(int(e))
}

// enumNumber is the value with that name.
func enumNumber[E ~int32](names map[E]string, name string) (int32, bool) {
	for e, s := range names {
		if s == name {
			return int32(e), true
		}
	}
	return 0, false
}
