import { type Budget, type Payer, payerAt } from '../../domain/budgets/budget.ts';
import { latestTurnAt } from '../../lib/event-loop.ts';
import type { FairSlices } from '../../lib/scheduling/fair-slices.ts';
import type { Transport } from '../broker.ts';
import { FrameReader, type PartialBudget } from '../packets/frame-reader.ts';
import { requireConnect } from '../packets/packet-decoder.ts';
import { bufferOf } from '../packets/packet-encoder.ts';
import type { BrokerContext } from './broker-context.ts';

/** A sensor's value comes through however much of large packets is under way. */
const partialRoom = { freeBytes: 4_096, stepBytes: 1 };
/** How many packets are handled before what they cause is, and the clock is read. */
const packetsPerLook = 64;
/** How long packets of a connection are handled, those that waited with others in one slice. */
const handledMs = 5;
const sliceMs = 2;

/**
 * Cuts what arrives on one connection into packets, and decides when it is read: packets beyond the
 * quota of its payer wait for the next slice.
 */
export class PacketInput {
  readonly #context: BrokerContext;
  readonly #transport: Transport;
  readonly #guard: (work: () => void) => void;
  readonly #reader: FrameReader;
  readonly #hold: ByteHold;
  readonly #carried: PartialBudget;
  /** The payer of the connection: the address, until its client has logged in. */
  payer: Payer;
  #isFirst = true;
  #login: AbortController | undefined;
  #isOver = false;
  /** Reasons not to read. */
  #pauses = 0;
  readonly #clock = new ReadingClock();
  /** Whether it waits for the next slice of its payer. */
  #isBehind = false;

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
    this.#context = context;
    this.#transport = options.transport;
    this.#guard = options.guard;
    this.payer = payerAt(options.address);
    this.#hold = new ByteHold(context.partialBytes, this.payer, partialRoom);
    this.#carried = this.#hold.part();
    const room = this.#hold.part();
    this.#reader = new FrameReader(context.frameLimits, room, (header, body, isMore) => {
      options.onPacket(header, body);
      if (!this.#clock.packetHandled(isMore)) return;
      if (this.#clock.isOver(this.#slices)) this.#waitForSlice();
      else this.#getOn();
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
    const slice = this.isPaused ? undefined : this.#slices.enter(this.payer);
    if (this.isPaused) this.#transport.pause();
    else if (slice === undefined) this.#clock.begin();
    else this.#waitForSlice(slice);
    this.#guard(() => {
      // Known by its first byte, before the rest of a packet of whatever it is has arrived.
      if (this.#isFirst && chunk.length > 0) requireConnect(chunk[0] ?? 0);
      this.#isFirst = false;
      this.#reader.read(bufferOf(chunk));
    });
  }

