import { type Payer, payerAt } from '../../domain/budgets/payer.ts';
import { sessionKey } from '../../domain/messaging/message.ts';
import type { Client, ConnectAnswer, ConnectRequest } from '../broker-hooks.ts';
import { mqttLimits } from '../limits.ts';
import {
  ConnectError,
  decodeConnect,
  requireConnect,
  requireNoMethod,
} from '../packets/connect-decoder.ts';
import { FrameReader, type PartialRoom } from '../packets/frame-reader.ts';
import type { ConnectPacket, DisconnectPacket, ProtocolVersion } from '../packets/packet.ts';
import { encodeConnack, writeDisconnect } from '../packets/packet-encoder.ts';
import { PacketWriter } from '../packets/packet-writer.ts';
import { bufferOf } from '../packets/publish-encoder.ts';
import { ProtocolError, protocolError, reason } from '../packets/reason-codes.ts';
import type { Receiver, Transport } from '../transport.ts';
import type { BrokerContext, Member } from './broker-context.ts';
import { ByteHold } from './byte-hold.ts';
import { Inbound } from './inbound.ts';
import {
  type ConnectTerms,
  encodeAcceptance,
  refusalCodes,
  requestOf,
  requireFitting,
  termsFor,
  type Will,
  willOf,
} from './login.ts';
import { handlePacket, type OpenConnection } from './packet-handler.ts';
import type { Link, Session, TopicAliases } from './session.ts';
import { ReadingTurn } from './work-shares.ts';

/** The size of the largest packet that explains a refusal. */
const explainedBytesMin = 512;

/** A sensor's value comes through however much of large packets is under way. */
const partialRoom = { freeBytes: 4_096, stepBytes: 1 };

/** What exists only once the client has been let in. */
interface Established {
  readonly client: Client;
  readonly session: Session;
  readonly silenceMs: number;
  will: Will | undefined;
}

/** One connection from its first byte to its last: CONNECT, packets, and the end. */
export class Connection implements Receiver, Member, Link, OpenConnection {
  readonly writer: PacketWriter;
  readonly parts: BrokerContext;
  readonly #address: string;
  readonly #reader: FrameReader;
  readonly #hold: ByteHold;
  readonly #carried: PartialRoom;
  #state: 'opening' | 'authenticating' | 'open' | 'closed' = 'opening';
  #established: Established | undefined;
  #inbound: Inbound | undefined;
  /** When the connection began, then when its client was heard last, in time awake. */
  #heardAt: number;
  #bytesReceived = 0;
  readonly #turn: ReadingTurn;
  payer: Payer;
  /** Reasons not to read. */
  #pauses = 0;
  /** Since when the client has read nothing of a full buffer. */
  #fullSince: number | undefined;
  version: ProtocolVersion = 4;
  inFlightMax = 0;
  packetBytesMax = 0;
  aliases: TopicAliases | undefined;
  wantsProblemInformation = true;

