package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by release builds: -ldflags "-X main.version=v1.2.3".
var version = ""

func newVersion(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Say which build this is",
		Example: `  cairn version --json`,
		Args:    need(0, 0, "no arguments"),
		RunE:    func(*cobra.Command, []string) error { return a.printVersion() },
	}
}

// printVersion prints the build's version, for the verb and for --version: the release's, else the
// module's, else "(devel)".
func (a *app) printVersion() error {
	v := struct {
		Version  string `json:"version"`
		Revision string `json:"revision,omitempty"`
		Modified bool   `json:"modified,omitempty"`
		Go       string `json:"go"`
		OS       string `json:"os"`
		Arch     string `json:"arch"`
	}{Version: version, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		if v.Version == "" {
			v.Version = info.Main.Version
		}
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				v.Revision = s.Value
			case "vcs.modified":
				v.Modified = s.Value == "true"
			}
		}
	}
	if v.Version == "" {
		v.Version = "(devel)"
	}
	if a.json {
		return a.printJSON(v)
	}
	fmt.Fprintf(a.out, "cairn %s %s %s/%s\n", v.Version, v.Go, v.OS, v.Arch)
	return nil
}
