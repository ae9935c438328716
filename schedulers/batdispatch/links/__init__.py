"""Sockets and loops: the decision process, the recorder, the replayer and the bridge to pybatsim."""
