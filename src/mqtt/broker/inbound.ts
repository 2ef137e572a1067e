import type { Message } from '../../domain/messaging/message.ts';
import type { Clock } from '../../lib/clock.ts';
import { countLevels } from '../../lib/topic-filter.ts';
import {
  acceptedByService,
  type Client,
  type PublishOutcome,
  unavailableOutcome,
} from '../broker-hooks.ts';
import { mqttLimits } from '../limits.ts';
import { type ProtocolVersion, type PublishPacket, packetType } from '../packets/packet.ts';
import { writeAcknowledgement } from '../packets/packet-encoder.ts';
import type { PacketWriter } from '../packets/packet-writer.ts';
import { ProtocolError, protocolError, reason } from '../packets/reason-codes.ts';
import type { BrokerContext } from './broker-context.ts';
import { ByteHold } from './byte-hold.ts';
import { PublishOrder, type UnansweredPublish } from './publish-order.ts';
import { forgetId, keepId, rememberId } from './received-ids.ts';
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

const topicInvalid: PublishOutcome = { kind: 'refused', reason: 'topic_invalid' };
const tooMuchUnderWay: PublishOutcome = {
  kind: 'refused',
  reason: 'quota',
  description: 'wait for the answers to what you have published',
};
/** So much of a connection is on its way without a look at the budget. */
const publishRoom = { freeBytes: 16_384, stepBytes: 16_384 };

/** The publishes of one connection: asks the hooks, hands on, and answers. */
export class Inbound {
  readonly #publisher: Publisher;
  readonly #context: BrokerContext;
  readonly #order: PublishOrder;
  readonly #room: ByteHold;
  #bytesUnderWay = 0;
  #isPaused = false;
  /** The topics of aliases that the client has set. */
  #aliases: Map<number, string> | undefined;
  /** QoS 1 publishes that have no PUBACK, and ids of QoS 2 publishes that have no PUBCOMP. */
  #unacknowledged = 0;
  readonly #unreleased = new Set<number>();

  constructor(publisher: Publisher, context: BrokerContext) {
    this.#publisher = publisher;
    this.#context = context;
    this.#room = new ByteHold(context.publishBytes, publisher.client.payer, publishRoom);
    const waiting = { payer: publisher.client.payer, goOn: () => this.#order.advance() };
    this.#order = new PublishOrder(context.journal, {
      payer: waiting.payer,
      mustWait: () => context.handOnShares.mustWait(waiting),
      finish: (publish, outcome) => this.#finish(publish, outcome),
      answer: (publish) => this.#answer(publish),
      answered: () => this.#resumeIfRoom(),
    });
  }

  /** PUBLISH; `mayBeSo` tells whether a packet of this size may have the topic. */
  publish(packet: PublishPacket, mayBeSo: (topic: string) => boolean): void {
    const { counters, journal, clock } = this.#context;
    counters.messagesReceived += 1;
    const topic = this.#topicOf(packet);
    if (!mayBeSo(topic)) throw new ProtocolError(reason.packetTooLarge, 'the packet is too large');
    const { qos, packetId, payload } = packet;
    if (qos > 0) this.#requireRoom(packet);
    if (qos === 2 && this.#isRepetition(packet)) return;
    const refusal = this.#refusalOf(topic, payload.length);
    if (refusal !== undefined) {
      // Without its payload, for which there may be no room.
      this.#enter(unanswered(packet, undefined, refusal));
      return;
    }
    const { client, session } = this.#publisher;
    const message = messageOf(packet, topic, this.#publisher, clock);
    const outcome = client.publish(message);
    if (qos === 2) rememberId(session, packetId, outcome, journal);
    this.#enter(unanswered(packet, message, undefined), outcome);
  }

  /** PUBREL: the id may be used again. */
  release(packetId: number): void {
    const { session, writer, version } = this.#publisher;
    const answer = () => {
      this.#unreleased.delete(packetId);
      writeAcknowledgement(writer, { type: packetType.pubcomp, packetId, reasonCode: 0, version });
    };
    const forgotten = forgetId(session, packetId, this.#context.journal);
    if (forgotten === undefined) answer();
    // A repetition that comes after a crash must not be taken for a message that is known.
    else void forgotten.then(() => this.#publisher.isOpen && answer());
  }

  #topicOf({ topic, topicAlias }: PublishPacket): string {
    if (topicAlias === 0) return topic;
    if (topicAlias > mqttLimits.topicAliasesMax) {
      throw new ProtocolError(reason.topicAliasInvalid, 'the topic alias is too high');
    }
    this.#aliases ??= new Map();
    if (topic !== '') this.#aliases.set(topicAlias, topic);
    const known = this.#aliases.get(topicAlias);
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

  #isRepetition(packet: PublishPacket): boolean {
    const { received } = this.#publisher.session;
    if (received?.has(packet.packetId) !== true) return false;
    const underWay = received.get(packet.packetId);
    const outcome = underWay === undefined ? acceptedByService : undefined;
    this.#enter({ ...unanswered(packet, undefined, outcome), isRepetition: true }, underWay);
    return true;
  }

  #refusalOf(topic: string, bytes: number): PublishOutcome | undefined {
    if (isTooLong(topic)) return topicInvalid;
    return this.#room.hold(this.#bytesUnderWay + bytes) ? undefined : tooMuchUnderWay;
  }

  /** `outcome` tells how it ends, unless that is known already. */
  #enter(publish: UnansweredPublish, outcome?: Promise<PublishOutcome>): void {
    this.#bytesUnderWay += publish.bytes;
    this.#order.add(publish);
    if (outcome === undefined) this.#order.advance();
    else {
      const settle = (settled: PublishOutcome) => {
        publish.outcome = settled;
        this.#order.advance();
      };
      void outcome.then(settle, () => settle(unavailableOutcome));
    }
    if (this.#isPaused || this.#order.underWay < mqttLimits.publishesUnderWayMax) return;
    this.#isPaused = true;
    this.#publisher.pauseReading();
  }

  #finish(publish: UnansweredPublish, outcome: PublishOutcome): void {
    const { packetId, qos, message, isRepetition } = publish;
    if (isRepetition) {
      // The first one is answered with its own code; both must not differ in whether to retry.
      publish.code = outcome.kind === 'unavailable' ? reason.unavailable : reason.success;
      return;
    }
    const { completion, journal } = this.#context;
    const { session, version } = this.#publisher;
    const code = completion.finish(message, outcome);
    publish.code = code;
    if (qos !== 2) return;
    // The id stays taken until PUBREL, unless the message was refused [MQTT-4.3.3-10].
    const isTaken = code < reason.unspecified || (version !== 5 && !isForRoom(outcome));
    if (isTaken && code !== reason.unavailable) keepId(session, packetId, journal);
    else session.received?.delete(packetId);
  }

  #answer(publish: UnansweredPublish): void {
    this.#bytesUnderWay -= publish.bytes;
    this.#room.hold(this.#bytesUnderWay);
    if (!this.#publisher.isOpen || !acknowledge(this.#publisher, publish)) return;
    if (publish.qos === 1) this.#unacknowledged -= 1;
    else if (publish.code >= reason.unspecified) this.#unreleased.delete(publish.packetId);
  }

  #resumeIfRoom(): void {
    if (!this.#isPaused || this.#order.underWay > mqttLimits.publishesUnderWayMax / 2) return;
    this.#isPaused = false;
    this.#publisher.resumeReading();
  }
}

