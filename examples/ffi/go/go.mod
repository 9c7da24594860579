module example.org/jitdump

go 1.18
