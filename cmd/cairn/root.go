package main

import (
	"strings"

	"github.com/spf13/cobra"
)

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "cairn",
		Short: "Look into TensorFlow checkpoints, change them, train and save",
		Long: `Look into TensorFlow checkpoints, change them, train and save.

PATH is a checkpoint's prefix (model/ckpt-10), one of its files, a directory
with a checkpoint file (its latest is meant), a SavedModel's directory, or a
.npz or .safetensors file.

Exit codes: 0 fine, 1 found (differs, corrupt), 2 could not.`,
		Example: `  cairn demo                            train, save, stop, resume
  cairn ls model/ckpt-10                what is in it
  cairn cat model/ckpt-10 net/l1/kernel
  cairn verify model                    does the latest one hold?
  cairn diff model/ckpt-9 model/ckpt-10
  cairn convert model/ckpt-10 weights.safetensors`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.PersistentFlags().BoolVar(&a.json, "json", false, "print JSON, for programs")
	root.PersistentFlags().BoolVarP(&a.quiet, "quiet", "q", false, "no progress, no notes")
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetHelpTemplate(helpTemplate)
	root.SetUsageTemplate(usageTemplate)
	root.AddGroup(
		&cobra.Group{ID: "look", Title: "Look:"},
		&cobra.Group{ID: "change", Title: "Change (the source always stays):"},
		&cobra.Group{ID: "more", Title: "More:"},
	)
	add := func(group string, cmds ...*cobra.Command) {
		for _, c := range cmds {
			c.GroupID = group
			c.DisableFlagsInUseLine = true
			root.AddCommand(c)
		}
	}
	add("look", newLs(a), newCat(a), newStat(a), newShow(a), newVerify(a), newDiff(a))
	add("change", newConvert(a), newEdit(a), newMerge(a))
	add("more", newDemo(a), newVersion(a))
	root.SetHelpCommandGroupID("more")
	strictHelp(root)
	return root
}

// strictHelp makes help about a command that does not exist an error, as the
// command itself is.
func strictHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	for _, c := range root.Commands() {
		if c.Name() != "help" {
			continue
		}
		show := c.Run
		c.Run = nil
		c.RunE = func(cmd *cobra.Command, args []string) error {
			if found, _, err := root.Find(args); found == nil || err != nil {
				return usagef("no command is called %q", strings.Join(args, " "))
			}
			show(cmd, args)
			return nil
		}
	}
}

// Examples stand first in help: that is what most readers look for.
const helpTemplate = `{{with (or .Long .Short)}}{{. | trimTrailingWhitespaces}}

{{end}}{{if .HasExample}}Examples:
{{.Example}}

{{end}}{{if or .Runnable .HasSubCommands}}{{.UsageString}}{{end}}`

const usageTemplate = `Usage:{{if .Runnable}}
  {{.UseLine}}{{end}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} COMMAND{{end}}{{if .HasAvailableSubCommands}}{{$cmds := .Commands}}{{range $group := .Groups}}

{{.Title}}{{range $cmds}}{{if (and (eq .GroupID $group.ID) (or .IsAvailableCommand (eq .Name "help")))}}
  {{rpad .Name .NamePadding }} {{.Short}}{{end}}{{end}}{{end}}{{end}}{{if .HasAvailableLocalFlags}}

Flags:
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableInheritedFlags}}

Flags of every command:
{{.InheritedFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableSubCommands}}

'{{.CommandPath}} COMMAND --help' says more about one. Shell completion:
'{{.CommandPath}} completion --help'.{{end}}
`
