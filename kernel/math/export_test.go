package math

// HasLoop reports whether a program has a loop that runs all its ops.
func HasLoop(ops []string, operands, stores []int64) bool {
	return wholeOf(wholes32, ops, operands, stores) != nil && wholeOf(wholes64, ops, operands, stores) != nil
}
