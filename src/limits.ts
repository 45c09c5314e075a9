/**
 * Every bound that the product has, one line each, with its unit in the name. A bound is checked when a value is
 * written and again when it is read.
 */

// Bodies and envelopes (spec/wire.md §1, §2)
export const bodyBytesMax = 131_072
export const nestingMax = 64
export const envelopeContentBytesMax = 409_600
export const envelopeOverheadBytesMax = 4_096
export const strangerContentBytesMax = 4_096
export const plaintextBytesMax = 49_152
export const eventBytesMax = 49_152
export const relayFrameBytesMax = 1_048_576
export const relayUrlBytesMax = 2_048
export const invitationRelayBytesMax = 256
export const invitationStringBytesMax = 640
export const conversationKeysMax = 256
export const knownSignaturesMax = 4_096
export const liftedKeysMax = 1_024
export const eventTagsMax = 2_048
export const fastEventCharsMax = 131_072

// Lifetimes (spec/wire.md §4, §5, §7)
export const clockSkewSeconds = 60
export const requestSecondsMax = 60
export const invitationSeconds = 300
export const enrollmentSecondsMax = 300
export const grantSecondsMax = 2_592_000
export const nudgeSeconds = 86_400
export const presenceSeconds = 300
export const presenceEverySeconds = 60
export const presenceAheadSecondsMax = 30
export const presenceStaleSeconds = 180
export const summarySecondsMax = 604_800
export const deadRecordSeconds = 60

// Fields of bodies (spec/wire.md §5, §6)
export const workspaceLabelBytesMax = 128
export const workspacesMax = 64
export const titleBytesMax = 200
export const messageBytesMax = 16_384
export const interruptBytesMax = 512
export const threadTextBytesMax = 32_768
export const pageItemsMax = 32
export const cursorBytesMax = 1_024
export const noteBytesMax = 512
export const runTasksPerItemMax = 1_000
export const queueItemsMax = 64
export const capabilitiesMax = 64
export const terminalCellsMax = 1_000
export const summaryBytesMax = 1_024
export const headlineBytesMax = 160
export const enrollmentCodeBytesMax = 32

// The access book (spec/wire.md §7)
export const grantsMax = 128
export const invitationsMax = 64
export const enrollmentsMax = 32
export const enrollmentAttemptsMax = 5
export const enrollmentCopiesMax = 16
export const renewalLifePercent = 25
export const renewedKeptMax = 32
export const renewalAgainSeconds = 300
export const renewalRetrySeconds = 5
export const grantPublishSeconds = 600
export const epochsMax = 1_024
export const repliesPerInvitationMax = 32
export const keptRepliesBytesMax = 67_108_864
export const keptRepliesCompactBytes = 4_194_304
export const keptRepliesWaitingBytesMax = 1_048_576
export const answerBytesMax = 31_744
export const stepTextBytesMax = 4_096
export const nudgeAnswerSeconds = 30
export const recentlyMax = 4_096
export const requestsInFlightMax = 1_024
export const accessBookBytesMax = 16_777_216
export const lastSeenSaveSeconds = 60
export const summaryEveryMs = 1_000
export const summaryFreshSeconds = 900
export const summaryRetryMs = 10_000
export const summariesOnTheWayMax = 4
export const toldBytesMax = 262_144
export const toldSaveMs = 5_000
export const hostNudgeFreshSeconds = 900
export const reAskSeconds = 5
export const strangerKeysMax = 64
export const strangersPerSecondMax = 20
export const strangerRefusalsPerSecondMax = 1
export const createsPerHourMax = 60
export const undecidedCommandsPerDeviceMax = 256
export const undecidedBytesPerDeviceMax = 8_388_608

// Relay connections (spec/wire.md §8)
export const relayLifetimeSeconds = 120
export const reconnectMsMin = 500
export const reconnectMsMax = 60_000
export const relayPingSeconds = 20
export const relayDeadSeconds = 45
export const relayReadySeconds = 10
export const publishWaitSeconds = 10
export const relayAuthTriesMax = 3
export const relayChallengeMs = 300
export const relayAuthMs = 5_000
export const relayLiveSeconds = 20
export const relaySigningSeconds = 60
export const seenEventsMax = 65_536
export const historySeconds = 60

// The embedded relay
export const relayEventSeconds = 691_200
export const relayBytesMax = 67_108_864
export const relaySubscriptionsMax = 16
export const relayFiltersMax = 8
export const filterValuesMax = 1_024
export const subscriptionIdCharsMax = 64
export const relayMessageCharsMax = 1_024
export const relayQueryEventsMax = 5_000
export const relayConnectionsMax = 512
export const relayAuthKeysMax = 8
export const relayAuthSeconds = 600
export const relayBacklogBytes = 1_048_576
export const relayEventsPerSecondMax = 200
export const relayEventsBurst = 1_000
export const relayBufferedBytesMax = 8_388_608

// The command journal (spec/commands.md)
export const journalEntriesMax = 4_096
export const journalBytesMax = 33_554_432
export const commandSeconds = 86_400
export const commandAheadSecondsMax = 300
export const decidedKeptSeconds = 172_800
export const leaseSeconds = 60
export const leaseContendedSeconds = 600
export const heldPerTaskMax = 64
export const revisionRetriesMax = 8
export const commandSweepMs = 5_000
export const journalLeasesBytesMax = 262_144
export const undecidedInterruptsSpare = 16
export const ownerSharePercent = 10
export const lazyDoneMs = 1_000

