"""Planning the waiting jobs together for the least sum of slowdowns: HCP'19, PCP'19, PCP'20, and lists alone."""
