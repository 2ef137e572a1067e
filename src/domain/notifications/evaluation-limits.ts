/** The limits of evaluations queued over several processes, each with its unit and its reason. */
export const evaluationLimits = {
  /** Datapoints by rules of a push that is judged in its commit; more of them are evaluated. */
  calmEvaluationsMax: 64,
  /** Rules of whose states the pushes of a commit ask at once; beyond, pushes are evaluated. */
  rememberedPerCommitMax: 2_000,
  /** Evaluations that wait on a device and are judged with a push; behind more it is evaluated. */
  waitingJudgedMax: 20,
  /** Evaluations that wait on one device and are read at once; more wait behind them. */
  looksInLineMax: 500,
  /** Of other processes' evaluations that are run with own ones: their texts are read at once. */
  charactersOfOthersMax: 65_536,
  /** Evaluations whose process ended, read at once. */
  looksPerSweep: 1_000,
  /** Devices that are evaluated at the same time: what they read and end is batched. */
  looksAtOnceMax: 256,
  /** Evaluations that wait for one of these: pushes are refused by their bytes long before. */
  looksWaitingMax: 1_000_000,
  /** How soon it is asked again whether the evaluation before is over. */
  pauseMsMin: 4,
  pauseMsMax: 32,
  /** How long the evaluation before may take at another living process, until this one takes it. */
  patienceMs: 600,
  /** So many times longer is waited after one was taken that was still being made. */
  patienceFactor: 4,
  /** How soon evaluations that the database refused are run again. */
  againMs: 500,
  /** A commit with evaluations is answered so soon, or has failed. */
  lateMs: 5_000,
  /**
   * How long evaluations end later for firings of others than their device's owner, of whom no
   * device's queue may wait for long.
   */
  ofOthersMs: 500,
  /** How often last values are read for an evaluation, while others push to the device. */
  valuesTriesMax: 20,
  /** Datapoints that are gone through for the newest of a sensor before a push. */
  newestSearchedMax: 20_000,
  newestSearchCharactersMax: 524_288,
  /** The same for the last one that is a number. */
  lastNumberSearchedMax: 20,
  /** Receipts of one sensor that a preview remembers to find what came late. */
  lateCountMax: 10_000,
  /** Devices that rules name and whose owner and visibility are remembered, for lists of rules. */
  namedHeadsMax: 50_000,
  /** Of `max_age`: longer ago means no end. */
  maxAgeSecondsMax: 366 * 86_400,
} as const;
