package main

import "github.com/spf13/cobra"

func newDemo(a *app) *cobra.Command {
	return &cobra.Command{Use: "demo", Short: "Train, save, stop and resume a small model", RunE: func(*cobra.Command, []string) error { return nil }}
}
