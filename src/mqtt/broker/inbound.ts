import { limits } from '../../domain/limits.ts';
import { bytesOfMessage, type Message } from '../../domain/messaging/message.ts';
import type { Clock } from '../../lib/clock.ts';
import { acceptedByService, type PublishOutcome, unavailableOutcome } from '../broker.ts';
import { mqttLimits } from '../limits.ts';
import {
  ProtocolError,
  type PublishPacket,
  packetType,
  protocolError,
  reason,
} from '../packets/packet.ts';
import { writeAcknowledgement } from '../packets/packet-encoder.ts';
import { longTopic } from '../packets/topic-names.ts';
import type { BrokerContext } from './broker-context.ts';
import type { Journal } from './journal.ts';
import { ByteHold } from './packet-input.ts';
import { PublishOrder, type UnansweredPublish } from './publish-order.ts';
import { completePublish } from './router.ts';
import type { Link, Session } from './session.ts';

/** The connection that publishes. */
export interface Publisher extends Link {
  readonly session: Session;
  readonly isOpen: boolean;
  readonly wantsProblemInformation: boolean;
  /** Publishes come faster than they are answered: nothing is read until resumeReading(). */
  pauseReading(): void;
  resumeReading(): void;
}

const { topicBytesMax, topicLevelsMax } = mqttLimits;
const topicInvalid: PublishOutcome = {
  kind: 'refused',
  reason: 'topic_invalid',
  description: `a topic has at most ${topicLevelsMax} levels and ${topicBytesMax} bytes`,
};
const tooMuchUnderWay: PublishOutcome = {
  kind: 'refused',
  reason: 'quota',
  description: 'wait for the answers to what you have published',
};
/** Memory of a publish beside its payload until it is answered: objects, promises. */
const publishBytesBeside = 4_096;
/** A publish of so many bytes, in memory already, is taken in although the budget is full. */
const smallBytesMax = 4_096;
/** Bytes under way of a connection that take none of the budget; more takes it in steps. */
const publishRoom = { freeBytes: 16_384, stepBytes: 16_384 };

/** The publishes of one connection: asks the hooks, hands on, and answers. */
export class Inbound {
  readonly #publisher: Publisher;
  readonly #context: BrokerContext;
  readonly #order: PublishOrder;
  readonly #room: ByteHold;
  #bytesUnderWay = 0;
  readonly #pause: Pause;
  /** Whether the budget for publishes under way is full: nothing more is read meanwhile. */
  #isOver = false;
  /** The topics of aliases that the client has set. */
  #aliases: Map<number, string> | undefined;
  /** QoS 1 publishes that have no PUBACK, and ids of QoS 2 publishes that have no PUBCOMP. */
  #unacknowledged = 0;
  readonly #unreleased = new Set<number>();

