// Command crosscheck type-checks the packages of a module with their tests and imports for other
// machines: for each GOOS and GOARCH, without cgo. It finds the errors of types that the compiler would
// find, in much less time than compiling everything for each machine takes. .ci/run runs it.
//
//	go -C .ci/crosscheck run . -C ../.. linux/386 windows/amd64
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	dir := flag.String("C", ".", "the module's `directory`")
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: crosscheck [-C directory] GOOS/GOARCH...")
		os.Exit(2)
	}
	failed := false
	for _, target := range flag.Args() {
		n, err := check(*dir, target)
		switch {
		case err != nil:
			fmt.Fprintf(os.Stderr, "%s: %v\n", target, err)
			failed = true
		default:
			fmt.Printf("%s: %d packages\n", target, n)
		}
	}
	if failed {
		os.Exit(1)
	}
}

// check type-checks everything for one machine, and returns the number of packages of the module.
// The variants of a package for tests count separately.
func check(dir, target string) (int, error) {
	goos, goarch, ok := strings.Cut(target, "/")
	if !ok {
		return 0, fmt.Errorf("not of the form GOOS/GOARCH")
	}
	found, err := packages.Load(&packages.Config{
		Mode:  packages.LoadAllSyntax,
		Dir:   dir,
		Env:   append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch),
		Tests: true,
	}, "./...")
	if err != nil {
		return 0, err
	}
	if len(found) == 0 {
		return 0, fmt.Errorf("no packages")
	}
	if n := packages.PrintErrors(found); n > 0 {
		return 0, fmt.Errorf("%d errors", n)
	}
	return len(found), nil
}
