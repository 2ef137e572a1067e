import type { Budget } from '../../domain/budgets/budget.ts';
import type { Message } from '../../domain/messaging/message.ts';
import type { Clock } from '../../lib/clock.ts';
import { countLevels } from '../../lib/topic-filter.ts';
import { acceptedByService, type Client, type PublishOutcome } from '../broker-hooks.ts';
import { mqttLimits } from '../limits.ts';
import { type ProtocolVersion, type PublishPacket, packetType } from '../packets/packet.ts';
import { writeAcknowledgement } from '../packets/packet-encoder.ts';
import type { PacketWriter } from '../packets/packet-writer.ts';
import { ProtocolError, protocolError, reason } from '../packets/reason-codes.ts';
import { ByteHold } from './byte-hold.ts';
import type { Counters } from './counters.ts';
import type { Journal } from './journal.ts';
import type { PublishCompletion } from './publish-completion.ts';
import type { Session } from './session.ts';

/** The connection that publishes. */
export interface Publisher {
  readonly version: ProtocolVersion;
  readonly client: Client;
  readonly session: Session;
  readonly writer: PacketWriter;
  readonly isOpen: boolean;
  readonly wantsProblemInformation: boolean;
  end(code: number, text?: string): void;
  /** Publishes come faster than they are answered: nothing is read until resumeReading(). */
  pauseReading(): void;
  resumeReading(): void;
}

export interface InboundParts {
  readonly completion: PublishCompletion;
  readonly journal: Journal;
  readonly counters: Counters;
  readonly publishBytes: Budget;
  readonly clock: Clock;
}

/** A publish that is not answered yet. */
interface Slot {
  readonly packetId: number;
  readonly qos: number;
  readonly bytes: number;
  /** Undefined: a repetition, which is only answered. */
  readonly message: Message | undefined;
  outcome: PublishOutcome | undefined;
  code: number;
}

const topicInvalid: PublishOutcome = { kind: 'refused', reason: 'topic_invalid' };
const tooMuchUnderWay: PublishOutcome = {
  kind: 'refused',
  reason: 'quota',
  description: 'wait for the answers to what you have published',
};
const slotsTrimmedAt = 32;
/** So much of a connection is on its way without a look at the budget. */
const publishRoom = { freeBytes: 16_384, stepBytes: 16_384 };

/**
 * The way of publishes of one connection: asks the hooks, hands on, and answers, each in the order
 * of arrival [MQTT-4.6.0-5], while many are under way at once.
 */
export class Inbound {
  readonly #publisher: Publisher;
  readonly #parts: InboundParts;
  #slots: Slot[] = [];
  /** Positions in the list: answered, may be answered, handed on. */
  #answered = 0;
  #durable = 0;
  #finished = 0;
  #aliases: Map<number, string> | undefined;
  #isPaused = false;
  readonly #room: ByteHold;
  #bytesUnderWay = 0;
  /** QoS 1 publishes that have no PUBACK, and ids of QoS 2 publishes that have no PUBCOMP. */
  #unacknowledged = 0;
  readonly #unreleased = new Set<number>();

  constructor(publisher: Publisher, parts: InboundParts) {
    this.#publisher = publisher;
    this.#parts = parts;
    this.#room = new ByteHold(parts.publishBytes, publisher.client.payer, publishRoom);
  }

