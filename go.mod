module github.com/cairnml/cairn

go 1.26.0

require (
	github.com/KimMachineGun/automemlimit v1.0.1
	github.com/andybalholm/brotli v1.2.0
	github.com/cockroachdb/datadriven v1.0.3
	github.com/dchest/siphash v1.2.3
	github.com/dgryski/go-farm v0.0.0-20240924180020-3414d57e47da
	github.com/gofrs/flock v0.13.1
	github.com/google/go-cmp v0.7.0
	github.com/klauspost/compress v1.20.3
	github.com/maruel/natural v1.3.0
	github.com/minio/highwayhash v1.0.3
	github.com/rivo/uniseg v0.4.7
	github.com/spf13/cobra v1.10.2
	github.com/spf13/pflag v1.0.9
	github.com/vbauerster/mpb/v8 v8.9.3
	golang.org/x/image v0.47.0
	golang.org/x/sys v0.49.0
	golang.org/x/term v0.47.0
	golang.org/x/text v0.43.0
	google.golang.org/protobuf v1.36.12
	pgregory.net/rapid v1.3.0
)

require (
	github.com/VividCortex/ewma v1.2.0 // indirect
	github.com/acarl005/stripansi v0.0.0-20180116102854-5a71ef0e047d // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/mattn/go-runewidth v0.0.16 // indirect
	github.com/pbnjay/memory v0.0.0-20210728143218-7b4eea64cf58 // indirect
	github.com/pmezard/go-difflib v1.0.0 // indirect
)
