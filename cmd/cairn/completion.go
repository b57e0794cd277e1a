package main

import (
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
				return root.GenBashCompletionV2(a.out, true)
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
