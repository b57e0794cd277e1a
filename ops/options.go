package ops

// last returns the last of the options, the defaults if there are none or it is nil.
func last[T any](list []*T) *T {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i] != nil {
			return list[i]
		}
	}
	return new(T)
}
