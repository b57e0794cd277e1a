package main

import "errors"

// closedWriter is the standard output if it was closed when the program started.
type closedWriter struct{}

func (closedWriter) Write([]byte) (int, error) {
	return 0, errors.New("it is closed")
}
