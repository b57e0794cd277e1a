package callbacks

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/cairnml/cairn/keras/config"
)

// RemoteMonitor posts the logs of each epoch to an HTTP server, as a JSON object with the
// key epoch and the logs. A server that can't be reached is a warning.
type RemoteMonitor struct {
	Base
	// Root is the server's address. Default: "http://localhost:9000".
	Root string
	// Path is the path on the server. Default: "/publish/epoch/end/".
	Path string
	// Field is the field of the form that contains the JSON. Default: "data".
	Field string
	// Headers are further headers of the requests. Default: none.
	Headers http.Header
	// SendAsJSON sends the JSON as the request's body. Default: false, a form.
	SendAsJSON bool
	// Client sends the requests. Default: http.DefaultClient.
	Client *http.Client
}

// OnEpochEnd posts the logs.
func (m *RemoteMonitor) OnEpochEnd(ctx context.Context, r *Run, epoch int, logs Logs) error {
	var text strings.Builder
	text.WriteString(`{"epoch": ` + strconv.Itoa(epoch))
	for _, name := range slices.Sorted(maps.Keys(logs)) {
		key, err := json.Marshal(name)
		if err != nil {
			return fmt.Errorf("callbacks: RemoteMonitor: %w", err)
		}
		value, err := m.number(logs[name])
		if err != nil {
			r.Printf("WARNING: RemoteMonitor: %s is %v, which JSON can't represent\n", name, logs[name])
			return nil
		}
		text.WriteString(", " + string(key) + ": " + value)
	}
	text.WriteString("}")
	body, kind := text.String(), "application/json"
	if !m.SendAsJSON {
		body, kind = url.Values{cmp.Or(m.Field, "data"): {body}}.Encode(), "application/x-www-form-urlencoded"
	}
	root := cmp.Or(m.Root, "http://localhost:9000")
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, root+cmp.Or(m.Path, "/publish/epoch/end/"), strings.NewReader(body))
	if err != nil {
		return fmt.Errorf("callbacks: RemoteMonitor: %w", err)
	}
	request.Header.Set("Content-Type", kind)
	for name, values := range m.Headers {
		request.Header[http.CanonicalHeaderKey(name)] = values
	}
	response, err := cmp.Or(m.Client, http.DefaultClient).Do(request)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r.Printf("WARNING: RemoteMonitor: could not reach %s: %v\n", root, err)
		return nil
	}
	_, _ = io.CopyN(io.Discard, response.Body, 1<<20)
	return response.Body.Close()
}

// number returns a number as Python's json has it. In a request's body requests refuses
// those that are not finite.
func (m *RemoteMonitor) number(x float64) (string, error) {
	switch {
	case !math.IsNaN(x) && !math.IsInf(x, 0):
		return config.FormatFloat(x, 64), nil
	case m.SendAsJSON:
		return "", fmt.Errorf("%v is no JSON number", x)
	case math.IsNaN(x):
		return "NaN", nil
	case x > 0:
		return "Infinity", nil
	}
	return "-Infinity", nil
}
