package demo

import "testing"

// TestThePretrainedModelAnswersAsTensorFlow: within the rounding of float32.
func TestThePretrainedModelAnswersAsTensorFlow(t *testing.T) {
	p, err := RunPretrained(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if p.Images != 359 || p.Right != 353 || p.Difference > 1e-5 || p.Writer != "2.21.0" {
		t.Errorf("%+v", p)
	}
}
