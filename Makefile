# The targets that people look for; .ci/run has all checks.
.PHONY: build test race lint fmt generate demo bench ci release

build: ## the command, into ./cairn
	CGO_ENABLED=0 go build -trimpath -o cairn ./cmd/cairn

test: ## all tests
	go test ./...

race: ## all tests with the race detector
	.ci/run race

lint: ## gofmt, go vet and staticcheck
	.ci/run format vet lint

fmt: ## formats the code
	gofmt -s -w $$(git ls-files '*.go')

generate: ## generated files
	go generate ./...

demo: ## trains a digit classifier
	go run ./cmd/cairn demo

bench: ## Cairn beside TensorFlow; needs Python
	go run ./bench

ci: ## the checks of every change
	.ci/run

release: ## builds for all machines, into dist/; the newest goreleaser that Go 1.26 builds
	go run github.com/goreleaser/goreleaser/v2@v2.16.0 release --snapshot --clean --skip=docker
