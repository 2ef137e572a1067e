import { tryJson } from '../../lib/json.ts';
import { isRecord } from '../../lib/record.ts';
import type { GatewayId } from '../ids.ts';

/** Which gateways are connected right now; kept in memory, as connections are. */
export type Presence = ReturnType<typeof createPresence>;

/** Without connections at first. Keeps as much as there are of them; they have their own limit. */
export function createPresence() {
  // Counted: a client that takes over its own session connects before its old connection ends.
  const connections = new Map<GatewayId, number>();

  function leave(id: GatewayId): void {
    const count = (connections.get(id) ?? 0) - 1;
    if (count > 0) connections.set(id, count);
    else connections.delete(id);
  }

  return {
    /** A client that is this gateway connected; call the answer once, when it is gone. */
    enter(id: GatewayId): () => void {
      connections.set(id, (connections.get(id) ?? 0) + 1);
      let isHere = true;
      return () => {
        if (isHere) leave(id);
        isHere = false;
      };
    },
    isConnected: (id: GatewayId): boolean => connections.has(id),
  };
}

/** Which gateways are connected to any process. */
export type SharedPresence = ReturnType<typeof createSharedPresence>;

/** `here` and `gone`: gateways; `asks`: the others are to publish which ones they have. */
interface Told {
  readonly member: number;
  readonly here: readonly string[];
  readonly gone: readonly string[];
  readonly asks: boolean;
}

/** Gateways of one text. */
const idsPerText = 1_000;
/** Wait before a message that failed is published again. */
const retryMs = 1_000;

/** Gateways by the process that has their clients; of the others it keeps what they publish. */
export function createSharedPresence(talk: {
  /** The number of this process. */
  readonly own: number;
  /** Resolves when it will reach the others; may reject. */
  tell(text: string): Promise<unknown>;
  onTold(listener: (text: string) => Promise<void>): void;
}) {
  const local = createPresence();
  const here = new Set<GatewayId>();
  const others = new Map<number, Set<string>>();
  /** Gateways whose state is to be published to the others. */
  let untold = new Set<GatewayId>();
  let isTelling = false;

  function changed(id: GatewayId): void {
    if (local.isConnected(id)) here.add(id);
    else here.delete(id);
    untold.add(id);
    if (!isTelling) {
      isTelling = true;
      setImmediate(() => void tellAll());
    }
  }

  async function tellAll(): Promise<void> {
    while (untold.size > 0) {
      const ids = [...untold].slice(0, idsPerText);
      for (const id of ids) untold.delete(id);
      const isHere = (id: GatewayId): boolean => here.has(id);
      try {
        await tell({ here: ids.filter(isHere), gone: ids.filter((id) => !isHere(id)) });
      } catch {
        untold = new Set([...ids, ...untold]);
        await new Promise((resolve) => setTimeout(resolve, retryMs).unref());
      }
    }
    isTelling = false;
  }

  const tell = (about: Partial<Told>): Promise<unknown> =>
    talk.tell(
      JSON.stringify({
        ...{ kind: 'presence', member: talk.own, here: [], gone: [], asks: false },
        ...about,
      }),
    );

  talk.onTold(async (text) => {
    const told = readTold(text);
    if (told === undefined) return;
    const theirs = others.get(told.member) ?? new Set();
    for (const id of told.here) theirs.add(id);
    for (const id of told.gone) theirs.delete(id);
    if (theirs.size > 0) others.set(told.member, theirs);
    else others.delete(told.member);
    if (told.asks) for (const id of here) changed(id);
  });

  return {
    enter(id: GatewayId): () => void {
      const leave = local.enter(id);
      changed(id);
      return () => {
        leave();
        changed(id);
      };
    },
    isConnected: (id: GatewayId): boolean =>
      local.isConnected(id) || others.values().some((theirs) => theirs.has(id)),
    /** Asks the others. */
    start(): void {
      tell({ asks: true }).catch(() => undefined);
    },
    /** Keeps the gateways of the processes that serve: those of others are not connected now. */
    keep(members: readonly number[]): void {
      for (const member of others.keys()) if (!members.includes(member)) others.delete(member);
    },
  };
}

/** Undefined: it is about something else. */
function readTold(text: string): Told | undefined {
  const told: unknown = text.startsWith('{"kind":"presence"') ? tryJson(text) : undefined;
  // Processes of one version wrote it.
  return isRecord(told) ? (told as unknown as Told) : undefined;
}
