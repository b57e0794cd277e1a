package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cairnml/cairn/internal/nearest"
)

// newRoot returns the command with all verbs. Names of verbs and flags must stay, because scripts
// have them; texts and examples may change, together with docs/cli, which go generate writes.
func newRoot(a *app) *cobra.Command {
	var version bool
	root := &cobra.Command{
		Use:   "cairn",
		Short: "Look into TensorFlow checkpoints, change them, train and save",
		Long: `Look into TensorFlow checkpoints, change them, train and save.

PATH is a checkpoint's prefix (model/ckpt-10), one of its files, a directory
with a checkpoint file (its latest is meant), a SavedModel's directory, that of
a model server (its latest version is meant), or a .npz, .safetensors, .h5 or
.keras file, also the .safetensors.index.json of several.

Exit codes: 0 fine, 1 found (differs, corrupt, flagged), 2 could not.`,
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
	root.PersistentFlags().BoolVar(&a.noPager, "no-pager", false, "print long output at once, without $PAGER")
	root.PersistentFlags().BoolVarP(&a.quiet, "quiet", "q", false, "no progress, no notes")
	root.PersistentFlags().Var((*size)(&a.open.MaxMemory), "max-memory", "let reading a file take so much `MEMORY`: 2GiB")
	root.Flags().BoolVar(&version, "version", false, "say which build this is")
	root.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case version:
			return a.printVersion()
		case len(args) > 0:
			return unknownCommand(root, args[0])
		}
		return cmd.Help()
	}
	root.Args = cobra.ArbitraryArgs
	root.PersistentPreRunE = func(cmd *cobra.Command, args []string) error {
		a.pager.choose(cmd.Name(), a.noPager || a.json)
		return refuseStdin(cmd, args)
	}
	root.SetFlagErrorFunc(unknownFlag)
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
	add("look", newLs(a), newCat(a), newStat(a), newShow(a), newVerify(a), newDiff(a), newScan(a))
	add("change", newConvert(a), newEdit(a), newMerge(a), newRecover(a))
	add("more", newRun(a), newCompletion(a), newDemo(a), newVersion(a))
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
			if found, rest, err := root.Find(args); found == nil || err != nil || len(rest) > 0 {
				return unknownCommand(root, strings.Join(args, " "))
			}
			show(cmd, args)
			return nil
		}
	}
}

// unknownCommand returns the error for a command that there isn't, with those
// that may have been meant.
func unknownCommand(root *cobra.Command, name string) error {
	var names []string
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	if other := synonyms[strings.ToLower(name)]; other != "" {
		return usagef("no command is called %q%s", name, didYouMean([]string{other}))
	}
	return usagef("no command is called %q%s", name, didYouMean(nearest.Names(name, names, 1)))
}

// synonyms are words that people try, with the commands that they mean. An error suggests these;
// no synonym runs.
var synonyms = map[string]string{
	"inspect": "show", "info": "show", "describe": "show", "tree": "show", "summary": "show", "graph": "show",
	"list": "ls", "dir": "ls", "names": "ls", "print": "cat", "dump": "cat", "get": "cat", "read": "cat", "values": "cat",
	"stats": "stat", "histogram": "stat", "hist": "stat", "check": "verify", "validate": "verify", "fsck": "verify", "test": "verify",
	"compare": "diff", "cmp": "diff", "export": "convert", "copy": "convert", "cp": "convert", "transform": "convert",
	"rename": "edit", "cast": "edit", "drop": "edit", "rm": "edit", "quantize": "edit", "join": "merge", "concat": "merge", "combine": "merge",
	"repair": "recover", "fix": "recover", "audit": "scan", "predict": "run", "call": "run", "exec": "run", "bench": "run", "benchmark": "run",
}

// flagName matches pflag's error for an unknown flag. pflag has no type for it.
var flagName = regexp.MustCompile(`^unknown (?:shorthand )?flag: (?:'.' in )?(-+)([^ ]*)`)

// unknownFlag makes a usage error of a flag's error, with the flag that may
// have been meant.
func unknownFlag(cmd *cobra.Command, err error) error {
	if errors.Is(err, pflag.ErrHelp) {
		return err
	}
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		return invalidValue(invalid)
	}
	m := flagName.FindStringSubmatch(err.Error())
	if m == nil {
		return &usageError{err.Error()}
	}
	name, _, _ := strings.Cut(m[2], "=")
	var names []string
	look := func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	}
	cmd.Flags().VisitAll(look)
	cmd.InheritedFlags().VisitAll(look)
	if len(name) < 2 { // which is like anything
		return usagef("%s has no flag %s%s", cmd.Name(), m[1], name)
	}
	hint := ""
	for _, n := range nearest.Names(name, names, 1) {
		hint = didYouMean([]string{"--" + n})
	}
	return usagef("%s has no flag %s%s%s", cmd.Name(), m[1], name, hint)
}

// valueWords describe the values of flags of a type.
var valueWords = map[string]string{
	"int": "a whole number", "int64": "a whole number", "uint": "a whole number of at least 0", "float64": "a number", "bool": "true or false",
	"duration": "a duration such as 10s or 1m30s",
}

// invalidValue returns the error for a flag's value of a wrong form.
func invalidValue(e *pflag.InvalidValueError) error {
	if words := valueWords[e.GetFlag().Value.Type()]; words != "" {
		return usagef("--%s: %q is not %s", e.GetFlag().Name, e.GetValue(), words)
	}
	return usagef("--%s %q: %v", e.GetFlag().Name, e.GetValue(), e.Unwrap())
}

func didYouMean(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", names[0])
}

// Examples come first in help, since most readers look for them.
const helpTemplate = `{{with (or .Long .Short)}}{{. | trimTrailingWhitespaces}}

{{end}}{{if .HasExample}}Examples:
{{.Example}}

{{end}}{{if or .Runnable .HasSubCommands}}{{.UsageString}}{{end}}`

const usageTemplate = `Usage:{{if and .Runnable (not .HasAvailableSubCommands)}}
  {{.UseLine}}{{end}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} COMMAND{{end}}{{if .HasAvailableSubCommands}}{{$cmds := .Commands}}{{range $group := .Groups}}

{{.Title}}{{range $cmds}}{{if (and (eq .GroupID $group.ID) (or .IsAvailableCommand (eq .Name "help")))}}
  {{rpad .Name .NamePadding }} {{.Short}}{{end}}{{end}}{{end}}{{end}}{{if .HasAvailableLocalFlags}}

Flags:
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableInheritedFlags}}

Flags of every command:
{{.InheritedFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableSubCommands}}

'{{.CommandPath}} COMMAND --help' says more about one.{{end}}
`
