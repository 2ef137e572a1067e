/** A message for one member of a group, as all processes that serve name it. */
export interface Share {
  /** Of whom the group is, its name and its filter. */
  readonly group: string;
  readonly message: string;
}

/** A process asks to be the one that hands a message to a member of a group. */
export interface ShareClaim extends Share {
  /** Names this claim among those of the process: made again after an outage it is the same one. */
  readonly token: number;
  /** Whether its member is connected: those that are not wait behind all that are. */
  readonly isHere: boolean;
  /** Whether no member is to get the message again if the process ends. */
  readonly isSettled: boolean;
  /** Only what a process had claimed that ended, or that it gave back. */
  readonly isAgain: boolean;
}

/**
 * won: this process hands it on; won_again: likewise, and a member may have had it from another one
 * that had claimed it; taken: another one does; left: one may whose member is there.
 */
export type ShareOutcome = 'won' | 'won_again' | 'taken' | 'left';

/** Changes to claims of group messages in one commit. */
export interface ShareStep {
  /** Claims of group messages, each message once. */
  readonly claims: readonly ShareClaim[];
  /** A member has it for good. */
  readonly settled: readonly Share[];
  /** No member here can have it. */
  readonly givenBack: readonly Share[];
  /** Groups of which a member is connected to this process, or is not any more. */
  readonly here: ReadonlyMap<string, boolean>;
  /** Messages to other processes. */
  readonly notes: readonly string[];
}
