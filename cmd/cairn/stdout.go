package main

import "errors"

// closedWriter stands for a standard output that was closed when the program started.
type closedWriter struct{}

func (closedWriter) Write([]byte) (int, error) {
	return 0, errors.New("it is closed")
}
