package main

import "errors"

// closedWriter is the standard output if it was closed when the program started (closedAtStart). Its
// error makes run end with exit code 2, since no output is lost without a word.
type closedWriter struct{}

func (closedWriter) Write([]byte) (int, error) {
	return 0, errors.New("it is closed")
}