function messageOf(
  packet: PublishPacket,
  topic: string,
  { client, session }: Publisher,
  clock: Clock,
): Message {
  const { payload, qos, retain, properties, expirySeconds, isDuplicate } = packet;
  const plain = { topic, payload, qos, retain, publisher: session.key, payer: client.payer };
  // As most are: spreading nothing would cost more than all the rest of it.
  if (!isDuplicate && properties === undefined && expirySeconds === undefined) return plain;
  return {
    ...plain,
    ...(isDuplicate && { isRepetition: true }),
    ...(properties !== undefined && { properties }),
    ...(expirySeconds !== undefined && { expiresAt: clock.now() + expirySeconds * 1_000 }),
  };
}

/** PUBACK or PUBREC; false: the connection ends instead. */
function acknowledge(publisher: Publisher, publish: UnansweredPublish): boolean {
  const { writer, version, wantsProblemInformation } = publisher;
  const { qos, packetId, code, outcome } = publish;
  if (code === reason.unavailable) {
    // DISCONNECT has no word for "unavailable"; this one also asks to come back later.
    publisher.end(reason.busy, 'what was published cannot be stored: try again');
    return false;
  }
  if (qos === 0) return true;
  if (version !== 5 && outcome !== undefined && isForRoom(outcome)) {
    // Nothing can tell it why: without an answer it sends again over its next connection.
    publisher.end(reason.quotaExceeded);
    return false;
  }
  const type = qos === 1 ? packetType.puback : packetType.pubrec;
  // With QoS 2 nobody expects to be told that nobody listens, though it is allowed.
  const reasonCode = qos === 2 && code === reason.noMatchingSubscribers ? reason.success : code;
  const reasonString =
    wantsProblemInformation && outcome?.kind === 'refused' ? outcome.description : undefined;
  writeAcknowledgement(writer, { type, packetId, reasonCode, version, reasonString });
  return true;
}

/** Whether there was no room for it, which may be so for a while only [contract 14]. */
const isForRoom = (outcome: PublishOutcome): boolean =>
  outcome.kind === 'refused' && outcome.reason === 'quota';

function unanswered(
  { packetId, qos }: PublishPacket,
  message: Message | undefined,
  outcome: PublishOutcome | undefined,
): UnansweredPublish {
  const bytes = message === undefined ? 0 : message.payload.length;
  return { packetId, qos, bytes, message, isRepetition: false, outcome, code: 0 };
}

function isTooLong(topic: string): boolean {
  return (
    (topic.length * 3 > mqttLimits.topicBytesMax &&
      Buffer.byteLength(topic) > mqttLimits.topicBytesMax) ||
    countLevels(topic) > mqttLimits.topicLevelsMax
  );
}
