package savedmodel

import "testing"

// TestNotFoundListsSimilarNames checks the texts for no name, one name and
// several.
func TestNotFoundListsSimilarNames(t *testing.T) {
	for _, c := range []struct {
		near []string
		want string
	}{
		{nil, `savedmodel: there is no signature "x"`},
		{[]string{"serving_default"}, `savedmodel: there is no signature "x"; there is "serving_default"`},
		{[]string{"a", "b"}, `savedmodel: there is no signature "x"; there are "a", "b"`},
	} {
		err := &NotFoundError{Kind: "signature", Name: "x", Near: c.near}
		if got := err.Error(); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}
