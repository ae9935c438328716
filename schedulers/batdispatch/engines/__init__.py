"""What simulates when Batsim is not at hand; also served over ZeroMQ in Batsim's place."""
