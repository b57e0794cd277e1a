package main

import (
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cairnml/cairn/tensorfile"
)

// completePath completes a PATH: checkpoint prefixes, directories, .npz,
// .safetensors, .h5 and .keras files.
func completePath(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	dir, base := filepath.Split(typed)
	read := dir
	if read == "" {
		read = "."
	}
	list, err := os.ReadDir(read)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	found := map[string]bool{}
	for _, e := range list {
		name := e.Name()
		if !strings.HasPrefix(name, base) || strings.HasPrefix(name, ".") && base == "" {
			continue
		}
		switch {
		case e.IsDir():
			found[dir+name+"/"] = true
		case strings.HasSuffix(name, ".index"):
			found[dir+strings.TrimSuffix(name, ".index")] = true
		case tensorfile.KindOf(name) != tensorfile.Checkpoint:
			found[dir+name] = true
		}
	}
	var out []string
	for f := range found {
		out = append(out, f)
	}
	sort.Strings(out)
	// A directory is not the end of a path.
	directive := cobra.ShellCompDirectiveNoFileComp
	if len(out) == 1 && strings.HasSuffix(out[0], "/") {
		directive |= cobra.ShellCompDirectiveNoSpace
	}
	return out, directive
}

// completeNames offers a path first and then the names of its tensors.
func completeNames(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return completePath(cmd, args, typed)
	}
	s, err := tensorfile.Open(cmd.Context(), args[0], nil)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer s.Close()
	var out []string
	for e := range s.Entries().All() {
		if name := tensorfile.Short(e.Name); strings.HasPrefix(name, typed) && e.Name != tensorfile.GraphKey {
			out = append(out, name+"\t"+e.DType.String()+" "+e.Shape.String())
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// completePaths offers paths for every argument.
func completePaths(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	return completePath(cmd, args, typed)
}
