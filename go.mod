module github.com/cairnml/cairn

go 1.25.0
