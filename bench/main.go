package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("bench: ")
	peer := flag.String("peer", "", "be a peer: cairn, raw, steps, fit, keras, bytes, ops, infer or peak (used by bench itself)")
	python := flag.String("python", "python3", "a Python with TensorFlow, tf_keras and safetensors")
	dir := flag.String("dir", "", "where files are written. Default: a temporary directory")
	rounds := flag.Int("rounds", 5, "rounds; each contender does each work once a round")
	only := flag.String("only", "", "the part to run: files, steps, fit, keras, ops, infer or start. Default: all")
	match := flag.String("match", "", "a regular expression: the rows to measure. Default: all")
	readme := flag.String("readme", "", "put the rows that README shows into this file, between its bench markers")
	doc := flag.String("doc", "", "put the whole table into this file, between its bench markers")
	flag.Parse()
	ctx := context.Background()
	if *peer != "" {
		if err := bePeer(ctx, *peer, flag.Args()); err != nil {
			log.Fatal(err)
		}
		return
	}
	rows, err := regexp.Compile(*match)
	if err != nil {
		log.Fatal(err)
	}
	if err := run(ctx, &bench{python: *python, dir: *dir, rounds: *rounds, match: rows}, *only, *readme, *doc); err != nil {
		log.Fatal(err)
	}
}

// run measures the parts that only names, all if it is "", and prints the table. readme and doc
// are files to put it into, "" for none.
func run(ctx context.Context, b *bench, only, readme, doc string) error {
	if b.dir == "" {
		temp, err := os.MkdirTemp("", "cairn-bench")
		if err != nil {
			return err
		}
		defer os.RemoveAll(temp)
		b.dir = temp
	}
	defer b.close()
	for _, work := range []struct {
		part string
		run  func(context.Context) error
	}{
		{"files", b.big}, {"files", b.many}, {"files", b.mostAndOne}, {"steps", b.steps}, {"fit", b.fit}, {"keras", b.keras}, {"ops", b.ops}, {"infer", b.infer}, {"start", b.start},
	} {
		if only != "" && only != work.part {
			continue
		}
		if err := work.run(ctx); err != nil {
			return err
		}
		b.close()
	}
	table := b.table()
	fmt.Print(table)
	if doc != "" {
		if err := insert(doc, table); err != nil {
			return err
		}
	}
	if readme != "" {
		return insert(readme, shortTable(table))
	}
	return nil
}

// inReadme are the rows that README shows. A row that is reworded must be reworded here, too.
var inReadme = []string{
	"save 1 GiB in 100 tensors", "restore 1 GiB in 100 tensors", "save 10,000 variables of 1 KiB", "restore 10,000 variables of 1 KiB",
	"train step of an MLP 784-512-256-10, batch 128, traced", "addition of 4 elements, eager", "ResNet50, batch 1", "MobileNetV2, batch 1",
	"transformer of 4 layers, 128 tokens, batch 1", "start of the process",
}

// shortTable returns the head of a table and the rows that README shows.
func shortTable(table string) string {
	var out strings.Builder
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) < 3 {
			continue
		}
		if work := strings.TrimSpace(cells[1]); work == "work" || strings.HasPrefix(work, "---") || slices.Contains(inReadme, work) {
			out.WriteString(line)
		}
	}
	return out.String()
}

// bench keeps the peers that run and the rows that are done.
type bench struct {
	python, dir string
	rounds      int
	match       *regexp.Regexp // of the rows to be measured
	peers       []*process
	rows        []row
	notes       []string // of peak memory
	cores       float64  // the work of two goroutines, one being 1; 0 if that wasn't measured
	taken       []string // memory by calls of models
	loading     []string // memory for loading, as a multiple of the weights
	ratios      []string // of Cairn's time for one work to that for another
}

// row is one line of the table: a work and each contender's median seconds for one of its count.
type row struct {
	work     string
	medians  map[string]float64
	products float64 // multiply-adds
}