  /** PUBLISH; `mayBeSo` tells whether a packet of this size may have the topic. */
  publish(packet: PublishPacket, mayBeSo: (topic: string) => boolean): void {
    this.#parts.counters.messagesReceived += 1;
    const topic = this.#topicOf(packet);
    if (!mayBeSo(topic)) throw new ProtocolError(reason.packetTooLarge, 'the packet is too large');
    if (packet.qos > 0) this.#requireRoom(packet);
    if (packet.qos === 2 && this.#isRepetition(packet)) return;
    const message = this.#messageOf(packet, topic);
    const slot = { ...newSlot(packet), bytes: packet.payload.length, message };
    const refusal = this.#refusalOf(message);
    const outcome = refusal === undefined ? this.#publisher.client.publish(message) : undefined;
    if (packet.qos === 2) this.#remember(packet.packetId, outcome);
    if (outcome === undefined) this.#enterSettled(slot, refusal ?? acceptedByService);
    else this.#enter(slot, outcome);
  }

  /** PUBREL: the id may be used again [MQTT-4.3.3-11]. */
  release(packetId: number): void {
    const { session, writer, version } = this.#publisher;
    const { journal } = this.#parts;
    const answer = () => {
      this.#unreleased.delete(packetId);
      writeAcknowledgement(writer, { type: packetType.pubcomp, packetId, reasonCode: 0, version });
    };
    if (session.received?.delete(packetId) !== true || !session.isDurable) {
      answer();
      return;
    }
    journal.add({ kind: 'completed', key: session.key, packetId }, session.payer);
    // A repetition that comes after a crash must not be taken for a message that is known.
    void journal.synced()?.then(() => {
      if (this.#publisher.isOpen) answer();
    });
  }

  #topicOf({ topic, topicAlias }: PublishPacket): string {
    if (topicAlias === 0) return topic;
    if (topicAlias > mqttLimits.topicAliasesMax) {
      throw new ProtocolError(reason.topicAliasInvalid, 'the topic alias is too high');
    }
    if (topic !== '') {
      this.#aliases ??= new Map();
      this.#aliases.set(topicAlias, topic);
      return topic;
    }
    const known = this.#aliases?.get(topicAlias);
    if (known === undefined) throw protocolError('the topic alias was not set');
    return known;
  }

  /** [MQTT-3.3.4-9]; older clients were not told the number, but nobody has so many under way. */
  #requireRoom({ qos, packetId }: PublishPacket): void {
    if (qos === 2 && this.#unreleased.has(packetId)) return;
    const { version } = this.#publisher;
    const most = (version === 5 ? 1 : 2) * mqttLimits.publishesUnderWayMax;
    if (this.#unacknowledged + this.#unreleased.size >= most) {
      throw new ProtocolError(reason.receiveMaximumExceeded, 'too many publishes are under way');
    }
    if (qos === 2) this.#unreleased.add(packetId);
    else this.#unacknowledged += 1;
  }

  #refusalOf({ topic, payload }: Message): PublishOutcome | undefined {
    if (isTooLong(topic)) return topicInvalid;
    return this.#room.hold(this.#bytesUnderWay + payload.length) ? undefined : tooMuchUnderWay;
  }

