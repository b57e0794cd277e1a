// Command interop compares this module with real TensorFlow: it builds the objects that peer/write.py had TensorFlow
// build, compares the files byte for byte, and reads TensorFlow's files. peer/check.py then reads its files under go/.
//
// The script run in this directory runs it:
//
//	interop/run [CASE…]
//
// A line is printed for each case; the exit code is 1 if one fails, 2 if the program can't run.
//
// Only people and the script run read the lines, so names of cases may change. The keys of JSON files, the paths under
// tf/ and go/ and the names of arrays in .npz files are those of the programs in peer/, and change with them.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"
)

// A suite is one kind of case.
type suite struct {
	name string
	run  func(ctx context.Context, r *run)
	// judged means that TensorFlow's process, on one core, takes most of the time. Such a suite needs
	// run.python. The suites that compare files run first, one after the other. Then the judged ones run
	// in parallel.
	judged bool
}

// suites are all suites, in the order in which those that compare files run and the judged
// ones begin.
var suites = []suite{
	{name: "graphs", run: graphCases},
	{name: "bundles", run: bundleCases},
	{name: "orders", run: orderCases},
	{name: "models", run: modelCases},
	{name: "guide", run: guideCases},
	{name: "managers", run: managerCases},
	{name: "legacy", run: legacyCases},
	{name: "rewrite", run: rewriteCases},
	{name: "join", run: joinCases},
	{name: "apps", run: appCases},
	{name: "savedmodels", run: savedModelCases},
	{name: "gradients", run: gradientCases, judged: true}, // the longest one first
	{name: "programs", run: programCases, judged: true},
	{name: "traces", run: traceCases, judged: true},
	{name: "types", run: typeCases, judged: true},
	{name: "kerasfiles", run: kerasFileCases, judged: true},
	{name: "rescue", run: rescueCases, judged: true},
	{name: "recurrent", run: recurrentCases, judged: true},
	{name: "layers", run: layerCases, judged: true},
	{name: "architectures", run: architectureCases, judged: true},
	{name: hostile, run: hostileCases},
}

// hostile is run only when named: it needs -cairn and a small process.
const hostile = "hostile"

// run is one run of the program over a work directory.
type run struct {
	root string // holds specs.json, tf/ and go/
	// python has TensorFlow: suites start the programs in peer/ with it, and oracle.py shows
	// differences. Without it ("") the judged suites fail. interop/run always passes one.
	python string
	cairn  string         // the command
	match  *regexp.Regexp // the gradients to judge
	specs  specs
	out    io.Writer // takes the cases' lines
	failed int       // the number of cases that failed
	dumped int       // the number of differences shown
}

// specs is the file specs.json that peer/write.py makes.
type specs struct {
	Graphs  []graphSpec   `json:"graphs"`
	Bundles []bundleSpec  `json:"bundles"`
	Orders  [][]orderStep `json:"orders"`
}

func main() {
	r := &run{out: os.Stdout}
	flag.StringVar(&r.root, "work", "", "`directory` that peer/write.py filled")
	flag.StringVar(&r.python, "python", "", "python with TensorFlow, to show differences with")
	flag.StringVar(&r.cairn, "cairn", "", "the command, for the hostile files")
	only := flag.String("only", "", "comma-separated suites to run; all if empty")
	without := flag.String("without", "", "comma-separated suites to leave out")
	match := flag.String("match", "", "`expression` that the names of the gradients to judge match")
	flag.Parse()
	r.match = regexp.MustCompile(*match)
	if err := r.main(*only, *without); err != nil {
		fmt.Fprintln(os.Stderr, "interop:", err)
		os.Exit(2)
	}
	if r.failed > 0 {
		os.Exit(1)
	}
}

// main runs the suites that only lists, all but hostile if it is "", except those that without
// lists.
func (r *run) main(only, without string) error {
	if only != hostile && only != "apps" {
		text, err := os.ReadFile(filepath.Join(r.root, "specs.json"))
		if err != nil {
			return err
		}
		if err := json.Unmarshal(text, &r.specs); err != nil {
			return err
		}
	}
	var files suite
	var inParallel []suite
	for _, s := range suites {
		switch {
		case only == "" && s.name == hostile, only != "" && !listed(only, s.name), listed(without, s.name):
		case s.judged:
			inParallel = append(inParallel, s)
		default:
			files = files.then(s)
		}
	}
	if files.run != nil {
		// By themselves: a restore that lacks a value is an error of every step in the process.
		r.beside([]suite{files})
	}
	r.beside(inParallel)
	return nil
}

// listed reports whether a comma-separated list has a name.
func listed(list, name string) bool { return slices.Contains(strings.Split(list, ","), name) }

// then returns a suite that runs o after s.
func (s suite) then(o suite) suite {
	if s.run == nil {
		return o
	}
	return suite{name: s.name + "," + o.name, run: func(ctx context.Context, r *run) {
		s.run(ctx, r)
		o.run(ctx, r)
	}}
}

// beside runs suites in parallel, as many as there are cores. When a suite ends, its lines
// are printed, and the seconds that it took.
func (r *run) beside(suites []suite) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	places := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, s := range suites {
		places <- struct{}{}
		wg.Go(func() {
			var out bytes.Buffer
			own := *r
			own.out, own.failed = &out, 0
			begin := time.Now()
			if s.judged && r.python == "" {
				own.result(s.name, []string{"there is no Python with TensorFlow to compare with; -python names it"}, "")
			} else {
				s.run(context.Background(), &own)
			}
			fmt.Fprintf(&out, "took %.0f s: %s\n", time.Since(begin).Seconds(), s.name)
			mu.Lock()
			r.failed += own.failed
			_, _ = out.WriteTo(r.out)
			mu.Unlock()
			<-places
		})
	}
	wg.Wait()
}

// result prints the line of a case: its faults, none if it holds.
func (r *run) result(name string, wrong []string, detail string) {
	word := "ok  "
	if len(wrong) > 0 {
		word = "FAIL"
		r.failed++
	}
	if detail != "" {
		detail = ": " + detail
	}
	fmt.Fprintf(r.out, "%s %s%s\n", word, name, detail)
	for i, w := range wrong {
		if i == 6 {
			fmt.Fprintf(r.out, "     and %d more\n", len(wrong)-i)
			break
		}
		fmt.Fprintln(r.out, "     "+strings.ReplaceAll(w, "\n", "\n     "))
	}
}

// check runs f as a separate case.
func (r *run) check(name string, f func() error) {
	r.result(name, wrongs(guarded(f)), "")
}

// guarded calls f and returns a panic as an error: a case never ends the run.
func guarded(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return f()
}

// wrongs returns err as the faults of a case.
func wrongs(err error) []string {
	if err == nil {
		return nil
	}
	return []string{err.Error()}
}

// tf returns a path under tf/, the files that TensorFlow wrote.
func (r *run) tf(parts ...string) string {
	return filepath.Join(append([]string{r.root, "tf"}, parts...)...)
}

// ours returns a path under go/, and makes the directory that the path is in.
func (r *run) ours(parts ...string) string {
	p := filepath.Join(append([]string{r.root, "go"}, parts...)...)
	if err := os.MkdirAll(filepath.Dir(p), 0o777); err != nil {
		panic(err)
	}
	return p
}
