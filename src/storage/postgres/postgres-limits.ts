const kibibyte = 1_024;
const mebibyte = 1_024 * kibibyte;

/** The limits inside the postgres engine, each with its unit and its reason. */
export const postgresLimits = {
  /** Connections for all reads; one more writes. */
  readConnectionsMax: 6,
  /** Of them, those that read for guests: other reads do not wait behind them. */
  guestReadConnectionsMax: 3,
  /** When a server without capacity for one more is asked again. */
  moreConnectionsMs: 5_000,
  /** Reads that wait for a connection, of guests, of accounts, of the service: more are refused. */
  readsWaitingMax: 2_000,
  /** How long opening a connection may take. */
  connectMs: 5_000,
  /** How long a connection that has found a primary looks for one that was promoted later. */
  otherPrimaryMs: 500,
  /** How long one statement may take: what hangs longer is a network that swallows packets. */
  statementMs: 30_000,
  /** Calls that wait for the writing connection; beyond it they are refused. */
  callsWaitingMax: 20_000,
  /** Calls in one commit: an upper end to how long the first of them waits. */
  callsPerCommitMax: 256,
  /** The part of a commit's time that the next one waits for callers of it to come again. */
  gatherPart: 0.25,
  /** How long a change waits for a database that is away, before it is refused. */
  awayMs: 10_000,
  /** Of the log of members, of each writer. */
  logEntriesPerRead: 200,
  /** … and until they have so many: a statement of members is not to take too long. */
  logBytesPerRead: 4 * mebibyte,
  /** Sessions of processes that ended that one commit takes over, with what waits in them. */
  sessionsPerAdoption: 200,
  /** How long a heartbeat may take, by statement. */
  beatStatementMs: 3_000,
  /** How often a command checks whether services have acted on its change. */
  commandLookMs: 25,
  /** A process that stands still in the middle of a commit keeps the others waiting for so long. */
  idleCommitMs: 3_000,
  /** Pause between two attempts to reach the database again. */
  retryMs: 100,
  retryMsMax: 1_000,
  /** How long a start waits for a process that just ended to let go of the database. */
  lockWaitMs: 3_000,
  /** A peer that says nothing for so long is gone: the lock of a dead process is free then. */
  keepAliveSeconds: 5,
  /** A list reads this many devices at once. */
  listDevicesPerRead: 100,
  /** So many devices, sensors and actuators are read, then others run. */
  listPartsPerSlice: 500,
  /** … or so many characters of their descriptions. */
  listCharactersPerSlice: 2 * mebibyte,
  /** … or for so long, whatever they hold. */
  listMsPerSlice: 5,
  /** The oldest server that has all we use. */
  serverVersionMin: 150_000,
} as const;