// The contenders by the heads of their columns. The versions are those of interop/requirements.txt.
const (
	cairn       = "Cairn"
	tensorflow  = "TensorFlow 2.21"
	safetensors = "safetensors (no fsync, no checksums)"
	raw         = "raw I/O (write + fsync, read)"
	onnxruntime = "onnxruntime 1.31"
	// peak makes as many multiply-adds as a work's products have, if these are known.
	peak = "products alone, at the machine's peak"
)

// contenders are in the order of the table.
var contenders = []string{cairn, tensorflow, onnxruntime, safetensors, raw, peak}

// big measures a file of few large tensors.
func (b *bench) big(ctx context.Context) error {
	const what = "1 GiB in 100 tensors"
	return b.files(ctx, []fileStep{
		{kind: "big", verb: "save", words: "save " + what},
		{kind: "big", verb: "restore", words: "restore " + what},
		{kind: "big", verb: "verify", words: "verify " + what},
		{kind: "big", verb: "diff", words: "compare two files of " + what},
		{kind: "big", verb: "convert", words: "convert " + what + " to safetensors"},
	})
}

// many measures a file of many small tensors.
func (b *bench) many(ctx context.Context) error {
	const what = "10,000 variables of 1 KiB"
	return b.files(ctx, []fileStep{{kind: "many", verb: "save", words: "save " + what}, {kind: "many", verb: "restore", words: "restore " + what}})
}

// mostAndOne compares the same bytes in as many variables as can be and in one.
func (b *bench) mostAndOne(ctx context.Context) error {
	const most, one = "100,000 variables of 1 KiB", "one variable of 100,000 KiB"
	var works []fileStep
	for _, verb := range []string{"save", "restore"} {
		works = append(works,
			fileStep{kind: "most", verb: verb, words: verb + " " + most},
			fileStep{kind: "one", verb: verb, words: verb + " " + one, withBefore: true})
	}
	if err := b.files(ctx, works); err != nil {
		return err
	}
	for i := 1; i < len(works); i += 2 {
		if many, all := b.row(works[i-1].words), b.row(works[i].words); many != nil && all != nil {
			b.ratios = append(b.ratios, fmt.Sprintf("to %s takes Cairn %s times as long as to %s", works[i-1].words,
				ratio(many.medians[cairn]/all.medians[cairn]), works[i].words))
		}
	}
	return nil
}

// row returns the row of that name, nil if it wasn't measured.
func (b *bench) row(words string) *row {
	i := slices.IndexFunc(b.rows, func(r row) bool { return r.work == words })
	if i < 0 {
		return nil
	}
	return &b.rows[i]
}

// fileStep is a row about a file of one of the kinds that tensors knows.
type fileStep struct {
	kind, verb, words string
	withBefore        bool // as in step
}

