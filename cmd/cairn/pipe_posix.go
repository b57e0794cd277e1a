//go:build !windows && !js && !wasip1 && !plan9

package main

import "syscall"

// errPipe is the error of writing to a reader that has gone, such as head.
var errPipe error = syscall.EPIPE
