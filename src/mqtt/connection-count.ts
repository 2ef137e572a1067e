import { limits } from '../domain/limits.ts';

/** How many connections there are, in all and from each address. */
export interface ConnectionCount {
  /** Counts one more, until the answer is called; undefined: there are too many. */
  enter(address: string): (() => void) | undefined;
}

/** A reverse proxy on this machine brings everybody's connections from one address. */
const thisMachine = /^(::ffff:)?127\.|^::1$/;

export function createConnectionCount(
  max: { readonly total: number; readonly perAddress: number } = {
    total: limits.mqttConnectionsMax,
    perAddress: limits.mqttConnectionsPerAddressMax,
  },
): ConnectionCount {
  const byAddress = new Map<string, number>();
  let total = 0;

  function leave(address: string): void {
    total -= 1;
    const count = (byAddress.get(address) ?? 0) - 1;
    if (count > 0) byAddress.set(address, count);
    else byAddress.delete(address);
  }

  return {
    enter(address) {
      const count = byAddress.get(address) ?? 0;
      const isCrowded = count >= max.perAddress && !thisMachine.test(address);
      if (total >= max.total || isCrowded) return undefined;
      total += 1;
      byAddress.set(address, count + 1);
      let isHere = true;
      return () => {
        if (isHere) leave(address);
        isHere = false;
      };
    },
  };
}