  #isRepetition(packet: PublishPacket): boolean {
    const { received } = this.#publisher.session;
    if (received?.has(packet.packetId) !== true) return false;
    const underWay = received.get(packet.packetId);
    if (underWay === undefined) this.#enterSettled(newSlot(packet), acceptedByService);
    else this.#enter(newSlot(packet), underWay);
    return true;
  }

  #remember(packetId: number, outcome: Promise<PublishOutcome> | undefined): void {
    const { session } = this.#publisher;
    session.received ??= new Map();
    session.received.set(packetId, outcome);
  }

  #messageOf(packet: PublishPacket, topic: string): Message {
    const { payload, qos, retain, properties, expirySeconds, isDuplicate } = packet;
    return {
      topic,
      payload,
      qos,
      retain,
      publisher: this.#publisher.session.key,
      payer: this.#publisher.client.payer,
      ...(isDuplicate && { isRepetition: true }),
      ...(properties !== undefined && { properties }),
      ...(expirySeconds !== undefined && {
        expiresAt: this.#parts.clock.now() + expirySeconds * 1_000,
      }),
    };
  }

  #enter(slot: Slot, outcome: Promise<PublishOutcome>): void {
    this.#slots.push(slot);
    this.#bytesUnderWay += slot.bytes;
    const settle = (settled: PublishOutcome) => {
      slot.outcome = settled;
      this.#advance();
    };
    void outcome.then(settle, () => settle({ kind: 'unavailable' }));
    this.#pauseIfFull();
  }

  #enterSettled(slot: Slot, outcome: PublishOutcome): void {
    this.#slots.push(slot);
    this.#bytesUnderWay += slot.bytes;
    slot.outcome = outcome;
    this.#advance();
  }

  #advance(): void {
    const { journal } = this.#parts;
    while (this.#finished < this.#slots.length) {
      const slot = this.#slots[this.#finished];
      if (slot?.outcome === undefined) break;
      this.#finish(slot, slot.outcome);
      this.#finished += 1;
    }
    const synced = journal.synced();
    if (synced === undefined) this.#durable = this.#finished;
    else if (this.#durable < this.#finished) this.#answerWhen(synced);
    this.#answer();
  }

  /** What was queued for others is durable before the publisher is told. */
  #answerWhen(synced: Promise<void>): void {
    const last = this.#slots[this.#finished - 1];
    void synced.then(() => {
      const position = last === undefined ? -1 : this.#slots.indexOf(last);
      this.#durable = Math.max(this.#durable, position + 1);
      this.#answer();
    });
  }

  #finish(slot: Slot, outcome: PublishOutcome): void {
    const { session } = this.#publisher;
    const { packetId, qos, message } = slot;
    slot.code =
      message === undefined
        ? codeOfRepetition(outcome)
        : this.#parts.completion.finish(message, outcome);
    if (qos !== 2 || message === undefined) return;
    // The id stays taken until PUBREL, unless the message was refused [MQTT-4.3.3-10].
    const isTaken =
      slot.code < reason.unspecified || (this.#publisher.version !== 5 && !isForRoom(outcome));
    if (!isTaken || slot.code === reason.unavailable) session.received?.delete(packetId);
    else if (session.received?.has(packetId) === true) {
      session.received.set(packetId, undefined);
      if (session.isDurable && !session.isEnded) {
        const { key, payer } = session;
        this.#parts.journal.add({ kind: 'received', key, packetId }, payer);
      }
    }
  }

  #answer(): void {
    while (this.#answered < this.#durable) {
      const slot = this.#slots[this.#answered];
      this.#answered += 1;
      if (slot === undefined) continue;
      this.#bytesUnderWay -= slot.bytes;
      this.#room.hold(this.#bytesUnderWay);
      if (this.#publisher.isOpen) this.#acknowledge(slot);
    }
    if (this.#answered === this.#slots.length || this.#answered >= slotsTrimmedAt) {
      this.#slots = this.#answered === this.#slots.length ? [] : this.#slots.slice(this.#answered);
      this.#finished -= this.#answered;
      this.#durable -= this.#answered;
      this.#answered = 0;
    }
    this.#resumeIfRoom();
  }

  #acknowledge({ qos, packetId, code, outcome }: Slot): void {
    const { writer, version, wantsProblemInformation } = this.#publisher;
    if (code === reason.unavailable) {
      // DISCONNECT has no word for "unavailable"; this one also asks to come back later.
      this.#publisher.end(reason.busy, 'what was published cannot be stored: try again');
      return;
    }
    if (qos === 0) return;
    if (version !== 5 && outcome !== undefined && isForRoom(outcome)) {
      // Nothing can tell it why: without an answer it sends again over its next connection.
      this.#publisher.end(reason.quotaExceeded);
      return;
    }
    if (qos === 1) this.#unacknowledged -= 1;
    else if (code >= reason.unspecified) this.#unreleased.delete(packetId);
    const type = qos === 1 ? packetType.puback : packetType.pubrec;
    // With QoS 2 nobody expects to be told that nobody listens, though it is allowed.
    const reasonCode = qos === 2 && code === reason.noMatchingSubscribers ? reason.success : code;
    const reasonString =
      wantsProblemInformation && outcome?.kind === 'refused' ? outcome.description : undefined;
    writeAcknowledgement(writer, { type, packetId, reasonCode, version, reasonString });
  }

  #pauseIfFull(): void {
    const underWay = this.#slots.length - this.#answered;
    if (this.#isPaused || underWay < mqttLimits.publishesUnderWayMax) return;
    this.#isPaused = true;
    this.#publisher.pauseReading();
  }

  #resumeIfRoom(): void {
    const underWay = this.#slots.length - this.#answered;
    if (!this.#isPaused || underWay > mqttLimits.publishesUnderWayMax / 2) return;
    this.#isPaused = false;
    this.#publisher.resumeReading();
  }
}

/** Whether there was no room for it, which may be so for a while only [contract 14]. */
const isForRoom = (outcome: PublishOutcome): boolean =>
  outcome.kind === 'refused' && outcome.reason === 'quota';

function newSlot({ packetId, qos }: PublishPacket): Slot {
  return { packetId, qos, bytes: 0, message: undefined, outcome: undefined, code: 0 };
}

/** The first one is answered with its own code; both must not differ in whether to retry. */
function codeOfRepetition(outcome: PublishOutcome): number {
  return outcome.kind === 'unavailable' ? reason.unavailable : reason.success;
}

function isTooLong(topic: string): boolean {
  return (
    (topic.length * 3 > mqttLimits.topicBytesMax &&
      Buffer.byteLength(topic) > mqttLimits.topicBytesMax) ||
    countLevels(topic) > mqttLimits.topicLevelsMax
  );
}
