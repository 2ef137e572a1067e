import type { Subscription } from '../../domain/messaging/session-store.ts';
import { countLevels } from '../../lib/topic-filter.ts';
import type { Client } from '../broker.ts';
import { mqttLimits } from '../limits.ts';
import {
  type ConnectPacket,
  malformed,
  type ProtocolVersion,
  packetType,
  protocolError,
  reason,
} from '../packets/packet.ts';
import {
  decodeAcknowledgement,
  decodeDisconnect,
  decodePublish,
  decodeRelease,
  decodeSubscribe,
  decodeUnsubscribe,
} from '../packets/packet-decoder.ts';
import {
  writeDisconnect,
  writeListAcknowledgement,
  writePingResponse,
} from '../packets/packet-encoder.ts';
import type { PacketWriter } from '../packets/packet-writer.ts';
import { longTopic } from '../packets/topic-names.ts';
import type { BrokerContext, Member } from './broker-context.ts';
import { Inbound, type Publisher } from './inbound.ts';
import { untilDone } from './journal.ts';
import { type Established, encodeAcceptance, longestExpiry } from './login.ts';
import { isCongested } from './message-queue.ts';
import type { PacketInput } from './packet-input.ts';
import type { Session, TopicAliases } from './session.ts';
import { sourcesOf } from './value-sources.ts';
import type { Will } from './wills.ts';

/** The connection that carries the packets of a client. */
export interface Carrier extends Pick<Member, 'end' | 'abort'> {
  readonly writer: PacketWriter;
  readonly input: PacketInput;
  readonly isOpen: boolean;
  /** Closes after the client said goodbye. */
  close(): void;
}

/** The connection of a client that has been let in: its packets, its silence, its last will. */
export class ClientConnection implements Publisher {
  readonly context: BrokerContext;
  readonly client: Client;
  readonly session: Session;
  readonly writer: PacketWriter;
  readonly version: ProtocolVersion;
  readonly inFlightMax: number;
  readonly packetBytesMax: number;
  readonly aliases: TopicAliases | undefined;
  readonly wantsProblemInformation: boolean;
  readonly isBridge: boolean;
  readonly #carrier: Carrier;
  readonly #silenceMs: number;
  #will: Will | undefined;
  #inbound: Inbound | undefined;
  /** When its client last sent a packet, in time awake. */
  #heardAt: number;
  /** Since when its client has read nothing of a full buffer. */
  #fullSince: number | undefined;

  constructor(
    context: BrokerContext,
    carrier: Carrier,
    packet: ConnectPacket,
    established: Established,
  ) {
    this.context = context;
    this.#carrier = carrier;
    this.writer = carrier.writer;
    this.client = established.client;
    this.session = established.session;
    this.#silenceMs = established.silenceMs;
    this.#will = established.will;
    this.#heardAt = context.awake.ms;
    this.version = packet.version;
    this.inFlightMax = Math.min(packet.receiveMaximum, mqttLimits.inFlightMax);
    this.packetBytesMax = packet.maximumPacketSize;
    this.aliases = aliasesFor(packet);
    this.wantsProblemInformation = packet.wantsProblemInformation;
    this.isBridge = packet.isBridge === true;
  }

  get isOpen(): boolean {
    return this.#carrier.isOpen;
  }

  get inbound(): Inbound {
    this.#inbound ??= new Inbound(this, this.context);
    return this.#inbound;
  }

  /** CONNACK, and what its session has for it. */
  begin({ connack, isPresent }: Established): void {
    const { version, session } = this;
    this.writer.write(encodeAcceptance(version, connack, isPresent && version !== 3));
    session.link = this;
    this.client.connected?.(() => this.end(reason.notAuthorized, loginEnded));
    this.context.queue.resume(session);
  }

  handle(header: number, body: Buffer): void {
    const { awake, journal } = this.context;
    this.#heardAt = awake.ms;
    handlePacket(this, header, body);
    if (journal.hasRoomFor(this.client.payer)) return;
    // A client that changes its session faster than the store writes has to wait.
    const synced = journal.synced();
    if (synced === undefined || !this.isOpen) return;
    this.pauseReading();
    void synced.then(() => this.resumeReading());
  }

  /** Goes on sending once the buffered bytes have left. */
  drained(): void {
    this.#fullSince = undefined;
    const { queue, retainedDelivery } = this.context;
    queue.pump(this.session);
    if (this.session.backlog !== undefined) retainedDelivery.goOn(this.session);
  }

