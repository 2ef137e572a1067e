/** The limits of looks in turn over several processes, each with its unit and its reason. */
export const evaluationLimits = {
  /** Looks that wait on one device and are read at once; more wait behind them. */
  looksInLineMax: 500,
  /** Of looks of others that are made with one's own: their texts are read at once. */
  charactersOfOthersMax: 65_536,
  /** Looks whose process ended, read at once. */
  looksPerSweep: 1_000,
  /** Devices that are looked at at the same time: what they read and end is joined. */
  looksAtOnceMax: 256,
  /** Looks that wait for one of these: pushes are refused by their bytes long before. */
  looksWaitingMax: 1_000_000,
  /** How soon it is asked again whether the look before is over. */
  pauseMsMin: 4,
  pauseMsMax: 32,
  /** How long the look before may take at another process that lives, until this one takes it. */
  patienceMs: 600,
  /** So many times longer is waited after one was taken that was still being made. */
  patienceFactor: 4,
  /** How soon a look is made again that the database refused, and how often until it is swept. */
  againMsMin: 50,
  againMsMax: 1_000,
  againTriesMax: 100,
  /** A look of our own begins so long after its commit at the latest. */
  lateMs: 1_000,
  /** How often last values are read for a look, while others push to the device. */
  valuesTriesMax: 20,
  /** A value received so much later than what was looked at last was not looked at. */
  reorderMsMax: 10_000,
  /** Datapoints that are gone through for the newest of a sensor before a push. */
  newestSearchedMax: 20_000,
  newestSearchCharactersMax: 524_288,
  /** The same for the last one that is a number. */
  lastNumberSearchedMax: 20,
  /** Receipts of one sensor that a preview remembers to tell what came late. */
  lateCountMax: 10_000,
  /** Of `max_age`: longer ago means no end. */
  maxAgeSecondsMax: 366 * 86_400,
} as const;
