/** The limits of processes that serve one database, each with its unit and its reason. */
export const memberLimits = {
  /** How often a process tells the others that it lives. */
  beatMs: 1_000,
  /** Own beats during which another member did not move; then it is given up. */
  silentBeats: 5,
} as const;