  sweep(awakeMs: number): void {
    // A client that is not read from is not silent: its packets are read later.
    if (this.#carrier.input.isPaused) this.#heardAt = awakeMs;
    this.#fullSince = isCongested(this) ? (this.#fullSince ?? awakeMs) : undefined;
    const fullMs = awakeMs - (this.#fullSince ?? awakeMs);
    if (awakeMs - this.#heardAt > this.#silenceMs) {
      this.end(reason.keepAliveTimeout, 'nothing was heard for too long');
    } else if (this.client.isGone()) {
      this.end(reason.notAuthorized, loginEnded);
    } else if (fullMs > mqttLimits.stuckMs) {
      // A peer that does not read keeps memory in use: it has had a while.
      this.#carrier.abort(reason.quotaExceeded);
    }
  }

  pauseReading(): void {
    this.#carrier.input.pauseReading();
  }

  resumeReading(): void {
    this.#carrier.input.resumeReading();
  }

  end(code: number, text?: string): void {
    this.#carrier.end(code, text);
  }

  /** DISCONNECT with a reason, which only MQTT 5 has. */
  sayGoodbye(code: number, text: string | undefined): void {
    if (this.version !== 5) return;
    writeDisconnect(this.writer, code, this.wantsProblemInformation ? text : undefined);
  }

  /** The client says goodbye. */
  leave({ reasonCode, sessionExpirySeconds }: ReturnType<typeof decodeDisconnect>): void {
    const { client, session } = this;
    if (sessionExpirySeconds !== undefined) {
      // [MQTT-3.14.2-2]
      if (session.expirySeconds === 0 && sessionExpirySeconds > 0) {
        throw protocolError('a session without an expiry cannot get one at its end');
      }
      session.expirySeconds = Math.min(sessionExpirySeconds, longestExpiry(client));
    }
    // [MQTT-3.14.4-3]
    if (reasonCode === reason.success && this.#will !== undefined) {
      this.context.wills.discard(client, this.#will);
      this.#will = undefined;
    }
    this.#carrier.close();
  }

  /** The connection is over: its last will is due now or later, and its session waits or ends. */
  detach(): void {
    const { client, session } = this;
    if (session.link === this) this.#leaveSession();
    client.disconnected?.();
  }

  #leaveSession(): void {
    const { client, session } = this;
    const { wills, registry } = this.context;
    if (this.#will !== undefined) {
      // The session may end before the delay does [MQTT-3.1.3.2.2].
      const delayMs = Math.min(this.#will.delayMs, session.expirySeconds * 1_000);
      wills.leave(session.key, client, { ...this.#will, delayMs });
    }
    registry.leave(session);
    if (session.isEnded) wills.publishNow(session.key);
  }
}

const loginEnded = 'the login is not valid any more';

/** The topics that the client is to know by a number; undefined: it wants none. */
function aliasesFor({ topicAliasMaximum }: ConnectPacket): TopicAliases | undefined {
  if (topicAliasMaximum === 0) return undefined;
  const entriesMax = Math.min(topicAliasMaximum, mqttLimits.topicAliasesMax);
  return { entriesMax, byTopic: new Map() };
}

/** Acts on one packet; throws ProtocolError. */
function handlePacket(connection: ClientConnection, header: number, body: Buffer) {
  const { version } = connection;
  switch (header >> 4) {
    case packetType.publish:
      return handlePublish(connection, header, body);
    case packetType.puback:
    case packetType.pubrec:
    case packetType.pubcomp:
      return handleAnswer(connection, header, body);
    case packetType.pubrel:
      return connection.inbound.release(decodeRelease(header, body, version).packetId);
    case packetType.subscribe:
      return subscribe(connection, header, body);
    case packetType.unsubscribe:
      return unsubscribe(connection, header, body);
    case packetType.pingreq:
      return writePingResponse(connection.writer);
    case packetType.disconnect:
      return connection.leave(decodeDisconnect(header, body, version));
    default:
      refuse(header >> 4, version);
  }
}

/** Handles the client's acknowledgement of a message of ours. */
function handleAnswer(connection: ClientConnection, header: number, body: Buffer): void {
  const { version, session, context } = connection;
  const type = header >> 4;
  if (type === packetType.pubcomp) {
    context.queue.acknowledged(session, decodeRelease(header, body, version).packetId, 'PUBCOMP');
  } else {
    const { packetId, reasonCode } = decodeAcknowledgement(header, body, version);
    if (type === packetType.puback) context.queue.acknowledged(session, packetId, 'PUBACK');
    else context.queue.received(session, packetId, reasonCode);
  }
  if (session.backlog !== undefined) context.retainedDelivery.goOn(session);
}

/** Refuses a packet that a client never sends, or not twice [MQTT-3.1.0-2]. */
function refuse(type: number, version: number): never {
  if (type === 0 || (type === packetType.auth && version !== 5)) {
    throw malformed('there is no packet of this type');
  }
  throw protocolError('the packet is not one of an open connection');
}

function handlePublish(connection: ClientConnection, header: number, body: Buffer): void {
  const packet = decodePublish(header, body, connection.version);
  const { bytesMaxOf } = connection.context.frameLimits;
  const isOrdinary = body.length <= mqttLimits.packetBytesMax;
  connection.inbound.publish(
    packet,
    // A topic that is too long is refused by itself, whatever is published on it.
    (topic) => isOrdinary || topic === longTopic || body.length <= bytesMaxOf(topic),
  );
}

function subscribe(connection: ClientConnection, header: number, body: Buffer): void {
  const packet = decodeSubscribe(header, body, connection.version);
  const { packetId, surplus } = packet;
  const subscriptions = connection.isBridge
    ? packet.subscriptions.map(forBridge)
    : packet.subscriptions;
  const wanted: Subscription[] = [];
  const refusals = new Map<string, number>();
  // Of those with the same filter the last one counts [MQTT-3.8.4-3]: the others cost nothing.
  const lastOfEach = new Map(subscriptions.map((one) => [one.filter, one]));
  for (const subscription of lastOfEach.values()) {
    const refusal = take(connection, subscription, wanted);
    if (refusal !== undefined) refusals.set(subscription.filter, refusal);
  }
  const codes: number[] = subscriptions.map(({ filter, qos }) => refusals.get(filter) ?? qos);
  for (let left = surplus; left > 0; left -= 1) codes.push(reason.quotaExceeded);
  if (subscriptions.some(({ filter }) => filter.startsWith('$share/'))) {
    connection.context.claims?.tellHere();
  }
  const { writer, version, wantsProblemInformation } = connection;
  const texts = Object.entries(filterRefusals).filter(([code]) => codes.includes(Number(code)));
  const text = texts.map(([, one]) => one).join('; ');
  // The text is left out where it would not fit [MQTT-3.9.2-1].
  const isFitting = codes.length + text.length + headBytesMax <= connection.packetBytesMax;
  const reasonString = wantsProblemInformation && isFitting ? text : '';
  const type = packetType.suback;
  whenWanted(connection, [...lastOfEach.keys()], () => {
    writeListAcknowledgement(writer, { type, packetId, codes, version, reasonString });
    for (const one of wanted) connection.context.retainedDelivery.start(connection.session, one);
  });
}

/** Of a SUBACK: all but its codes and its text. */
const headBytesMax = 16;
const { topicBytesMax } = mqttLimits;
const filterLevelsMax = mqttLimits.topicLevelsMax + 2;
const filterRefusals = {
  [reason.notAuthorized]: 'filters that begin with $ are for administrators, below $SYS',
  [reason.filterInvalid]: `a filter has at most ${filterLevelsMax} levels, ${topicBytesMax} bytes`,
  [reason.quotaExceeded]: 'there are too many subscriptions, or filters at once: ask for fewer',
};

/** A bridge has the messages that it publishes, and is to retain those retained here. */
const forBridge = (subscription: Subscription): Subscription => ({
  ...subscription,
  noLocal: !subscription.filter.startsWith('$share/'),
  retainAsPublished: true,
});

/** Subscribes, or answers why not; adds to `wanted` what is to bring retained messages. */
function take(
  connection: ClientConnection,
  subscription: Subscription,
  wanted: Subscription[],
): number | undefined {
  const refusal = refusalOf(connection, subscription.filter);
  if (refusal !== undefined) return refusal;
  const outcome = connection.context.registry.subscribe(connection.session, subscription);
  if (outcome === 'full') return reason.quotaExceeded;
  const { retainHandling } = subscription;
  if (retainHandling === 0 || (retainHandling === 1 && outcome === 'new')) {
    wanted.push(subscription);
  }
  return undefined;
}

function refusalOf({ client }: ClientConnection, filter: string): number | undefined {
  const isTooLong =
    Buffer.byteLength(filter) > topicBytesMax || countLevels(filter) > filterLevelsMax;
  if (isTooLong) return reason.filterInvalid;
  return client.maySubscribe(filter) ? undefined : reason.notAuthorized;
}

function unsubscribe(connection: ClientConnection, header: number, body: Buffer): void {
  const { context, session, writer, version } = connection;
  const { packetId, filters, surplus } = decodeUnsubscribe(header, body, version);
  const codes: number[] = filters.map((filter) => {
    if (!context.registry.unsubscribe(session, filter)) return reason.noSubscriptionExisted;
    context.retainedDelivery.stop(session, filter);
    return reason.success;
  });
  // UNSUBACK has no word for too many [MQTT5 3.11.3].
  for (let left = surplus; left > 0; left -= 1) codes.push(reason.notAccepted);
  whenDurable(connection, () =>
    writeListAcknowledgement(writer, { type: packetType.unsuback, packetId, codes, version }),
  );
}

/** The same of a SUBSCRIBE, and once other processes write the values that it asks for. */
function whenWanted(
  connection: ClientConnection,
  filters: readonly string[],
  answer: () => void,
): void {
  const { wanted, log } = connection.context;
  const devices = wanted === undefined ? [] : sourcesOf(filters);
  if (wanted === undefined || wanted.areSettled(devices)) {
    whenDurable(connection, answer);
    return;
  }
  connection.pauseReading();
  const settled = untilDone(
    () => wanted.settled(devices),
    (err) => {
      log.warn({ err }, 'other processes could not be told which values are wanted');
      return !connection.isOpen;
    },
  );
  void settled.then(() => {
    if (connection.isOpen) whenDurable(connection, answer);
    connection.resumeReading();
  });
}

/** Answers now, or once the change of a session that is kept is on disk. */
function whenDurable(connection: ClientConnection, answer: () => void) {
  const { context, session } = connection;
  const synced = session.isDurable ? context.journal.synced() : undefined;
  if (synced === undefined) return answer();
  void synced.then(() => {
    if (connection.isOpen) answer();
  });
}
