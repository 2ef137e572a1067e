/** A message between people, as API version 2 answers it. */
export interface Social {
  readonly id: string;
  readonly from: string;
  /** Of who receives it. */
  readonly username: string;
  /** none: it is kept only. */
  readonly channel: string;
  readonly message: string;
  readonly status: 'pending' | 'sent' | 'failed';
  readonly reason?: string;
  readonly created: string;
}
