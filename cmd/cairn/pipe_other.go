//go:build windows || js || wasip1 || plan9

package main

import "errors"

// errPipe is never seen here.
var errPipe = errors.New("broken pipe")
