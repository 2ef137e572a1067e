/** The limits of processes that serve one database, each with its unit and its reason. */
export const memberLimits = {
  /** How often a process publishes that it lives. */
  beatMs: 1_000,
  /** For how long a process that has joined may load before it serves; then it falls silent. */
  startMs: 300_000,
  /** Own beats during which another member did not move; then it is given up. */
  silentBeats: 5,
  /** How often the log is read although no news of an entry came. */
  logLookMs: 250,
  /** A process that received nothing of the others for so long trusts nothing remembered. */
  trustMs: 1_000,
  /** For how long it then trusts what it has read: less than the barrier. */
  rememberedMs: 750,
  /** Longest wait of a value for older ones of others; longer where nothing else is stored. */
  heldBackMs: 15_000,
  /** How long the answer to a change waits for the others to have received it. */
  barrierMs: 1_000,
  /** Entries of others acted on while earlier ones are stored: fewer than a session may queue. */
  readAheadMax: 400,
  /** How often the log is tidied up. */
  logTidyMs: 10_000,
  /** A longer entry says no more than that everything may have changed. */
  entryCharactersMax: 256 * 1_024,
  /** Of a longer push, those before the last ones reach other processes in parts. */
  datapointsPerEntryMax: 1_000,
  /** A part of a long push ends behind so many characters of values that are no numbers. */
  charactersPerPart: 128 * 1_024,
  /** Messages to other processes that wait, each with 1 KiB beside; one payer has a quarter … */
  toldBytesMax: 64 * 1_024 * 1_024,
  /** … and in one commit, which others wait for. */
  toldBytesPerCommit: 4 * 1_024 * 1_024,
  toldPerCommit: 256,
  /** Settings of actuators that wait to be written for the others. */
  settingsWaitingMax: 10_000,
} as const;
