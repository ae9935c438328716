"""What power has to say in starts and ends: states of hosts, jobs that wait for hosts to wake up, and a shared cap."""
