// Command cairn looks into TensorFlow checkpoints and changes them: ls, cat,
// stat, show, verify, diff, convert, edit, merge. It shows, scans and runs
// SavedModels. `cairn demo` trains a small model and saves, stops and resumes it.
//
// Data goes to stdout, progress and messages to stderr. The exit code is 0 when
// all is well, 1 when something was found (files differ, a fault), 2 when it
// could not be done.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
)

//go:generate go test . -run TestHelpPageIsFresh -rewrite

func main() {
	if os.Getenv("GOGC") == "" {
		// Listings of millions of names are held whole; the collector's usual half
		// of the heap as space to grow would double them.
		debug.SetGCPercent(40)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first interrupt ends the work in order; a second one ends the process.
	context.AfterFunc(ctx, stop)
	code := run(ctx, newApp(os.Stdin, os.Stdout, os.Stderr), os.Args[1:])
	stop()
	os.Exit(code)
}
