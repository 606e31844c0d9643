module berth.example/go_client

go 1.19
