import type { ConnectAnswer } from '../broker-hooks.ts';
import { mqttLimits } from '../limits.ts';
import { ConnectError, decodeConnect, requireNoMethod } from '../packets/connect-decoder.ts';
import type { ConnectPacket } from '../packets/packet.ts';
import { encodeConnack } from '../packets/packet-encoder.ts';
import { PacketWriter } from '../packets/packet-writer.ts';
import { ProtocolError, reason } from '../packets/reason-codes.ts';
import type { Receiver, Transport } from '../transport.ts';
import type { BrokerContext, Member } from './broker-context.ts';
import { type Carrier, ClientConnection } from './client-connection.ts';
import type { Counters } from './counters.ts';
import { establish } from './established.ts';
import { letIn } from './let-in.ts';
import { refusalCodes, requestOf } from './login.ts';
import { PacketInput } from './packet-input.ts';

/** The size of the largest packet that explains a refusal. */
const explainedBytesMin = 512;

/** What of CONNECT says how it is answered. */
type Answered = Pick<ConnectPacket, 'version' | 'wantsProblemInformation'>;

/** One connection from its first byte to its last: CONNECT, login, and the end. */
export class Connection implements Receiver, Member, Carrier {
  readonly writer: PacketWriter;
  readonly #context: BrokerContext;
  readonly #address: string;
  readonly input: PacketInput;
  readonly #beganAt: number;
  #state: 'opening' | 'authenticating' | 'open' | 'closed' = 'opening';
  /** What is known of the client before it is let in. */
  #connect: Answered = { version: 4, wantsProblemInformation: true };
  #open: ClientConnection | undefined;

  constructor(context: BrokerContext, transport: Transport, address: string) {
    this.#context = context;
    this.#address = address;
    this.#beganAt = context.awake.ms;
    this.writer = new PacketWriter(transport, context.flusher);
    this.input = new PacketInput(context, {
      ...{ transport, address },
      onPacket: (header, body) => this.#handle(header, body),
      guard: (work) => this.#guard(work),
    });
  }

  get identity(): string | undefined {
    return this.#open?.client.identity;
  }

  get isOpen(): boolean {
    return this.#state === 'open';
  }

  receive(chunk: Uint8Array): void {
    if (this.#state === 'closed') return;
    this.#context.counters.bytesReceived += chunk.length;
    this.input.receive(chunk);
  }

  held(bytes: number): void {
    if (this.#state === 'closed' || this.input.carry(bytes)) return;
    this.end(reason.quotaExceeded, 'too many bytes of messages are under way');
    // A goodbye would leave what it holds in memory for a while.
    this.writer.transport.destroy();
  }

  drained(): void {
    if (this.isOpen) this.#guard(() => this.#open?.drained());
  }

  sweep(awakeMs: number): void {
    const ageMs = awakeMs - this.#beganAt;
    if (this.#state === 'open') this.#open?.sweep(awakeMs);
    else if (this.#state === 'authenticating') {
      if (ageMs > mqttLimits.loginMs) this.end(reason.busy);
    } else if (ageMs > mqttLimits.connectMs) this.abort(reason.maximumConnectTime);
  }

  end(code: number, text?: string): void {
    if (this.#state === 'closed') return;
    if (this.#state === 'open') this.#open?.sayGoodbye(code, text);
    // CONNACK has no word for "shutting down".
    else if (this.#state === 'authenticating') {
      const told = code === reason.shuttingDown ? reason.unavailable : code;
      this.writer.write(encodeRefusal(this.#connect, told, text));
    }
    countClosed(this.#context.counters, code);
    this.close();
  }

  abort(code: number): void {
    if (this.#state === 'closed') return;
    countClosed(this.#context.counters, code);
    this.closed();
    this.writer.transport.destroy();
  }

  close(): void {
    this.writer.flush();
    this.closed();
    this.writer.transport.end();
  }

  /** Whatever a peer sends ends at most its own connection. */
  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (error instanceof ProtocolError) this.#fail(error);
      else {
        this.#context.log.error({ error }, 'a packet of MQTT could not be handled');
        this.end(reason.unspecified);
      }
    }
  }

  #fail(error: ProtocolError): void {
    if (this.#state === 'closed') return;
    if (error instanceof ConnectError) {
      // It is refused as any login, in the words of its version.
      this.#connect = { ...this.#connect, version: error.version };
      this.#state = 'authenticating';
    }
    if (error.isSilent || this.#state === 'opening') {
      countClosed(this.#context.counters, error.code);
      this.close();
    } else this.end(error.code, error.message);
  }

  #handle(header: number, body: Buffer): void {
    if (this.#state === 'open') this.#open?.handle(header, body);
    else if (this.#state === 'opening') this.#logIn(readConnect(header, body));
  }

  #logIn(packet: ConnectPacket): void {
    this.#connect = packet;
    this.#state = 'authenticating';
    requireNoMethod(packet);
    const request = requestOf(packet, this.#address);
    // The packets behind CONNECT wait, on the peer's side as far as possible.
    this.input.pauseReading();
    letIn(this.#context, packet, request, (answer, turn) => {
      this.#guard(() => this.#admit(packet, answer, request.clientId, turn));
      this.input.resumeReading();
    });
  }

  #admit(packet: ConnectPacket, answer: ConnectAnswer, clientId: string, turn = 0): void {
    if (this.#state !== 'authenticating') return;
    if (answer.kind === 'refused') {
      this.end(refusalCodes[answer.reason]);
      return;
    }
    const { client } = answer;
    this.input.moveTo(client.payer);
    const established = establish(this.#context, packet, { client, clientId, turn });
    const open = new ClientConnection(this.#context, this, { packet, established });
    this.#open = open;
    this.#state = 'open';
    open.begin(established);
  }

  /** Happens once, whoever ended the connection: nothing refers to it afterwards. */
  closed(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
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
  reasonCode: number,
  text: string | undefined,
): Buffer {
  const reasonString = wantsProblemInformation ? text : undefined;
  return encodeConnack({ version, reasonCode, sessionPresent: false, reasonString });
}

function countClosed({ closedByCode }: Counters, code: number): void {
  closedByCode.set(code, (closedByCode.get(code) ?? 0) + 1);
}
