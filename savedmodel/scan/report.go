package scan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Severity is the importance of a finding.
type Severity int

// The severities. Notes are normal in any model; findings from Warning on
// should be reviewed.
const (
	Note Severity = iota
	Warning
	High
)

var severityNames = [...]string{"note", "warning", "high"}

// String returns "note", "warning" or "high".
func (s Severity) String() string {
	if s < 0 || int(s) >= len(severityNames) {
		return fmt.Sprintf("severity(%d)", int(s))
	}
	return severityNames[s]
}

// MarshalText returns the severity's word.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// ParseSeverity returns the severity that a word means.
func ParseSeverity(word string) (Severity, error) {
	if i := slices.Index(severityNames[:], word); i >= 0 {
		return Severity(i), nil
	}
	return 0, fmt.Errorf("no severity is called %q; there are %s", word, strings.Join(severityNames[:], ", "))
}

// Rule is a kind of finding.
type Rule struct {
	ID    string
	Short string // the findings, in a sentence
	Help  string // advice for the user
}

// The rules. Their IDs are in JSON and SARIF, so they must stay; messages may change.
const (
	ruleRead      = "file-read"
	ruleWrite     = "file-write"
	ruleNetwork   = "network"
	ruleCode      = "code"
	ruleUnknown   = "unknown-op"
	ruleShape     = "hostile-shape"
	ruleRecursion = "recursion"
	ruleCycle     = "cycle"
	ruleDangling  = "missing-function"
	ruleName      = "suspicious-name"
	rulePath      = "suspicious-path"
	ruleExtra     = "extra-file"
	ruleLambda    = "keras-code"
	ruleMalformed = "malformed"
	ruleAbort     = "abort"
	ruleNoted     = "noted-op"
	ruleMore      = "more"
)

// Rules lists the rules of a scan.
func Rules() []Rule {
	return []Rule{
		{ruleRead, "An op reads files.", "Cairn lets it read only what the caller grants; TensorFlow lets it read anything."},
		{ruleWrite, "An op writes files.", "Cairn lets it write only where the caller grants it; TensorFlow lets it write anywhere."},
		{ruleNetwork, "An op talks to other processes.", "Don't run the model in TensorFlow where it can reach a network. Cairn has no kernel for it."},
		{ruleCode, "An op runs code that is no part of the graph.", "Don't run the model in TensorFlow unless you know the code. Cairn has no kernel for it."},
		{ruleUnknown, "An op isn't TensorFlow's.", "Whoever runs the model needs a library of kernels; find out where it comes from."},
		{ruleShape, "A tensor that the graph makes is very large.", "Bound the memory of a call, or don't make it."},
		{ruleRecursion, "A function calls itself.", "Bound the steps of a call; TensorFlow may overflow its stack."},
		{ruleCycle, "Nodes of a graph need each other.", "The graph can't run; it was broken or made by hand."},
		{ruleDangling, "A node calls a function that isn't there.", "The graph can't run; it was broken or made by hand."},
		{ruleName, "A name holds control characters or leads elsewhere.", "Don't use names of this model as paths or print them to a terminal."},
		{rulePath, "A constant looks like a path or an address.", "See which op takes it."},
		{ruleExtra, "A file beside the model is a program or can carry one.", "Loading the model doesn't need it; don't run it."},
		{ruleLambda, "A Keras layer carries Python code.", "Keras runs it when it loads the layers; Cairn doesn't."},
		{ruleMalformed, "The file contradicts itself.", "Don't trust the model; TensorFlow may crash on it."},
		{ruleAbort, "An op ends the process.", "Don't run the model in TensorFlow in a process that serves others."},
		{ruleNoted, "An op that other scanners list, though it reaches nothing outside of the model.", "Nothing, unless the model has no reason to have it."},
		{ruleMore, "The model has more findings, or more files, than a report lists.", "Don't trust the model: parts of it are not in the report."},
	}
}

// Finding is something that a rule found.
type Finding struct {
	Rule     string   `json:"rule"`
	Severity Severity `json:"severity"`
	Message  string   `json:"message"`
	File     string   `json:"file"`
	Tags     []string `json:"tags,omitempty"`
	Function string   `json:"function,omitempty"` // "" for the graph itself
	Node     string   `json:"node,omitempty"`
	Op       string   `json:"op,omitempty"`
	// Reached names the part of the model that runs the node: "signature
	// serving_default", "function __call__", "loading", "the saver"; "" for
	// none.
	Reached string `json:"reached,omitempty"`
	// Count is the number of nodes with the same rule, message, function, op and
	// reach. A finding about others that are left out (rule "more") has their number.
	Count int `json:"count"`
}

// Report lists the findings in a model.
type Report struct {
	Path      string
	Findings  []Finding // the most severe first
	Functions int
	Nodes     int

	single bool // Path is the file
}

// Worst returns the highest severity, and false if there are no findings.
func (r *Report) Worst() (Severity, bool) {
	if len(r.Findings) == 0 {
		return 0, false
	}
	return r.Findings[0].Severity, true
}

// maxFindings bounds the findings of one severity in a report: a graph can have a million bad
// nodes. Each severity has its own bound, so that notes can't hide findings that are more severe.
// The number is Cairn's and may change.
const maxFindings = 10_000

// add notes a finding; one that is like another but for the node is counted.
func (s *scanner) add(f Finding) {
	f.Count = 1
	// protobuf's errors have a space of one kind or another, by chance.
	f.Message = strings.ReplaceAll(f.Message, "\u00a0", " ")
	key := findingKey{f.Rule, f.Message, s.within + f.Function, f.Op, f.Reached}
	if i, ok := s.at[key]; ok {
		s.report.Findings[i].Count++
		return
	}
	if s.listed[f.Severity]++; s.listed[f.Severity] > maxFindings {
		return
	}
	if f.File == "" {
		f.File, f.Tags = s.file, s.tags
	}
	f.Function = s.within + f.Function
	if s.at == nil {
		s.at = map[findingKey]int{}
	}
	s.at[key] = len(s.report.Findings)
	s.report.Findings = append(s.report.Findings, f)
}

// close adds a finding for each severity of which some are not listed, and sorts the findings.
func (s *scanner) close() {
	for severity, n := range s.listed {
		if n > maxFindings {
			s.report.Findings = append(s.report.Findings, Finding{
				Rule: ruleMore, Severity: Severity(severity), File: s.file, Count: n - maxFindings,
				Message: fmt.Sprintf("the model has %d more findings of this severity, which are not listed", n-maxFindings),
			})
		}
	}
	s.report.sort()
}

type findingKey struct{ rule, message, function, op, reached string }

// sort puts the most severe first; the rest stays in the order of the file.
func (r *Report) sort() {
	slices.SortStableFunc(r.Findings, func(a, b Finding) int { return cmp.Compare(b.Severity, a.Severity) })
}

// Place returns the place of the finding: the function and the node, joined by
// "/".
func (f *Finding) Place() string {
	if f.Function == "" || f.Node == "" {
		return f.Function + f.Node
	}
	return f.Function + "/" + f.Node
}

// Words returns the message with who runs it.
func (f *Finding) Words() string {
	if f.Reached == "" {
		return f.Message
	}
	return f.Message + ", run by " + f.Reached
}
