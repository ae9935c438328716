"""What a job is and asks for, before anyone has looked for a place.

Home to the request with its fields, the job and its states, profiles, and the sizes of malleable jobs. May import:
`core.hosts`. Read first: `request` (what can be asked for), then `fields` (how it is read and written).
"""
