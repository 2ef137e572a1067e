import type { WaitingPlace } from '../../domain/budgets/budget.ts';
import type { Client, ConnectRefusal, Receiver, Transport } from '../broker.ts';
import { mqttLimits } from '../limits.ts';
import { type ConnectPacket, ProtocolError, reason } from '../packets/packet.ts';
import { ConnectError, decodeConnect, requireNoMethod } from '../packets/packet-decoder.ts';
import { encodeConnack } from '../packets/packet-encoder.ts';
import { PacketWriter } from '../packets/packet-writer.ts';
import type { BrokerContext, Member } from './broker-context.ts';
import { type Carrier, ClientConnection } from './client-connection.ts';
import type { Counters } from './counters.ts';
import { connectRefusals, type Entering, establish, letIn, requestOf } from './login.ts';
import { PacketInput } from './packet-input.ts';

/** The size of the largest packet that explains a refusal. */
const explainedBytesMin = 512;
/** The fields of CONNECT that decide how it is answered. */
type Answered = Pick<ConnectPacket, 'version' | 'wantsProblemInformation'>;

/** A connection from its first byte to its last: CONNECT, login, and the end. */
export class Connection implements Receiver, Member, Carrier {
  readonly writer: PacketWriter;
  readonly #context: BrokerContext;
  readonly #address: string;
  readonly input: PacketInput;
  #state: 'opening' | 'authenticating' | 'open' | 'closed' = 'opening';
  readonly #opening: Opening;
  /** CONNECT, as far as it is known, before the client is let in. */
  #connect: Answered = { version: 4, wantsProblemInformation: true };
  #open: ClientConnection | undefined;
  /** Whether the client has left: packets that had arrived are handled, a goodbye, too. */
  #isLeft = false;

  constructor(context: BrokerContext, transport: Transport, address: string) {
    this.#context = context;
    this.#address = address;
    this.#opening = new Opening(context, this);
    this.writer = new PacketWriter(transport, context.flusher);
    this.input = new PacketInput(context, {
      ...{ transport, address },
      onPacket: (header, body) => this.#handle(header, body),
      guard: (work) => this.#guard(work),
    });
  }

  get client(): Client | undefined {
    return this.#open?.client;
  }

  get isOpen(): boolean {
    return this.#state === 'open';
  }

