module github.com/libpprf/libpprf/bindings/go

go 1.24
