import { PayerQueues } from '../../lib/scheduling/payer-queues.ts';

/** Ends a wait: with a place, or without. */
type EndOfWait = (hasPlace: boolean) => void;

interface Host {
  underWay: number;
  readonly queue: PayerQueues<EndOfWait>;
}

/** Bounds what one host may delay. Work waits only while all places are taken. */
export function createHostQueues(options: {
  readonly underWayMax: number;
  /** Over all hosts. */
  readonly waitingMax: number;
  readonly waitMs: number;
  /** Called when one more waits: its slot in the channel is free for others. */
  readonly onWait: () => void;
}) {
  const { underWayMax, waitingMax, waitMs, onWait } = options;
  const hosts = new Map<string, Host>();
  const waiting = new Set<EndOfWait>();
  let isClosed = false;

  function wait({ queue }: Host, payer: string): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => end(false), waitMs);
      function end(hasPlace: boolean): void {
        clearTimeout(timer);
        queue.remove(payer, end);
        waiting.delete(end);
        resolve(hasPlace);
      }
      queue.push(payer, end);
      waiting.add(end);
      onWait();
    });
  }

  /** Hands the place on without giving it up in between. */
  function leave(name: string, host: Host): void {
    const next = host.queue.shift();
    if (next !== undefined) {
      next(true);
      return;
    }
    host.underWay -= 1;
    if (host.underWay === 0) hosts.delete(name);
  }

  return {
    /**
     * Does the work when the host has a place for it. Answers `busy` without having begun when that
     * takes longer than `waitMs`, when too many wait already, and after `close`.
     */
    async run<Result>(
      { host: name, payer }: { readonly host: string; readonly payer: string },
      work: () => Promise<Result>,
    ): Promise<Result | 'busy'> {
      const host = hosts.get(name) ?? { underWay: 0, queue: new PayerQueues() };
      if (host.underWay < underWayMax) {
        hosts.set(name, host);
        host.underWay += 1;
      } else {
        if (isClosed || waiting.size >= waitingMax) return 'busy';
        if (!(await wait(host, payer))) return 'busy';
      }
      try {
        return await work();
      } finally {
        leave(name, host);
      }
    },
    /** How many wait for a place. */
    waiting: (): number => waiting.size,
    /** Ends all waits; no work waits any more. */
    close(): void {
      isClosed = true;
      for (const end of [...waiting]) end(false);
    },
  };
}

/** Work for hosts that users name: few at a time for each host, one payer after the other. */
export type HostQueues = ReturnType<typeof createHostQueues>;

/** Work for networks that many names may lead to: so much at a time for each. */
export function createNetworkShares(underWayMax: number) {
  const underWay = new Map<string, number>();
  return {
    /** Does the work, or answers `busy` at once. */
    async run<Result>(
      network: string | undefined,
      work: () => Promise<Result>,
    ): Promise<Result | 'busy'> {
      if (network === undefined) return work();
      const before = underWay.get(network) ?? 0;
      if (before >= underWayMax) return 'busy';
      underWay.set(network, before + 1);
      try {
        return await work();
      } finally {
        const left = (underWay.get(network) ?? 1) - 1;
        if (left > 0) underWay.set(network, left);
        else underWay.delete(network);
      }
    },
  };
}

/** The host and port that a URL leads to, in one spelling; undefined when it leads nowhere. */
export function hostOf(url: string | undefined): string | undefined {
  if (url === undefined || !URL.canParse(url)) return undefined;
  const { hostname, port } = new URL(url);
  return hostname === '' ? undefined : `${hostname.replace(/\.$/, '')}:${port}`;
}
