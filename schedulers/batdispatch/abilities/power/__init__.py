"""Power: hosts that sleep, a cap in watts, hours in which energy is cheap or clean.

The layer `powered` (`power_saving`) stands around any dispatcher; `concerns` is what the ledger asks. Rules of `sleep`
and `start` are parts that packages announce. What hosts burn is counted by the engine.
"""

from batdispatch.core.abilities import Ability, Kind

ABILITY = Ability(
    name="power",
    kinds=(
        Kind("sleeps", "batdispatch.abilities.power.sleep:SleepRule", "sleep", after="policies"),
        Kind("starts", "batdispatch.abilities.power.start:StartRule", "start", after="sleeps"),
    ),
)
