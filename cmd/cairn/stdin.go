package main

import (
	"os"
	"slices"

	"github.com/spf13/cobra"
)

// refuseStdin returns the error for a PATH that is "-", unless there is a file of that name. Formats
// are read in several places at once, so a stream must become a file first. newRoot calls it before
// every verb. Flags that take "-", such as run --inputs, aren't among the args.
func refuseStdin(cmd *cobra.Command, args []string) error {
	if cmd.Name() == "completion" || cmd.Name() == "help" || !slices.Contains(args, "-") {
		return nil
	}
	if _, err := os.Lstat("-"); err == nil {
		return nil
	}
	at := slices.Index(args, "-")
	if cmd.Name() == "convert" && at == 1 || cmd.Name() == "merge" && at == len(args)-1 {
		return nil // a destination, which the library refuses
	}
	return usagef("%s -: a tensor file can't be read from a pipe, because its parts aren't read in order; write the pipe to a file first", cmd.Name())
}
