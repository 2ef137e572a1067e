import type { Budget } from '../../domain/budgets/budget.ts';
import type { Payer } from '../../domain/budgets/payer.ts';

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
