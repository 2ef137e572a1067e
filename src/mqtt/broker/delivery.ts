import type { Payer } from '../../domain/budgets/budget.ts';
import type { Message } from '../../domain/messaging/message.ts';
import type { QueueEntry } from '../../domain/messaging/session-store.ts';
import type { Instant } from '../../lib/clock.ts';
import { mqttLimits } from '../limits.ts';
import { encodePublish, type PublishFrame } from '../packets/packet-encoder.ts';
import type { Journal } from './journal.ts';
import { type DeliveryTerms, type Link, Parcel } from './session.ts';

/** A message for many sessions: encoded once for all connections on which it is the same. */
export class Delivery {
  readonly message: Message;
  readonly now: Instant;
  #frames: (PublishFrame | undefined)[] | undefined;
  #parcel: Parcel | undefined;
  #detached: Delivery | undefined;
  #entries: QueueEntry[] | undefined;
  #step = -1;

  constructor(message: Message, now: Instant) {
    this.message = message;
    this.now = now;
  }

  get isExpired(): boolean {
    return this.message.expiresAt !== undefined && this.message.expiresAt <= this.now;
  }

  /** The packet for this connection. */
  frameFor(link: Link, terms: DeliveryTerms): PublishFrame {
    const { qos, retain, identifiers } = terms;
    if (identifiers.length > 0 || link.aliases !== undefined) {
      return encodeFor(link, this.message, terms, this.now);
    }
    const slot = (link.version === 5 ? 8 : 0) + qos * 2 + (retain ? 1 : 0);
    this.#frames ??= [];
    const known = this.#frames[slot];
    if (known !== undefined) return known;
    const frame = encodeFor(link, this.message, terms, this.now);
    this.#frames[slot] = frame;
    return frame;
  }

  /** The message in memory of its own, not a slice of what the socket brought. */
  keep(): Parcel {
    this.#parcel ??= new Parcel(ownMessage(this.message));
    return this.#parcel;
  }

  /** The same without a reference to the socket's bytes, for a delivery that waits. */
  detached(): Delivery {
    const { message } = this.keep();
    if (message === this.message) return this;
    this.#detached ??= new Delivery(message, this.now);
    this.#detached.#parcel = this.#parcel;
    return this.#detached;
  }

  /** Makes the entry durable, together with those of other sessions. */
  record(entry: QueueEntry, payer: Payer, journal: Journal): void {
    const open = this.#step === journal.step ? this.#entries : undefined;
    if (open !== undefined && open.length < mqttLimits.storeRowsPerStep) {
      open.push(entry);
      journal.addRow(payer);
      return;
    }
    this.#entries = [entry];
    this.#step = journal.step;
    journal.add({ kind: 'queued', message: this.keep().message, entries: this.#entries }, payer);
  }
}

/** Encodes a message for one connection, with the number it knows the topic by. */
export function encodeFor(
  link: Link,
  message: Message,
  { qos, retain, identifiers }: DeliveryTerms,
  now: Instant,
): PublishFrame {
  const { expiresAt } = message;
  const expirySeconds =
    expiresAt === undefined ? undefined : Math.max(1, Math.ceil((expiresAt - now) / 1_000));
  const { alias, isTopicKnown } = aliasFor(link, message);
  const { version } = link;
  return encodePublish(message, {
    ...{ version, qos, retain, identifiers },
    ...{ expirySeconds, alias, isTopicKnown },
  });
}

/** The first topics of a connection get a number; the others keep their name. */
function aliasFor(link: Link, message: Message): { alias: number; isTopicKnown: boolean } {
  const { aliases, packetBytesMax } = link;
  // A packet that may prove too large to be sent must not introduce the number.
  if (aliases === undefined || largestSize(message) > packetBytesMax) return noAlias;
  const known = aliases.byTopic.get(message.topic);
  if (known !== undefined) return { alias: known, isTopicKnown: true };
  if (aliases.byTopic.size >= aliases.entriesMax) return noAlias;
  const alias = aliases.byTopic.size + 1;
  aliases.byTopic.set(message.topic, alias);
  return { alias, isTopicKnown: false };
}

const headBytesMax = 1_024;

function largestSize({ topic, payload, properties }: Message): number {
  return headBytesMax + 3 * topic.length + payload.length + (properties?.length ?? 0);
}

const noAlias = { alias: 0, isTopicKnown: false };

/** Sockets bring much more at once than one message: a slice would keep all of it alive. */
export function ownMessage(message: Message): Message {
  const { payload, properties } = message;
  return {
    ...message,
    payload: Buffer.from(payload),
    ...(properties !== undefined && { properties: Buffer.from(properties) }),
  };
}
