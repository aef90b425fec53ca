module pprf

go 1.24
