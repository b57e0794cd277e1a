package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

var shells = []string{"bash", "zsh", "fish", "powershell"}

func newCompletion(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Write a script that completes commands, paths and names",
		Long: `Write the script with which SHELL completes this program's commands, flags,
checkpoints and the names of their tensors. SHELL is bash, zsh, fish or
powershell.`,
		Example: `  source <(cairn completion bash)               for this session; or for good:
  cairn completion bash > /etc/bash_completion.d/cairn
  cairn completion zsh > "${fpath[1]}/_cairn"
  cairn completion fish > ~/.config/fish/completions/cairn.fish
  cairn completion powershell | Out-String | Invoke-Expression`,
		Args:      need(1, 1, "a SHELL: bash, zsh, fish or powershell"),
		ValidArgs: shells,
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return writeBash(a.out, root)
			case "zsh":
				return root.GenZshCompletion(a.out)
			case "fish":
				return root.GenFishCompletion(a.out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(a.out)
			}
			return usagef("there is no completion for %q, but for bash, zsh, fish and powershell", args[0])
		},
	}
}

// bashWords is a shell function that splits the line into words if the bash-completion
// package, whose function it replaces, isn't installed.
//
//go:embed completion_words.bash
var bashWords []byte

// packageCall is the call in cobra's script that needs the bash-completion package. If a new
// version of cobra writes another script, writeBash fails and a test shows it.
var packageCall = []byte("    _get_comp_words_by_ref \"$@\" cur prev words cword\n")

// writeBash writes a script for bash that needs nothing else to be installed.
func writeBash(w io.Writer, root *cobra.Command) error {
	var script bytes.Buffer
	if err := root.GenBashCompletionV2(&script, true); err != nil {
		return err
	}
	own := bytes.Replace(script.Bytes(), packageCall, []byte("    __cairn_words\n"), 1)
	if bytes.Equal(own, script.Bytes()) {
		return fmt.Errorf("completion bash: the generated script has another form than expected; report this as a bug")
	}
	if _, err := w.Write(bashWords); err != nil {
		return err
	}
	_, err := w.Write(own)
	return err
}
