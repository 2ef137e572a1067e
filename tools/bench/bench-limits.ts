/** What one run of the benchmark may take up, with units. */
export const benchLimits = {
  connectionsMax: 4_096,
  /** As many as one address of this machine has ports for, and less. */
  idleConnectionsMax: 20_000,
  sliceSecondsMax: 60,
  roundsMax: 100,
  /** Values begin twelve hours ago: every one is of the past, however long the run. */
  pastMs: 12 * 3_600_000,
  /** A slice that is not over this long after its end has lost an answer. */
  answerMs: 30_000,
  startMs: 60_000,
  /** A profile that is not written so long after its end never will be. */
  profileMs: 30_000,
  /** Functions that are told of a profile. */
  profileLines: 20,
  /** Between two tries to reach a server that starts. */
  askAgainMs: 20,
  /** SIGTERM is followed by SIGKILL after this time. */
  stopMs: 20_000,
  /** Kept of what a child process says, for the message when it fails. */
  outputCharactersMax: 4_000,
  /** An answer of which more than this has come and that has not ended is refused. */
  answerBytesMax: 1_048_576,
} as const;