  get #slices(): FairSlices {
    return this.#context.readers(this.payer, this.#isFirst);
  }

  /** Goes on, or waits for its slice, behind what the packets cause at once: refusals, say. */
  #getOn(): void {
    this.#pauses += 1;
    this.#reader.stop();
    const goOn = (): void => {
      if (this.#clock.isOver(this.#slices)) this.#waitForSlice();
      this.#readOn();
    };
    queueMicrotask(() => process.nextTick(goOn));
  }

  #waitForSlice(slice?: Promise<void>): void {
    if (this.#isBehind) return;
    this.pauseReading();
    void this.#readInSlice(slice);
  }

  async #readInSlice(slice = this.#slices.next(this.payer)): Promise<void> {
    this.#isBehind = true;
    await slice;
    this.#isBehind = false;
    this.#clock.begin(sliceMs);
    this.#readOn();
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

  resumeAfterLogin(): void {
    this.#login = undefined;
    this.#clock.begin();
    this.#readOn();
  }

  /**
   * Ends a pause. Publishes may be answered in the same pass of the event loop, again and again:
   * what waits is read until the time that began with the first of them is over, then in a slice.
   */
  resumeReading(): void {
    if (this.#isBehind || !this.#clock.isOver(this.#slices)) this.#readOn();
    else void this.#readInSlice();
  }

  /** Ends a pause: a stream hands on more as soon as it may, so what waits is handled before. */
  #readOn(): void {
    this.#pauses -= 1;
    if (this.#pauses > 0 || this.#isOver) return;
    this.#guard(() => this.#reader.resume());
    if (!this.isPaused && !this.#isOver) this.#transport.resume();
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

/** The time that the packets of one connection have taken since they were read. */
class ReadingClock {
  /** Of one turn, whatever they came in: a read may bring many messages of a WebSocket. */
  #packets = 0;
  #turnAt = 0;
  #endsAt = 0;

  begin(forMs = handledMs): void {
    if (this.#turnAt !== latestTurnAt()) this.#packets = 0;
    this.#turnAt = latestTurnAt();
    this.#endsAt = performance.now() + forMs;
  }

  /** Whether the clock is to be read. */
  packetHandled(isMore: boolean): boolean {
    this.#packets += 1;
    // Behind the last of a read mostly nothing comes in this turn that would have to wait.
    if (this.#packets < (isMore ? packetsPerLook : packetsPerLook + 1)) return false;
    this.#packets = 0;
    return true;
  }

  /** Whether the next packet has to wait. */
  isOver(slices: FairSlices): boolean {
    const now = performance.now();
    return now > this.#endsAt || slices.isTurnOver(now);
  }
}

/**
 * The bytes of a budget that one connection reserves. Up to `freeBytes` it takes none, so that
 * small packets come through however full the budget is; beyond, it takes them in steps.
 */
export class ByteHold {
  readonly #budget: Budget;
  readonly #freeBytes: number;
  readonly #stepBytes: number;
  #payer: Payer;
  /** Bytes that its parts reserve. */
  #held = 0;
  /** Bytes taken of the budget. */
  #bytes = 0;

  constructor(
    budget: Budget,
    payer: Payer,
    options: { readonly freeBytes: number; readonly stepBytes: number },
  ) {
    this.#budget = budget;
    this.#payer = payer;
    this.#freeBytes = options.freeBytes;
    this.#stepBytes = options.stepBytes;
  }

  /** Charges `payer` from now on: the client has logged in. */
  moveTo(payer: Payer): void {
    if (this.#bytes > 0) {
      this.#budget.release(this.#payer, this.#bytes);
      this.#budget.add(payer, this.#bytes);
    }
    this.#payer = payer;
  }

  /** Counts the bytes of one part beside those of the other parts. */
  part(): { hold(bytes: number): boolean } {
    let own = 0;
    return {
      hold: (bytes) => {
        const held = this.#held + bytes - own;
        if (!this.hold(held)) return false;
        this.#held = held;
        own = bytes;
        return true;
      },
    };
  }

  /** Reserves at least so many bytes; false: the budget refuses. */
  grow(bytes: number): boolean {
    return bytes <= this.#freeBytes || bytes <= this.#bytes || this.hold(bytes);
  }

  /** Reserves less once no more than a quarter is needed: not for each of many small ones. */
  shrink(bytes: number): void {
    if (bytes * 4 <= this.#bytes) this.hold(bytes);
  }

  /** Reserves so many bytes instead of those before; false: the budget refuses. */
  hold(bytes: number): boolean {
    if (this.#bytes === 0 && bytes <= this.#freeBytes) return true;
    const step = this.#stepBytes;
    const counted = bytes <= this.#freeBytes ? 0 : Math.ceil(bytes / step) * step;
    const more = counted - this.#bytes;
    if (more === 0) return true;
    if (more > 0 && this.#budget.take(this.#payer, more) !== undefined) return false;
    if (more < 0) this.#budget.release(this.#payer, -more);
    this.#bytes = counted;
    return true;
  }
}
