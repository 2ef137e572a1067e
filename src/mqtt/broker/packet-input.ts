import { type Payer, payerAt } from '../../domain/budgets/payer.ts';
import { requireConnect } from '../packets/connect-decoder.ts';
import { FrameReader, type PartialBudget } from '../packets/frame-reader.ts';
import { bufferOf } from '../packets/publish-encoder.ts';
import type { Transport } from '../transport.ts';
import type { BrokerContext } from './broker-context.ts';
import { ByteHold } from './byte-hold.ts';
import { ReadingSlice, type Source } from './work-shares.ts';

/** A sensor's value comes through however much of large packets is under way. */
const partialRoom = { freeBytes: 4_096, stepBytes: 1 };

/** Cuts what arrives on one connection into packets, and decides when it is read. */
export class PacketInput implements Source {
  readonly #transport: Transport;
  readonly #guard: (work: () => void) => void;
  readonly #reader: FrameReader;
  readonly #hold: ByteHold;
  readonly #carried: PartialBudget;
  readonly #turn: ReadingSlice;
  /** The payer of the connection: the address, until its client has logged in. */
  payer: Payer;
  #isFirst = true;
  #login: AbortController | undefined;
  #isOver = false;
  /** Reasons not to read. */
  #pauses = 0;

  constructor(
    context: BrokerContext,
    options: {
      readonly transport: Transport;
      readonly address: string;
      readonly onPacket: (header: number, body: Buffer) => void;
      /** Runs work that may throw ProtocolError. */
      readonly guard: (work: () => void) => void;
    },
  ) {
    this.#transport = options.transport;
    this.#guard = options.guard;
    this.payer = payerAt(options.address);
    this.#turn = new ReadingSlice(context.workShares, context.readers, this);
    this.#hold = new ByteHold(context.partialBytes, this.payer, partialRoom);
    this.#carried = this.#hold.part();
    this.#reader = new FrameReader(context.frameLimits, this.#hold.part(), (header, body) => {
      options.onPacket(header, body);
      this.#turn.packetHandled();
    });
  }

  get isPaused(): boolean {
    return this.#pauses > 0;
  }

  /** Whether something has arrived that is not handled yet. */
  get isWaiting(): boolean {
    return this.#reader.isWaiting;
  }

  receive(chunk: Uint8Array): void {
    this.#turn.arrived(chunk.length);
    this.#guard(() => {
      // Known by its first byte, before the rest of a packet of whatever it is has arrived.
      if (this.#isFirst && chunk.length > 0) requireConnect(chunk[0] ?? 0);
      this.#isFirst = false;
      this.#reader.read(bufferOf(chunk));
    });
    this.#turn.end();
  }

  pauseReading(): void {
    this.#pauses += 1;
    this.#reader.stop();
    this.#transport.pause();
  }

  /** Pauses while the client is let in; the signal aborts when the connection is over by then. */
  pauseForLogin(): AbortSignal {
    this.pauseReading();
    this.#login = new AbortController();
    return this.#login.signal;
  }

  resumeReading(): void {
    this.#login = undefined;
    this.#pauses -= 1;
    if (this.#pauses > 0 || this.#isOver) return;
    this.#transport.resume();
    this.#turn.resumed();
    this.#guard(() => this.#reader.resume());
    this.#turn.end();
  }

  /** Reserves so many bytes of packets for their carrier; false: the budget refuses. */
  carry(bytes: number): boolean {
    return this.#carried.hold(bytes);
  }

  /** Charges `payer` from now on: the client has logged in. */
  moveTo(payer: Payer): void {
    this.#hold.moveTo(payer);
    this.payer = payer;
  }

  /** The connection is over: nothing more is read. */
  dispose(): void {
    this.#isOver = true;
    this.#login?.abort();
    this.#reader.dispose();
    this.#carried.hold(0);
  }
}
