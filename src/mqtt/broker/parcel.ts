import type { Payer } from '../../domain/budgets/payer.ts';
import type { Message } from '../../domain/messaging/message.ts';

/** A message without its texts and bytes, with the objects that hold it. */
const messageBytes = 256;

/** A message that waits for sessions: it is in memory once, and one payer at a time bears it. */
export class Parcel {
  readonly message: Message;
  readonly bytes: number;
  /** How many entries of each payer wait for it. */
  readonly holders = new Map<Payer, number>();
  bearer: Payer | undefined;

  constructor(message: Message) {
    const { topic, payload, properties } = message;
    this.message = message;
    this.bytes = messageBytes + 2 * topic.length + payload.length + (properties?.length ?? 0);
  }
}
