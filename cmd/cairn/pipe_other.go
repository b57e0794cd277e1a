//go:build windows || js || wasip1 || plan9

package main

import "errors"

// errPipe is the error of pipe_posix.go for systems without EPIPE, on which it never occurs.
var errPipe = errors.New("broken pipe")
