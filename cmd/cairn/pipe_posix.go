//go:build !windows && !js && !wasip1 && !plan9

package main

import "syscall"

// errPipe is the error of writing to a reader that has gone, such as head. run ignores it, so
// that "cairn ls x | head" ends with exit code 0.
var errPipe error = syscall.EPIPE
