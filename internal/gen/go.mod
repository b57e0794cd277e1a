module github.com/cairnml/cairn/internal/gen

go 1.26.0

require (
	github.com/bufbuild/protocompile v0.14.1
	google.golang.org/protobuf v1.34.2
)

require golang.org/x/sync v0.8.0 // indirect
