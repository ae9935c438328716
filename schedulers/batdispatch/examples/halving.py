"""A malleable dispatcher: when a job waits, the largest running job goes on with half of its hosts."""

from msgspec.structs import replace

from batdispatch import Allocation, Dispatcher, Job, Ledger, events


class Halving(Dispatcher):
    """First come, first served. If the first job does not fit, a job that has all its hosts gives half of them up."""

    registers_jobs = True

    def decide(self, ledger: Ledger) -> None:
        for job in sorted(ledger.queue.values(), key=lambda job: not job.parent):  # What goes on goes first.
            where = ledger.held_for(job) or ledger.place(job)
            if where is None:
                break
            ledger.start(job, where)
        whole = [stay for stay in ledger.running.values() if stay.allocation.size > 1 and not stay.job.parent]
        if ledger.queue and whole and not ledger.holds:
            stay = max(whole, key=lambda stay: stay.allocation.size)
            kept = stay.allocation.per_host()[: stay.allocation.size // 2]
            ledger.hold(stay.job, Allocation.of(*zip(*kept, strict=True)))
            ledger.kill([stay.job])

    def on_killed(self, ledger: Ledger, event: events.JobsKilled) -> None:
        for job_id in ledger.holds.keys() & set(event.job_ids):  # A job that ended by itself holds nothing any more.
            hold, (workload, _, short) = ledger.holds[job_id], job_id.partition("!")
            work = ledger.profiles[workload][hold.job.profile]["delay"] * (1 - event.progress[job_id]["progress"])
            rest = {"type": "delay", "delay": max(work * hold.job.units / hold.own.units, 1e-3)}
            name, profile = f"{job_id}-rest", f"rest of {short}"
            ledger.register_profile(workload, profile, rest)
            request = replace(hold.job.request, units=hold.own.units)
            ledger.register_job(Job(id=name, request=request, submission=ledger.now, profile=profile, parent=job_id))