  receive(chunk: Uint8Array): void {
    if (this.#state === 'closed') return;
    this.#context.counters.bytesReceived += chunk.length;
    this.input.receive(chunk);
    if (this.#state === 'opening') this.#opening.begun();
  }

  held(bytes: number): void {
    if (this.#state === 'opening' && bytes > 0) this.#opening.begun();
    if (this.#state === 'closed' || this.input.carry(bytes)) return;
    this.end(reason.quotaExceeded, 'too many bytes of messages are under way');
    // A goodbye would leave its bytes in memory for a while.
    this.writer.transport.destroy();
  }

  drained(): void {
    if (this.isOpen) this.#guard(() => this.#open?.drained());
  }

  sweep(awakeMs: number): void {
    if (this.#isLeft && this.isOpen) this.closed();
    else if (this.#state === 'open') this.#open?.sweep(awakeMs);
    else if (this.#state === 'opening') this.#opening.sweep(awakeMs);
    else if (this.#opening.ageMs(awakeMs) > mqttLimits.loginMs) this.end(reason.busy);
  }

  end(code: number, text?: string): void {
    if (this.#state === 'closed') return;
    if (this.#state === 'open') this.#open?.sayGoodbye(code, text);
    else if (this.#state === 'authenticating') {
      this.writer.write(encodeRefusal(this.#connect, code, text));
    }
    countClosed(this.#context.counters, code);
    this.close();
  }

  abort(code: number): void {
    if (this.#state === 'closed') return;
    countClosed(this.#context.counters, code);
    this.#over();
    this.writer.transport.destroy();
  }

  close(): void {
    this.writer.flush();
    this.#over();
    this.writer.transport.end();
  }

  /** Runs work on packets: whatever a peer sends ends at most its own connection. */
  #guard(work: () => void) {
    try {
      work();
    } catch (error) {
      if (error instanceof ProtocolError) return this.#fail(error);
      this.#context.log.error({ error }, 'a packet of MQTT could not be handled');
      this.end(reason.unspecified);
    }
  }

  #fail(error: ProtocolError) {
    if (this.#state === 'closed') return;
    if (error instanceof ConnectError) {
      // The CONNACK needs the protocol version of the refused CONNECT.
      this.#connect = { ...this.#connect, version: error.version };
      this.#state = 'authenticating';
    }
    if (!error.isSilent && this.#state !== 'opening') return this.end(error.code, error.message);
    countClosed(this.#context.counters, error.code);
    this.close();
  }

  #handle(header: number, body: Buffer): void {
    if (this.#state === 'open') this.#open?.handle(header, body);
    else if (this.#state === 'opening') this.#logIn(readConnect(header, body));
  }

  #logIn(packet: ConnectPacket): void {
    this.#connect = packet;
    this.#state = 'authenticating';
    this.#opening.over();
    requireNoMethod(packet);
    const request = { ...requestOf(packet, this.#address), signal: this.input.pauseForLogin() };
    letIn(this.#context, packet, request, this.writer.transport, (answer, turn) => {
      this.#guard(() => this.#admit(packet, answer, turn));
      this.input.resumeAfterLogin();
      if (this.#isLeft) this.closed();
      return this.#open !== undefined;
    });
  }

  #admit(packet: ConnectPacket, answer: Entering | ConnectRefusal, turn = 0) {
    if (this.#state !== 'authenticating') return;
    if (typeof answer === 'string') return this.end(...connectRefusals[answer]);
    this.input.moveTo(answer.payer);
    const established = establish(this.#context, packet, answer, turn);
    this.#open = new ClientConnection(this.#context, this, packet, established);
    this.#state = 'open';
    this.#open.begin(established);
  }

  closed(): void {
    this.#isLeft = this.input.isWaiting && this.#state !== 'opening';
    if (!this.#isLeft) this.#over();
  }

  /** Happens once, whichever side ended the connection: nothing refers to it afterwards. */
  #over(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#opening.over();
    this.input.dispose();
    this.#context.members.delete(this);
    this.#context.counters.bytesSent += this.writer.bytesWritten;
    this.#open?.detach();
  }
}

function readConnect(header: number, body: Buffer): ConnectPacket {
  const packet = decodeConnect(header, body);
  // Explanations are the first to go where packets must be small [MQTT-3.4.2-2].
  const isRoomy = packet.maximumPacketSize >= explainedBytesMin;
  return { ...packet, wantsProblemInformation: packet.wantsProblemInformation && isRoomy };
}

function encodeRefusal(
  { version, wantsProblemInformation }: Answered,
  code: number,
  text: string | undefined,
): Buffer {
  const reasonString = wantsProblemInformation ? text : undefined;
  // CONNACK has no word for "shutting down".
  const reasonCode = code === reason.shuttingDown ? reason.unavailable : code;
  return encodeConnack({ version, reasonCode, sessionPresent: false, reasonString });
}

function countClosed({ closedByCode }: Counters, code: number): void {
  closedByCode.set(code, (closedByCode.get(code) ?? 0) + 1);
}

/** A connection until its CONNECT is whole: how long that may take, and its budget. */
class Opening {
  readonly #context: BrokerContext;
  readonly #opener: Pick<Member, 'input' | 'abort'>;
  readonly #beganAt: number;
  /** Of a CONNECT that comes in pieces; its bytes count with those of other packets. */
  #place: WaitingPlace | undefined;

  constructor(context: BrokerContext, opener: Pick<Member, 'input' | 'abort'>) {
    this.#context = context;
    this.#opener = opener;
    this.#beganAt = context.awake.ms;
  }

  ageMs(awakeMs: number): number {
    return awakeMs - this.#beganAt;
  }

  /** Something has arrived, but no whole CONNECT. */
  begun(): void {
    const end = (): void => this.#opener.abort(reason.quotaExceeded);
    this.#place ??= this.#context.waiting.place({ payerOf: () => this.#opener.input.payer, end });
    if (!this.#place.hold(mqttLimits.openingBytes)) end();
  }

  /** Gives the budget back: CONNECT is whole, or is not waited for any longer. */
  over(): void {
    this.#place?.hold(0);
  }

  sweep(awakeMs: number): void {
    const waitMs = this.#place === undefined ? mqttLimits.silentMs : mqttLimits.connectMs;
    if (this.ageMs(awakeMs) > waitMs) this.#opener.abort(reason.maximumConnectTime);
  }
}