// The device client
export const deviceKeyBytesMax = 65
export const deviceAccessBytesMax = 131_072
export const outboxBytesMax = 33_554_432
export const outboxUndecidedMax = 256
export const outboxDecidedMax = 256
export const deviceReadsMax = 256
export const deviceWaitMs = 15_000
export const deviceRetryMs = 500
export const lookFreshMs = 2_000
export const clockErrorSeconds = 5
export const deviceConversationKeysMax = 8
export const replyHistorySeconds = 200
export const unclaimedRepliesMax = 64
export const presencesAsked = 4

// The owner's key in a remote signer (NIP-46)
export const bunkerUrlBytesMax = 8_192
export const bunkerRelaysMax = 4
export const bunkerSecretCharsMax = 1_024
export const signerIdCharsMax = 128
export const signerRequestBytesMax = 65_535
export const signerAnswerBytesMax = 262_144
export const signerContentBytesMax = 409_600
export const signerWordsCharsMax = 200
export const signerPageCharsMax = 2_048
export const signerPagesMax = 4
export const signerStoredMax = 16
export const signerWaitMs = 60_000
export const signerPersonMs = 300_000
export const signerSessionBytesMax = 4_096
export const ownerSignSecondsMax = 40
export const ownerSignTriesMax = 3
export const ownerCandidatesMax = 64
export const enrollmentContentBytesMax = 8_192

// The task store (spec/store.md)
export const identifierBytesMax = 128
export const taskCommandBytesMax = 65_536
export const intentTitleBytesMax = 256
export const promptBytesMax = 32_768
export const reasonBytesMax = 2_048
export const workspacePathBytesMax = 4_096
export const taskFileBytesMax = 16_777_216
export const taskFileSoftBytesMax = 12_582_912
export const tasksMax = 1_024
export const identitiesMax = 2_048
export const identitiesBytesMax = 4_194_304
export const hostEventsMax = 8_192
export const turnsMax = 64
export const markerBytesMax = 65_536
export const archiveBytesMax = 1_048_576
export const archiveEntriesMax = 1_024
export const archiveReasonBytesMax = 512
export const storeWaitMs = 5_000
export const ownerWaitMs = 120_000
export const lockPollMs = 2
export const creatorWaitMs = 5_000
export const reopenTriesMax = 200
export const creatorPollMs = 10
export const verifiedBytesMax = 67_108_864
export const listReadsAtOnce = 16

// Execution grants and runs (spec/execution.md)
export const grantBytesMax = 65_536
export const grantArgumentsMax = 128
export const wallSecondsMax = 3_600
export const streamBytesMin = 1_024
export const streamBytesMax = 1_048_576
export const memoryBytesMin = 67_108_864
export const memoryBytesMax = 8_589_934_592
export const runningMax = 8
export const stdoutKeptBytesMax = 2_097_152
export const ownerPollMs = 25
export const termGraceMs = 250
export const pipeGraceMs = 250
export const groupClearMs = 250
export const groupClearPollMs = 5
export const groupGiveUpMs = 10_000
export const helperBytesMax = 65_536
export const helperMs = 10_000
export const processesMax = 512
export const fileSizeBytesMax = 8_589_934_592
export const tmpfsBytesMax = 536_870_912
export const gitMountsMax = 1_024
export const memoryWatchMs = 100
export const diskFreeBytesMin = 1_073_741_824
export const diskRetryMs = 2_000
export const diskRetryForMs = 600_000
export const snapshotEntriesMax = 200_000
export const snapshotBytesMax = 17_179_869_184
export const snapshotFaultsMax = 64
export const linkTargetBytesMax = 65_536
export const autostartSweepMs = 10_000
export const settleAgainMs = 50
export const settleTriesMax = 40
export const autostartJournalBytesMax = 16_777_216
export const autostartJournalSoftBytes = 4_194_304
export const autostartEntriesKept = 4_096
export const diskWatchMs = 1_000
export const launchesMax = 2
export const ownerAdmissionMs = 600_000
export const ownerActiveMs = 120_000

// Evidence (spec/evidence.md)
export const traceBytesMax = 67_108_864
export const viewStepsMax = 200
export const viewCursorBytesMax = 4_096
export const changesMax = 4_096
export const artifactBytesMax = 1_048_576
export const artifactsTotalBytesMax = 8_388_608
export const manifestBytesMax = 16_777_216

// Local doors (spec/cli.md)
export const controlLineBytesMax = 1_048_576
export const settingsBytesMax = 1_048_576
export const relaysMax = 8
export const keyFileBytesMax = 128
export const commandsPageBytesMax = 524_288
export const controlPathBytesMax = 103
export const controlConnectionsMax = 32
export const controlWaitMs = 120_000
/** For a client to say its line, and to take the answer. */
export const controlIdleMs = 5_000
export const controlTriesMax = 100
export const controlRetryMs = 100
export const serveWaitMs = 1_000
export const stopWaitMs = 10_000
export const deliveryWaitMs = 2_000
export const inputBytesMax = 65_536
