/** The limits of looks in turn over several processes, each with its unit and its reason. */
export const lookLimits = {
  /** Looks that wait on one device and are read at once; more wait behind them. */
  looksInLineMax: 500,
  /** Looks whose process ended, read at once. */
  looksPerSweep: 1_000,
  /** Devices that are looked at at the same time: each look reads a few times. */
  looksAtOnceMax: 32,
  /** Looks that wait for one of these: pushes are refused by their bytes long before. */
  looksWaitingMax: 1_000_000,
  /** How soon it is asked again whether the look before is over. */
  pauseMsMin: 4,
  pauseMsMax: 64,
  /** A look of our own begins so long after its commit at the latest. */
  lateMs: 2_000,
  /** How often last values are read for a look, while others push to the device. */
  valuesTriesMax: 20,
  /** A value received so much later than what was looked at last was not looked at. */
  reorderMsMax: 10_000,
} as const;