// startAll starts the contenders that save and restore files of a kind. Raw I/O goes by bytes, of
// which 10,000 variables have few.
func (b *bench) startAll(ctx context.Context, kind string) (map[string]*process, error) {
	peers := map[string]*process{}
	start := func(name, folder string, argv ...string) error {
		folder = filepath.Join(b.dir, kind, folder)
		p, err := b.startPeer(ctx, append(argv, folder, kind)...)
		if err == nil {
			p.folder = folder
		}
		peers[name] = p
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	err = errors.Join(
		start(cairn, "cairn", self, "-peer", "cairn"),
		start(tensorflow, "tf", b.python, filepath.Join("bench", "peer", "tf_checkpoint.py")),
		start(safetensors, "st", b.python, filepath.Join("bench", "peer", "safetensors_checkpoint.py")))
	if kind != "many" && err == nil {
		err = start(raw, "raw", self, "-peer", "raw")
	}
	return peers, err
}

// files measures work on files, and the memory that ours took to save and to restore
// them. The first work with a kind of file saves it.
func (b *bench) files(ctx context.Context, list []fileStep) error {
	var works []step
	for _, f := range list {
		works = append(works, step{words: f.words, verb: f.verb, count: 1, withBefore: f.withBefore})
	}
	if !slices.ContainsFunc(works, b.wanted) {
		return nil
	}
	peers := map[string]map[string]*process{} // by kind
	for i, f := range list {
		if peers[f.kind] == nil {
			all, err := b.startAll(ctx, f.kind)
			if err != nil {
				return err
			}
			peers[f.kind] = all
			for _, p := range all {
				if b.wanted(works[i]) {
					break
				}
				if _, err := p.ask(f.verb); err != nil { // the others need the files
					return err
				}
			}
		}
		works[i].peers = peers[f.kind]
	}
	for group := range groups(works) {
		if err := b.together(group, nil); err != nil {
			return err
		}
	}
	// Separately from the times: memory measurements begin by returning memory to the
	// system, which a timed work would have to allocate again.
	for _, w := range works {
		if !b.wanted(w) || w.verb != "save" && w.verb != "restore" {
			continue
		}
		var extra float64
		for _, figure := range []string{"forget", w.verb, "memory"} {
			var err error
			if extra, err = w.peers[cairn].ask(figure); err != nil {
				return err
			}
		}
		b.notes = append(b.notes, fmt.Sprintf("%.0f MiB to %s", extra, w.words))
	}
	return nil
}

// wanted reports whether a row is to be measured.
func (b *bench) wanted(w step) bool { return b.match.MatchString(w.words) }

// steps measures programs that run, against TensorFlow.
func (b *bench) steps(ctx context.Context) error {
	if !slices.ContainsFunc(steps, b.wanted) {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	ours, err := b.startPeer(ctx, self, "-peer", "steps")
	if err != nil {
		return err
	}
	theirs, err := b.startPeer(ctx, b.python, filepath.Join("bench", "peer", "tf_steps.py"))
	if err != nil {
		return err
	}
	peers := map[string]*process{cairn: ours, tensorflow: theirs}
	if err := b.startPeak(ctx, peers); err != nil {
		return err
	}
	for group := range groups(steps) {
		if err := b.together(group, peers); err != nil {
			return err
		}
	}
	held, err := ours.ask("memory")
	if err != nil {
		return err
	}
	b.notes = append(b.notes, fmt.Sprintf("the %d chained additions hold %.0f MiB at most", chained, held))
	b.cores, err = ours.ask("cores")
	return err
}

// startPeak adds the contender that makes nothing but multiply-adds to peers, if there is a
// loop for this machine.
func (b *bench) startPeak(ctx context.Context, peers map[string]*process) error {
	if loop, _ := multiplyAdds(); loop == nil {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	peers[peak], err = b.startPeer(ctx, self, "-peer", "peak")
	return err
}

// groups yields works in turn, those that are compared with each other together.
func groups(works []step) iter.Seq[[]step] {
	return func(yield func([]step) bool) {
		for len(works) > 0 {
			n := 1
			for n < len(works) && works[n].withBefore {
				n++
			}
			if !yield(works[:n]) {
				return
			}
			works = works[n:]
		}
	}
}

// start measures processes from their start to their end: the command against an
// import.
func (b *bench) start(ctx context.Context) error {
	work := step{words: "start of the process", count: 1}
	if !b.wanted(work) {
		return nil
	}
	command := filepath.Join(b.dir, "cairn-command")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", command, "./cmd/cairn").CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	argv := map[string][]string{
		cairn:      {command, "version"},
		tensorflow: {b.python, "-c", "import tensorflow"},
	}
	times := map[string][]float64{}
	for range b.rounds {
		for _, name := range []string{cairn, tensorflow} {
			d, err := timed(func() error { return exec.CommandContext(ctx, argv[name][0], argv[name][1:]...).Run() })
			if err != nil {
				return fmt.Errorf("%s: %w", argv[name], err)
			}
			times[name] = append(times[name], d)
		}
	}
	b.add(work, times)
	return nil
}

const (
	// short is the time in seconds below which a contender does a work shortTimes in a round:
	// a moment in which the machine does something else would be most of one. The time of
	// the others plays no part, so that rows can be compared with each other.
	short      = 0.5
	shortTimes = 5
	// rest is the time for which the machine is left alone before a contender is asked: until
	// the threads of the one before have stopped polling for work.
	rest = 100 * time.Millisecond
)

// together measures works that are compared with each other in the same rounds, after a
// round that counts for nothing. peers are those of works that have no own ones.
func (b *bench) together(works []step, peers map[string]*process) error {
	if !slices.ContainsFunc(works, b.wanted) {
		return nil
	}
	times := make([]map[string][]float64, len(works))
	long := make([]map[string]bool, len(works)) // who isn't asked more often
	for k := range works {
		times[k], long[k] = map[string][]float64{}, map[string]bool{}
	}
	for i := -1; i < b.rounds*shortTimes; i++ {
		for k, w := range works {
			for _, name := range contenders {
				p := peers[name]
				if w.peers != nil {
					p = w.peers[name]
				}
				verb := w.verb
				if name == peak {
					verb = fmt.Sprint(w.products * w.count)
				}
				if p == nil || name == peak && w.products == 0 || long[k][name] && i%shortTimes != 0 {
					continue
				}
				time.Sleep(rest)
				d, err := p.ask(verb)
				if err != nil {
					return fmt.Errorf("%s, %s: %w", name, verb, err)
				}
				if err := p.settle(); err != nil {
					return err
				}
				if i < 0 {
					long[k][name] = d >= short
				} else {
					times[k][name] = append(times[k][name], d)
				}
			}
		}
	}
	for k, w := range works {
		b.add(w, times[k])
	}
	return nil
}

// add adds the row of a work and prints it to standard error.
func (b *bench) add(w step, times map[string][]float64) {
	r := row{work: w.words, medians: map[string]float64{}, products: w.products}
	line := w.words + ":"
	for _, name := range contenders {
		if t := times[name]; len(t) > 0 {
			slices.Sort(t)
			r.medians[name] = t[len(t)/2] / w.count
			line += fmt.Sprintf("  %s %s", name, seconds(r.medians[name]))
		}
	}
	b.rows = append(b.rows, r)
	fmt.Fprintln(os.Stderr, line)
}

// table returns the rows in Markdown: ours in seconds, the others as multiples
// of it.
func (b *bench) table() string {
	var s strings.Builder
	fmt.Fprintf(&s, "| work | %s |\n|---%s|\n", strings.Join(contenders, " | "), strings.Repeat("|---", len(contenders)))
	for _, r := range b.rows {
		ours := r.medians[cairn]
		fmt.Fprintf(&s, "| %s | %s", r.work, seconds(ours))
		for _, name := range contenders[1:] {
			if t, ok := r.medians[name]; ok {
				fmt.Fprintf(&s, " | %s (%s×)", seconds(t), ratio(t/ours))
			} else {
				s.WriteString(" | ")
			}
		}
		s.WriteString(" |\n")
	}
	fmt.Fprintf(&s, "\nMedians of %d rounds in turn on one machine; in brackets how many times Cairn's time. Cairn and TensorFlow verify\nchecksums; Cairn and raw I/O sync what they write. Rows about single ops count the CPU time, user and system, of one thread, the call of a\nfunction included, after the answers have been compared.\n", b.rounds)
	for _, r := range b.rows {
		if least := r.medians[peak]; least > 0 {
			fmt.Fprintf(&s, "Of TensorFlow's time for the %s,\nthe products alone take %.2f at the %.0f GFLOP/s that the machine makes at most; Cairn takes %.2f.\n",
				r.work, least/r.medians[tensorflow], 2e-9*r.products/least, r.medians[cairn]/r.medians[tensorflow])
		}
	}
	if b.cores > 0 {
		fmt.Fprintf(&s, "Two goroutines with functions of their own do %.2f times the work of one here; two callers of one function can't do more.\n", b.cores)
	}
	if len(b.ratios) > 0 {
		fmt.Fprintf(&s, "In the same rounds, %s.\n", strings.Join(b.ratios, ", "))
	}
	if len(b.notes) > 0 {
		fmt.Fprintf(&s, "\nCairn's peak memory, that of files above their tensors: %s.\n", strings.Join(b.notes, ", "))
	}
	if len(b.loading) > 0 {
		fmt.Fprintf(&s, "\nIn a process that has called models before, loading takes at most so many times the weights: %s.\n", strings.Join(b.loading, ", "))
	}
	if len(b.taken) > 0 {
		fmt.Fprintf(&s, "\nA call of Cairn's takes from the garbage collector, besides its outputs: %s.\n", strings.Join(b.taken, ", "))
	}
	return s.String()
}

// ratio formats x with two digits or three.
func ratio(x float64) string {
	switch {
	case x >= 10:
		return fmt.Sprintf("%.0f", x)
	case x >= 2:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.2f", x)
}

// seconds formats a time with three digits.
func seconds(t float64) string {
	switch {
	case t >= 1:
		return fmt.Sprintf("%.2f s", t)
	case t >= 1e-3:
		return fmt.Sprintf("%.3g ms", t*1e3)
	}
	return fmt.Sprintf("%.3g µs", t*1e6)
}

// insert replaces the text between the bench markers of a file, which must have both.
func insert(file, table string) error {
	const begin, end = "<!-- bench:begin -->\n", "<!-- bench:end -->"
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	head, rest, ok1 := strings.Cut(string(text), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		return fmt.Errorf("%s has no markers %q and %q", file, strings.TrimSpace(begin), end)
	}
	return os.WriteFile(file, []byte(head+begin+table+end+tail), 0o666)
}

// process is a peer that runs.
type process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	folder string // the directory of its files, "" for none
}

// settle syncs the files that the peer has written, so that the disk isn't busy with
// them while the next one is measured: not all of them sync.
func (p *process) settle() error {
	if p.folder == "" {
		return nil
	}
	return filepath.WalkDir(p.folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		f, err := os.OpenFile(path, os.O_RDWR, 0) // some systems sync only files that are open for writing
		if err != nil {
			return err
		}
		return errors.Join(f.Sync(), f.Close())
	})
}

// startPeer starts a peer and waits until it is ready. close ends it.
func (b *bench) startPeer(ctx context.Context, argv ...string) (*process, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), "TF_CPP_MIN_LOG_LEVEL=3", "CUDA_VISIBLE_DEVICES=")
	var logs strings.Builder
	cmd.Stderr = &logs
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, in: in, out: bufio.NewReader(out)}
	b.peers = append(b.peers, p)
	if line, err := p.out.ReadString('\n'); err != nil || strings.TrimSpace(line) != "ready" {
		return nil, fmt.Errorf("%s doesn't start: %q\n%s", strings.Join(argv, " "), line, logs.String())
	}
	return p, nil
}

// ask has the peer do a work and returns the number that it answers: seconds, or the unit of
// the figure.
func (p *process) ask(verb string) (float64, error) {
	if _, err := fmt.Fprintln(p.in, verb); err != nil {
		return 0, err
	}
	line, err := p.out.ReadString('\n')
	if err != nil {
		return 0, fmt.Errorf("the peer ended: %w", err)
	}
	return strconv.ParseFloat(strings.TrimSpace(line), 64)
}

// close ends the peers, which exit when their input ends.
func (b *bench) close() {
	for _, p := range b.peers {
		p.in.Close()
		p.cmd.Wait()
	}
	b.peers = nil
}
