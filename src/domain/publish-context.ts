/** The packet id of a QoS 2 message that a session published, or the term of its last will. */
export interface ReceivedId {
  /** The key of the session. */
  readonly session: string;
  /** 0: a last will. */
  readonly packetId: number;
  readonly willTurn?: number;
  /** Whether it is retained, which is a commit of its own. */
  readonly retain: boolean;
}

/**
 * Details that a server sends along with a push to listeners, for instance how reliably it is
 * to be delivered. Only the server that made them can read them; they are never stored.
 */
export interface PublishContext {
  /**
   * The sender says that it sends this again, so it is unknown who received it the first time:
   * listeners receive it once more, even if it is stored already.
   */
  readonly isRepetition?: boolean;
  /** The push comes from a file or another service: no rule is evaluated for it. */
  readonly isImport?: boolean;
  /** The id that the commit keeps: a push whose id is kept already is stored already. */
  readonly receivedAs?: ReceivedId | undefined;
}
