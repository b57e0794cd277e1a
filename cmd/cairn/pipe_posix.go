//go:build !windows && !js && !wasip1 && !plan9

package main

import "syscall"

// errPipe is what writing to a reader that has gone, such as head, gives.
var errPipe error = syscall.EPIPE
