package scan

import (
	"encoding/json"
	"io"
	"net/url"
	"path"
	"path/filepath"
	"slices"
)

// The parts of SARIF 2.1.0 that a scan fills. The names of fields are the standard's.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool    sarifTool     `json:"tool"`
		Results []sarifResult `json:"results"`
		Columns string        `json:"columnKind"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		URI     string      `json:"informationUri"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID    string    `json:"id"`
		Short sarifText `json:"shortDescription"`
		Help  sarifText `json:"help"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
		Count     int             `json:"occurrenceCount"`
	}
	sarifLocation struct {
		Physical sarifPhysical  `json:"physicalLocation"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifLogical struct {
		Name      string `json:"name"`
		Qualified string `json:"fullyQualifiedName"`
		Kind      string `json:"kind"`
	}
)

// SARIF writes reports as one run of a SARIF 2.1.0 log, which code hosts and
// editors read.
func SARIF(w io.Writer, version string, reports ...*Report) error {
	rules := Rules()
	run := sarifRun{Results: []sarifResult{}, Columns: "utf16CodeUnits"}
	run.Tool.Driver = sarifDriver{Name: "cairn", Version: version, URI: "https://github.com/cairnml/cairn"}
	for _, r := range rules {
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{r.ID, sarifText{r.Short}, sarifText{r.Help}})
	}
	levels := map[Severity]string{Note: "note", Warning: "warning", High: "error"}
	for _, rep := range reports {
		for _, f := range rep.Findings {
			x := sarifResult{
				RuleID: f.Rule, RuleIndex: slices.IndexFunc(rules, func(r Rule) bool { return r.ID == f.Rule }),
				Level: levels[f.Severity], Message: sarifText{f.Words()}, Count: f.Count,
			}
			at := sarifLocation{Physical: sarifPhysical{sarifArtifact{URI: rep.uri(f.File)}}}
			if place := f.Place(); place != "" {
				kind := "function"
				if f.Node != "" {
					kind = "element"
				}
				at.Logical = []sarifLogical{{Name: path.Base(place), Qualified: place, Kind: kind}}
			}
			x.Locations = []sarifLocation{at}
			run.Results = append(run.Results, x)
		}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}})
}

// uri returns the reference to a scanned file. It is relative to the working
// directory of the command if the path was.
func (r *Report) uri(file string) string {
	root := filepath.ToSlash(r.Path)
	if !r.single {
		root = path.Join(root, file)
	}
	return (&url.URL{Path: root}).EscapedPath()
}
