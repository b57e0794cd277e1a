// Command cairn looks into TensorFlow checkpoints and changes them: ls, cat,
// stat, show, verify, diff, convert, edit, merge, recover. It shows, scans and runs
// SavedModels. `cairn demo` trains a small model and saves, stops and resumes it.
//
// Data goes to stdout, progress and messages to stderr. The exit code is 0 when
// all is well, 1 when something was found (files differ, a fault), 2 when it
// could not be done.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

//go:generate go test . -run TestHelpPageIsFresh -rewrite

func main() {
	os.Exit(interruptible(os.Args[1:]))
}

// interruptible runs the command and returns its exit code. The first interrupt ends the
// verb's context, so that it can remove unfinished files. If that takes longer than patience,
// or at a second interrupt, the process ends.
func interruptible(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	watching := context.AfterFunc(ctx, func() {
		stop()
		time.Sleep(patience(args))
		fmt.Fprintln(os.Stderr, "cairn: interrupted")
		os.Exit(2)
	})
	code := run(ctx, newApp(os.Stdin, os.Stdout, os.Stderr), args)
	watching() // signals are still caught: one that comes now doesn't change the exit code
	return code
}

// patience returns how long the verb in args may take to end after an interrupt. Verbs that write
// need time to remove unfinished files. A new verb that only reads is added to the first case.
func patience(args []string) time.Duration {
	for _, a := range args {
		switch a {
		case "cat", "completion", "diff", "help", "ls", "run", "scan", "show", "stat", "verify", "version":
			return 80 * time.Millisecond
		case "convert", "demo", "edit", "merge":
			return 10 * time.Second
		}
	}
	return 10 * time.Second
}
