/**
 * What a server sends along with a push to those who watch, for instance how reliably it is to be
 * delivered. Only the server that made it can read it; it is never stored.
 */
export interface PublishContext {
  /**
   * The sender says that it sends this again, so nobody knows who was told the first time: those
   * who watch are told once more, even if it is stored already.
   */
  readonly isRepetition?: boolean;
}
