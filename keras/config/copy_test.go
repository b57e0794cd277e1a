package config_test

import (
	"testing"

	"github.com/cairnml/cairn/keras/config"
)

type part struct {
	Sizes []int
	Rate  *float64
	cache int
}

type whole struct {
	Name  string
	Part  *part
	Parts []any
	Built int `keras:"-"`
}

func TestACopyHasTheConfigAlone(t *testing.T) {
	of := &whole{Name: "a", Part: &part{Sizes: []int{1}, Rate: new(0.5), cache: 3}, Parts: []any{&part{Sizes: []int{2}}, 4, nil}, Built: 7}
	got := config.Copy(of)
	got.Part.Sizes[0], got.Parts[0].(*part).Sizes[0], got.Name = 8, 9, "b"
	switch {
	case of.Part.Sizes[0] != 1 || of.Parts[0].(*part).Sizes[0] != 2 || of.Name != "a":
		t.Error("a change of the copy changes the original")
	case got.Built != 0 || got.Part.cache != 0:
		t.Error("the copy has what is no config")
	case *got.Part.Rate != 0.5 || got.Parts[1] != 4 || got.Parts[2] != nil:
		t.Errorf("the copy is %+v", got)
	}
	if config.Copy((*whole)(nil)) != nil {
		t.Error("a copy of nil is something")
	}
}

func TestCopyFieldsTakesEqualNamesAndTypes(t *testing.T) {
	from := &struct {
		Name  int // of another type
		Sizes []int
		More  bool
	}{1, []int{3}, true}
	to := &struct {
		Name  string
		Sizes []int
		Less  bool
	}{"x", nil, true}
	config.CopyFields(to, from)
	if to.Name != "x" || len(to.Sizes) != 1 || !to.Less {
		t.Errorf("got %+v", to)
	}
	if !config.HasField(to, "sizes") || config.HasField(to, "more") || config.HasField(3, "sizes") {
		t.Error("HasField is wrong")
	}
}
