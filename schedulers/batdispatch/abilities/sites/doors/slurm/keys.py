"""The keys that slurm.conf knows, of versions 20.11 to 25.05, by the key that begins the line.

References:
    Slurm documentation, slurm.conf(5), https://slurm.schedmd.com/slurm.conf.html, and its versions in the archive.
"""

_GENERAL = """
AccountingStorageBackupHost AccountingStorageEnforce AccountingStorageExternalHost AccountingStorageHost
AccountingStorageLoc AccountingStorageParameters AccountingStoragePass AccountingStoragePort AccountingStorageTRES
AccountingStorageType AccountingStorageUser AccountingStoreFlags AccountingStoreJobComment AcctGatherEnergyType
AcctGatherFilesystemType AcctGatherInfinibandType AcctGatherInterconnectType AcctGatherNodeFreq AcctGatherProfileType
AllowSpecResourcesUsage AuthAltParameters AuthAltTypes AuthInfo AuthType BackupAddr BackupController BatchStartTimeout
BcastExclude BcastParameters BurstBufferParameters BurstBufferType CertmgrParameters CertmgrType CliFilterParameters
CliFilterPlugins ClusterName CommunicationParameters CompleteWait ControlAddr ControlMachine CoreSpecPlugin CpuFreqDef
CpuFreqGovernors CredType CryptoType DataParserParameters DebugFlags DefCPUPerGPU DefMemPerCPU DefMemPerGPU
DefMemPerNode DependencyParameters DisableRootJobs EioTimeout EnforcePartLimits Epilog EpilogMsgTime EpilogSlurmctld
EpilogTimeout ExtSensorsFreq ExtSensorsType FairShareDampeningFactor FastSchedule FederationParameters FirstJobId
GetEnvTimeout GpuFreqDef GresTypes GroupUpdateForce GroupUpdateTime HashPlugin HealthCheckInterval HealthCheckNodeState
HealthCheckProgram InactiveLimit InteractiveStepOptions JobAcctGatherFrequency JobAcctGatherParams JobAcctGatherType
JobCompHost JobCompLoc JobCompParams JobCompPass JobCompPassScript JobCompPort JobCompType JobCompUser JobContainerType
JobCredentialPrivateKey JobCredentialPublicCertificate JobFileAppend JobRequeue JobSubmitPlugins KeepAliveTime
KillOnBadExit KillWait LaunchParameters LaunchType Licenses LogTimeFormat MCSParameters MCSPlugin MailDomain MailProg
MaxArraySize MaxBatchRequeue MaxDBDMsgs MaxJobCount MaxJobId MaxMemPerCPU MaxMemPerNode MaxNodeCount MaxStepCount
MaxTasksPerNode MessageTimeout MinJobAge MpiDefault MpiParams NodeFeaturesPlugins OverTimeLimit PlugStackConfig
PluginDir PowerParameters PowerPlugin PrEpParameters PrEpPlugins PreemptExemptTime PreemptMode PreemptParameters
PreemptType PriorityCalcPeriod PriorityDecayHalfLife PriorityFavorSmall PriorityFlags PriorityMaxAge PriorityParameters
PrioritySiteFactorParameters PrioritySiteFactorPlugin PriorityType PriorityUsageResetPeriod PriorityWeightAge
PriorityWeightAssoc PriorityWeightFairshare PriorityWeightJobSize PriorityWeightPartition PriorityWeightQOS
PriorityWeightTRES PrivateData ProctrackType Prolog PrologEpilogTimeout PrologFlags PrologSlurmctld PrologTimeout
PropagatePrioProcess PropagateResourceLimits PropagateResourceLimitsExcept RebootProgram ReconfigFlags RequeueExit
RequeueExitHold ResumeFailProgram ResumeProgram ResumeRate ResumeTimeout ResvEpilog ResvOverRun ResvProlog
ReturnToService RoutePlugin SallocDefaultCommand SbcastParameters SchedulerAuth SchedulerParameters SchedulerTimeSlice
SchedulerType ScronParameters SelectType SelectTypeParameters SlurmSchedLogFile SlurmSchedLogLevel SlurmUser
SlurmctldAddr SlurmctldDebug SlurmctldLogFile SlurmctldParameters SlurmctldPidFile SlurmctldPlugstack SlurmctldPort
SlurmctldPrimaryOffProg SlurmctldPrimaryOnProg SlurmctldSyslogDebug SlurmctldTimeout SlurmdDebug SlurmdLogFile
SlurmdParameters SlurmdPidFile SlurmdPort SlurmdSpoolDir SlurmdSyslogDebug SlurmdTimeout SlurmdUser SrunEpilog
SrunPortRange SrunProlog StateSaveLocation SuspendExcNodes SuspendExcParts SuspendExcStates SuspendProgram SuspendRate
SuspendTime SuspendTimeout SwitchParameters SwitchType TCPTimeout TLSParameters TLSType TaskEpilog TaskPlugin
TaskPluginParam TaskProlog TmpFS TopologyParam TopologyPlugin TrackWCKey TreeWidth UnkillableStepProgram
UnkillableStepTimeout UrlParserType UsePAM VSizeFactor WaitTime X11Parameters
"""
_NODE = """
BcastAddr Boards CPUSpecList CPUs CoreSpecCount CoresPerSocket CpuBind Feature Features Gres MemSpecLimit NodeAddr
NodeHostname Parameters Port Procs RealMemory Reason RestrictedCoresPerGPU Sockets SocketsPerBoard State TRESWeights
ThreadsPerCore TmpDisk Topology Weight
"""
_PARTITION = """
AllocNodes AllowAccounts AllowGroups AllowQos Alternate CpuBind DefCPUPerGPU DefMemPerCPU DefMemPerGPU DefMemPerNode
Default DefaultTime DenyAccounts DenyQos DisableRootJobs ExclusiveTopo ExclusiveUser GraceTime Hidden LLN
MaxCPUsPerNode MaxCPUsPerSocket MaxMemPerCPU MaxMemPerNode MaxNodes MaxTime MinNodes Nodes OverSubscribe OverTimeLimit
PowerDownOnIdle PreemptMode Priority PriorityJobFactor PriorityTier QOS ReqResv ResumeTimeout RootOnly
SelectTypeParameters Shared State SuspendTime SuspendTimeout TRESBillingWeights Topology
"""


def _by_small_letters(names: str) -> dict[str, str]:
    return {name.lower(): name for name in names.split()}


#: Keys of a line that says something of the whole cluster, in small letters -> as Slurm writes them.
GENERAL = _by_small_letters(_GENERAL)
#: First key of a line with keys of its own -> those keys, likewise.
ENTRIES = {
    "nodename": _by_small_letters(_NODE),
    "partitionname": _by_small_letters(_PARTITION),
    "nodeset": _by_small_letters("Feature Nodes"),
    "downnodes": _by_small_letters("Reason State"),
    "slurmctldhost": {},
    "frontendname": _by_small_letters("AllowGroups AllowUsers DenyGroups DenyUsers FrontendAddr Port Reason State"),
}
