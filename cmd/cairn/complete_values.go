package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensorfile"
)

// completeSignatures offers the values of --signature: the signatures of the model that the
// first argument names. It offers none if that is no model.
func completeSignatures(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	dir, ok := tensorfile.FindModel(nil, args[0])
	if !ok {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	m, err := savedmodel.Read(cmd.Context(), os.DirFS(dir), nil)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	seen := map[string]bool{}
	for _, g := range m.MetaGraphs {
		for _, s := range g.Signatures {
			if !seen[s.Name] {
				seen[s.Name] = true
				names = append(names, s.Name)
			}
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeFlag sets the completion of the values of a flag that c has.
func completeFlag(c *cobra.Command, flag string, values cobra.CompletionFunc) {
	if err := c.RegisterFlagCompletionFunc(flag, values); err != nil {
		panic(err) // c has no such flag: a mistake in the command
	}
}
