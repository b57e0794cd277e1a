package ops

// last returns the last of the options that isn't nil, the defaults if there is none.
func last[T any](list []*T) *T {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i] != nil {
			return list[i]
		}
	}
	return new(T)
}