  constructor(publisher: Publisher, context: BrokerContext) {
    this.#publisher = publisher;
    this.#context = context;
    this.#pause = new Pause(publisher);
    this.#room = new ByteHold(context.publishBytes, publisher.client.payer, publishRoom);
    const waiting = { payer: publisher.client.payer, goOn: () => this.#order.advance() };
    this.#order = new PublishOrder({
      journal: context.journal,
      payer: waiting.payer,
      mustWait: () => context.handOnShares.mustWait(waiting),
      finish: (publish, outcome) => this.#finish(publish, outcome),
      answer: (publish) => this.#answer(publish),
      answered: () => this.#pause.endAt(this.#order.underWay),
    });
  }

  /** PUBLISH; `mayBeSo` answers whether a packet of this size may have the topic. */
  publish(packet: PublishPacket, mayBeSo: (topic: string) => boolean): void {
    const { counters, journal, clock } = this.#context;
    counters.messagesReceived += 1;
    const topic = this.#topicOf(packet);
    if (!mayBeSo(topic)) throw new ProtocolError(reason.packetTooLarge, 'the packet is too large');
    const { qos, packetId, payload, properties } = packet;
    const isReleasing = qos === 2 && this.#unreleased.has(packetId);
    if (qos > 0) this.#requireRoom(packet);
    if (qos === 2 && this.#isRepetition(packet)) return;
    const refusal = this.#refusalOf(topic, payload.length + (properties?.length ?? 0));
    if (refusal !== undefined) {
      // Without its payload, for which the budget may be full.
      this.#enter(unanswered(packet, undefined, refusal));
      return;
    }
    const { client, session } = this.#publisher;
    const message = messageOf(packet, topic, this.#publisher, clock);
    const before = readinessOf(session, isReleasing ? journal : undefined, message);
    const outcome =
      before === undefined ? client.publish(message) : publishAfter(before, client, message);
    if (qos === 2) rememberId(session, packetId, outcome, this.#context);
    this.#enter(unanswered(packet, message, undefined), outcome);
  }

  /** PUBREL: the id may be used again. */
  release(packetId: number): void {
    const { session, writer, version } = this.#publisher;
    const reasonCode = session.received?.has(packetId) ? 0 : reason.packetIdNotFound;
    const answer = () => {
      this.#unreleased.delete(packetId);
      writeAcknowledgement(writer, { type: packetType.pubcomp, packetId, reasonCode, version });
    };
    const forgotten = forgetId(session, packetId, this.#context);
    if (forgotten === undefined) answer();
    // A repetition that comes after a crash must not be taken for a message that is known.
    else void forgotten.then(() => this.#publisher.isOpen && answer());
  }

  #topicOf(packet: PublishPacket): string {
    if (packet.topicAlias === 0) return packet.topic;
    this.#aliases ??= new Map();
    return topicByAlias(this.#aliases, packet);
  }

  /** [MQTT-3.3.4-9]; older clients do not receive the number, but none has so many under way. */
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
    if (topic === longTopic) return topicInvalid;
    const fits = this.#room.grow(this.#bytesUnderWay + publishBytesBeside + bytes);
    this.#isOver = !fits && bytes <= smallBytesMax;
    return fits || this.#isOver ? undefined : tooMuchUnderWay;
  }

  /** `outcome`: how the publish ends, unless that is known already. */
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
    const { underWay } = this.#order;
    if (isReadInSlices(publish.message)) this.#pause.beginAt(underWay, 0);
    if (this.#isOver || underWay >= mqttLimits.publishesUnderWayMax) this.#pause.beginAt(underWay);
  }

  #finish(publish: UnansweredPublish, outcome: PublishOutcome): void {
    const { packetId, qos, message, isRepetition } = publish;
    if (isRepetition) {
      // The first one is answered with its own code; both must not differ in whether to retry.
      publish.code = outcome.kind === 'unavailable' ? reason.unavailable : reason.success;
      return;
    }
    const { session, version } = this.#publisher;
    const code = completePublish(this.#context, message, outcome);
    publish.code = code;
    if (qos !== 2) return;
    // The id stays taken until PUBREL, unless the message was refused [MQTT-4.3.3-10].
    const isTaken = code < reason.unspecified || (version !== 5 && !isForRoom(outcome));
    const mayBeKept = outcome.kind === 'accepted' || message?.isRepetition === true;
    // A publish that is tried again may be stored by now: then the store knows its id.
    if (code === reason.unavailable) this.#context.registry.dropId(session, packetId);
    else if (isTaken) keepId(session, packetId, this.#context.journal);
    else dropId(session, { packetId, mayBeKept }, this.#context);
  }

  #answer(publish: UnansweredPublish): void {
    this.#bytesUnderWay -= publish.bytes;
    this.#room.shrink(this.#bytesUnderWay);
    if (!this.#publisher.isOpen || !acknowledge(this.#publisher, publish)) return;
    if (publish.qos === 1) this.#unacknowledged -= 1;
    else if (publish.code >= reason.unspecified) this.#unreleased.delete(publish.packetId);
  }
}

/** Leaves what a connection sends in its socket while too much of it is under way. */
class Pause {
  readonly #publisher: Publisher;
  #isOn = false;
  #endsAt = 0;

  constructor(publisher: Publisher) {
    this.#publisher = publisher;
  }

  /** Pauses until no more are under way than `endsAt`; where none is, no answer would end it. */
  beginAt(underWay: number, endsAt: number = Math.floor(underWay / 2)): void {
    if (this.#isOn || underWay === 0) return;
    this.#isOn = true;
    this.#endsAt = endsAt;
    this.#publisher.pauseReading();
  }

  endAt(underWay: number): void {
    if (!this.#isOn || underWay > this.#endsAt) return;
    this.#isOn = false;
    this.#publisher.resumeReading();
  }
}

function topicByAlias(aliases: Map<number, string>, { topic, topicAlias }: PublishPacket): string {
  if (topicAlias > mqttLimits.topicAliasesMax) {
    throw new ProtocolError(reason.topicAliasInvalid, 'the topic alias is too high');
  }
  // A topic that is refused as too long is not kept, and no publish by its alias is taken either.
  if (topic !== '') aliases.set(topicAlias, topic);
  const known = aliases.get(topicAlias);
  if (known === undefined) throw protocolError('the topic alias was not set');
  return known;
}

/** The store keeps an id with its message: by then it has the session, and the id was released. */
const readinessOf = (
  { opening }: Session,
  releasing: Journal | undefined,
  { packetId }: Message,
): Promise<void> | undefined =>
  packetId === undefined ? undefined : (opening ?? releasing?.synced());

/** Apart from `publish`, which makes no function for each of the many publishes. */
const publishAfter = (
  before: Promise<void>,
  client: Publisher['client'],
  message: Message,
): Promise<PublishOutcome> => before.then(() => client.publish(message));

function messageOf(
  packet: PublishPacket,
  topic: string,
  { client, session }: Publisher,
  clock: Clock,
): Message {
  const { payload, qos, retain, properties, expirySeconds, isDuplicate } = packet;
  const plain = { topic, payload, qos, retain, publisher: session.key, payer: client.payer };
  const isIdKept = qos === 2 && session.isDurable;
  // As most are: spreading nothing would cost more than all the rest of it.
  if (!isDuplicate && !isIdKept && properties === undefined && expirySeconds === undefined) {
    return plain;
  }
  return {
    ...plain,
    ...(isIdKept && { packetId: packet.packetId }),
    ...(isDuplicate && { isRepetition: true }),
    ...(properties !== undefined && { properties }),
    ...(expirySeconds !== undefined && { expiresAt: clock.now() + expirySeconds * 1_000 }),
  };
}

/** Whether it is a long value or array: nothing that its connection sends may overtake it. */
const isReadInSlices = (message: Message | undefined): boolean =>
  message !== undefined &&
  message.payload.length > limits.largePushBytesMin &&
  (message.topic.endsWith('/values') || message.topic.endsWith('/value'));

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
    // No code says why: without an answer the client sends again over its next connection.
    publisher.end(reason.quotaExceeded);
    return false;
  }
  const type = qos === 1 ? packetType.puback : packetType.pubrec;
  // With QoS 2 no client expects "no matching subscribers", though it is allowed.
  const reasonCode = qos === 2 && code === reason.noMatchingSubscribers ? reason.success : code;
  const reasonString =
    wantsProblemInformation && outcome?.kind === 'refused' ? outcome.description : undefined;
  writeAcknowledgement(writer, { type, packetId, reasonCode, version, reasonString });
  return true;
}

/** Whether a quota refused the publish, which may be so for a while only [contract 14]. */
const isForRoom = (outcome: PublishOutcome): boolean =>
  outcome.kind === 'refused' && outcome.reason === 'quota';

function unanswered(
  { packetId, qos }: PublishPacket,
  message: Message | undefined,
  outcome: PublishOutcome | undefined,
): UnansweredPublish {
  const bytes = message === undefined ? 0 : publishBytesBeside + bytesOfMessage(message);
  return { packetId, qos, bytes, message, isRepetition: false, outcome, code: 0 };
}

/** Until PUBREL, a QoS 2 publish with this packet id is a repetition [MQTT-4.3.3-10]. */
function rememberId(
  session: Session,
  packetId: number,
  outcome: Promise<PublishOutcome>,
  context: BrokerContext,
): void {
  const { isFull, oldest } = context.registry.addId(session, packetId, outcome);
  // Mostly of a connection before this one, whose client has forgotten it; never this one.
  if (isFull && oldest !== packetId) void forgetId(session, oldest, context);
}

/** The publish has been handed on: after a crash a repetition of it is only answered. */
function keepId(session: Session, packetId: number, journal: Journal): void {
  const isKnown = session.received?.has(packetId) === true;
  if (isKnown) session.received?.set(packetId, undefined);
  if (session.isEnded || !session.isDurable) return;
  // Released meanwhile: the commit that stored the message may have kept its id all the same.
  const kind = isKnown ? 'received' : 'completed';
  journal.add({ kind, key: session.key, packetId }, session.payer);
}

/** The publish was refused: its id is free, also where the first one of a repetition was stored. */
function dropId(
  session: Session,
  { packetId, mayBeKept }: { readonly packetId: number; readonly mayBeKept: boolean },
  { registry, journal }: BrokerContext,
): void {
  registry.dropId(session, packetId);
  if (!mayBeKept || session.isEnded || !session.isDurable) return;
  journal.add({ kind: 'completed', key: session.key, packetId }, session.payer);
}

/** The id may be used again [MQTT-4.3.3-11]; resolves when that is durable, undefined: it is. */
function forgetId(
  session: Session,
  packetId: number,
  { registry, journal }: BrokerContext,
): Promise<void> | undefined {
  const isKnown = registry.dropId(session, packetId);
  if (!isKnown || !session.isDurable) return undefined;
  journal.add({ kind: 'completed', key: session.key, packetId }, session.payer);
  return journal.synced();
}