  constructor(parts: BrokerContext, transport: Transport, address: string) {
    this.parts = parts;
    this.#address = address;
    this.writer = new PacketWriter(transport, parts.flusher);
    this.#heardAt = parts.awake.ms;
    this.payer = payerAt(address);
    this.#turn = new ReadingTurn(parts.workShares, parts.readers, this);
    this.#hold = new ByteHold(parts.partialBytes, this.payer, partialRoom);
    this.#carried = this.#hold.part();
    this.#reader = new FrameReader(parts.frameLimits, this.#hold.part(), (header, body) =>
      this.#handle(header, body),
    );
  }

  get client(): Client {
    return this.#mustBeEstablished().client;
  }

  get session(): Session {
    return this.#mustBeEstablished().session;
  }

  get identity(): string | undefined {
    return this.#established?.client.identity;
  }

  get isOpen(): boolean {
    return this.#state === 'open';
  }

  get inbound(): Inbound {
    this.#inbound ??= new Inbound(this, this.parts);
    return this.#inbound;
  }

  receive(chunk: Uint8Array): void {
    if (this.#state === 'closed') return;
    const isFirst = this.#bytesReceived === 0;
    this.#bytesReceived += chunk.length;
    this.parts.counters.bytesReceived += chunk.length;
    this.#turn.arrived(chunk.length);
    this.#guard(() => {
      // Known by its first byte, before the rest of a packet of whatever it is has arrived.
      if (isFirst && chunk.length > 0) requireConnect(chunk[0] ?? 0);
      this.#reader.read(bufferOf(chunk));
    });
    this.#turn.end();
  }

  held(bytes: number): void {
    if (this.#state === 'closed' || this.#carried.hold(bytes)) return;
    this.end(reason.quotaExceeded, 'too many bytes of messages are under way');
    // A goodbye would leave what it holds in memory for a while.
    this.writer.transport.destroy();
  }

  drained(): void {
    this.#fullSince = undefined;
    if (this.#established === undefined || this.#state !== 'open') return;
    const { session } = this.#established;
    this.#guard(() => {
      this.parts.queue.pump(session);
      if (session.backlog !== undefined) this.parts.retainedDelivery.goOn(session);
    });
  }

  closed(): void {
    this.#detach();
  }

  pauseReading(): void {
    this.#pauses += 1;
    this.#reader.stop();
    this.writer.transport.pause();
  }

  resumeReading(): void {
    this.#pauses -= 1;
    if (this.#pauses > 0 || this.#state === 'closed') return;
    this.writer.transport.resume();
    this.#turn.resumed();
    this.#guard(() => this.#reader.resume());
    this.#turn.end();
  }

  get waitingBytes(): number {
    return this.writer.waitingBytes;
  }

  get bytesWritten(): number {
    return this.writer.bytesWritten;
  }

  sweep(awakeMs: number): void {
    const silence = awakeMs - this.#heardAt;
    if (this.#state === 'opening') {
      if (silence > mqttLimits.connectMs) this.abort(reason.maximumConnectTime);
      return;
    }
    if (this.#state === 'authenticating') {
      if (silence > mqttLimits.loginMs) this.end(reason.busy);
      return;
    }
    const { client, silenceMs } = this.#mustBeEstablished();
    if (silence > silenceMs) this.end(reason.keepAliveTimeout, 'nothing was heard for too long');
    else if (client.isGone()) this.end(reason.notAuthorized, 'the login is not valid any more');
    else this.#sweepBuffer(awakeMs);
  }

  /** A peer that does not read holds memory: it has a while, then it is gone. */
  #sweepBuffer(awakeMs: number): void {
    const isFull = this.writer.waitingBytes > mqttLimits.socketBufferBytesMax;
    if (!isFull) this.#fullSince = undefined;
    else if (this.#fullSince === undefined) this.#fullSince = awakeMs;
    else if (awakeMs - this.#fullSince > mqttLimits.stuckMs) this.abort(reason.quotaExceeded);
  }

  end(code: number, text?: string): void {
    if (this.#state === 'closed') return;
    if (this.#state === 'open' && this.version === 5) {
      writeDisconnect(this.writer, code, this.wantsProblemInformation ? text : undefined);
    } else if (this.#state === 'authenticating') {
      // CONNACK has no word for "shutting down".
      this.#refuse(code === reason.shuttingDown ? reason.unavailable : code, text);
    }
    this.#count(code);
    this.writer.flush();
    this.#detach();
    this.writer.transport.end();
  }

  abort(code: number): void {
    if (this.#state === 'closed') return;
    this.#count(code);
    this.#detach();
    this.writer.transport.destroy();
  }

  leave({ reasonCode, sessionExpirySeconds }: DisconnectPacket): void {
    const established = this.#mustBeEstablished();
    const { session } = established;
    if (sessionExpirySeconds !== undefined) {
      // [MQTT-3.14.2-2]
      if (session.expirySeconds === 0 && sessionExpirySeconds > 0) {
        throw protocolError('a session without an expiry cannot get one at its end');
      }
      const longest = established.client.sessionSecondsMax ?? mqttLimits.sessionExpirySecondsMax;
      session.expirySeconds = Math.min(sessionExpirySeconds, longest);
    }
    // [MQTT-3.14.4-3]
    if (reasonCode === reason.success) this.#discardWill(established);
    this.writer.flush();
    this.#detach();
    this.writer.transport.end();
  }

  #discardWill(established: Established): void {
    const { client, will } = established;
    established.will = undefined;
    if (will !== undefined) this.parts.wills.discard(client, will.message);
  }

  #mustBeEstablished(): Established {
    if (this.#established === undefined) throw new Error('the connection is not established');
    return this.#established;
  }

  /** Whatever a peer sends ends at most its own connection. */
  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (error instanceof ProtocolError) this.#fail(error);
      else {
        this.parts.log.error({ error }, 'a packet of MQTT could not be handled');
        this.end(reason.unspecified);
      }
    }
  }

  #fail(error: ProtocolError): void {
    if (this.#state === 'closed') return;
    if (error instanceof ConnectError) this.version = error.version;
    if (error.isSilent || this.#state === 'opening') {
      if (error instanceof ConnectError && !error.isSilent) this.#refuse(error.code, error.message);
      this.#count(error.code);
      this.writer.flush();
      this.#detach();
      this.writer.transport.end();
      return;
    }
    this.end(error.code, error.message);
  }

  #handle(header: number, body: Buffer): void {
    if (this.#state === 'open') {
      this.#heardAt = this.parts.awake.ms;
      handlePacket(this, header, body);
      if (!this.parts.journal.hasRoomFor(this.payer)) this.#waitForStore();
      this.#turn.packetHandled();
    } else if (this.#state === 'opening') this.#connect(header, body);
  }

  /** Whoever changes its session faster than the store writes has to wait. */
  #waitForStore(): void {
    const synced = this.parts.journal.synced();
    if (synced === undefined || this.#state !== 'open') return;
    this.pauseReading();
    void synced.then(() => this.resumeReading());
  }

  #connect(header: number, body: Buffer): void {
    const packet = decodeConnect(header, body);
    this.version = packet.version;
    // Explanations are the first to go where packets must be small [MQTT-3.4.2-2].
    const isRoomy = packet.maximumPacketSize >= explainedBytesMin;
    this.wantsProblemInformation = packet.wantsProblemInformation && isRoomy;
    this.packetBytesMax = packet.maximumPacketSize;
    this.#state = 'authenticating';
    requireNoMethod(packet);
    const request = requestOf(packet, this.#address);
    // The packets behind CONNECT wait, on the peer's side as far as possible.
    this.pauseReading();
    void this.parts.authority
      .connect(request)
      .catch((error: unknown) => {
        this.parts.log.error({ error }, 'a login to MQTT failed');
        return { kind: 'refused', reason: 'unavailable' } as const;
      })
      .then((settled) => {
        this.#guard(() => this.#admit(packet, request, settled));
        this.resumeReading();
      });
  }

  #admit(packet: ConnectPacket, request: ConnectRequest, answer: ConnectAnswer): void {
    if (this.#state !== 'authenticating') return;
    if (answer.kind === 'refused') {
      this.end(refusalCodes[answer.reason]);
      return;
    }
    const { client } = answer;
    const { clientId } = request;
    const terms = termsFor(packet, client, clientId);
    const key = sessionKey(client.identity, clientId);
    const { registry, wills, queue } = this.parts;
    requireFitting(packet, terms);
    const { identity, payer } = client;
    this.#hold.moveTo(payer);
    this.payer = payer;
    const will = willOf(packet, key, payer);
    if (will !== undefined && !wills.keep(client, will.message)) {
      this.end(reason.quotaExceeded, 'there is no room for your last will');
      return;
    }
    registry.find(key)?.link?.end(reason.takenOver, 'the client connected again');
    const { cleanStart } = packet;
    const opened = registry.open({ identity, payer, clientId, cleanStart, ...terms });
    if (opened === undefined) {
      if (will !== undefined) wills.discard(client, will.message);
      this.end(reason.quotaExceeded, 'there are too many sessions');
      return;
    }
    const { session, isPresent } = opened;
    for (const ended of opened.evicted) wills.publishNow(ended.key);
    // Who comes back in time is not mourned; a session that ended is [MQTT-3.1.3-9].
    if (isPresent) wills.cancel(key);
    else wills.publishNow(key);
    const { silenceMs } = terms;
    this.#established = { client, session, silenceMs, will };
    this.#open(packet, terms, isPresent);
    session.link = this;
    client.connected?.();
    queue.resume(session);
  }

  #open(packet: ConnectPacket, { connack }: ConnectTerms, sessionPresent: boolean): void {
    const { version } = this;
    this.#state = 'open';
    this.#heardAt = this.parts.awake.ms;
    this.inFlightMax = Math.min(packet.receiveMaximum, mqttLimits.inFlightMax);
    if (packet.topicAliasMaximum > 0) {
      const entriesMax = Math.min(packet.topicAliasMaximum, mqttLimits.topicAliasesMax);
      this.aliases = { entriesMax, byTopic: new Map() };
    }
    this.writer.write(encodeAcceptance(version, connack, sessionPresent && version !== 3));
  }

  #refuse(reasonCode: number, text: string | undefined): void {
    const { version } = this;
    const reasonString = this.wantsProblemInformation ? text : undefined;
    this.writer.write(encodeConnack({ version, reasonCode, sessionPresent: false, reasonString }));
  }

  #count(code: number): void {
    const { closedByCode } = this.parts.counters;
    closedByCode.set(code, (closedByCode.get(code) ?? 0) + 1);
  }

  /** Happens once, whoever ended the connection: nothing refers to it afterwards. */
  #detach(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#reader.dispose();
    this.#carried.hold(0);
    this.parts.members.delete(this);
    this.parts.counters.bytesSent += this.writer.bytesWritten;
    if (this.#established === undefined) return;
    const { client, session, will } = this.#established;
    if (session.link === this) this.#leaveSession(session, will);
    client.disconnected?.();
  }

  #leaveSession(session: Session, will: Will | undefined): void {
    const { wills, registry, clock } = this.parts;
    const now = clock.now();
    if (will !== undefined) {
      // The session may end before the delay does [MQTT-3.1.3.2.2].
      const delayMs = Math.min(will.delayMs, session.expirySeconds * 1_000);
      wills.leave(session.key, { ...will, client: this.client, dueAt: now + delayMs }, now);
    }
    registry.leave(session);
    if (session.isEnded) wills.publishNow(session.key);
  }
}
