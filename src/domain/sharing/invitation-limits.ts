const day = 24 * 3_600_000;

/** Every limit of invitations, with its unit in its name and its reason beside it. */
export const invitationLimits = {
  /** Open invitations of one account, and as many that are over. */
  invitationsPerUserMax: 100,
  /** Accounts that one invitation lets in: a large school. */
  invitationUsesMax: 1_000,
  /** How long one lives for which nothing else is said. */
  invitationMsUsual: 7 * day,
  /** Devices of one invitation: their ids are kept, 256 bytes each at most. */
  invitationDevicesMax: 100,
  /** A longer text is no token of ours, and is not searched for. */
  invitationTokenCharactersMax: 64,
} as const;
