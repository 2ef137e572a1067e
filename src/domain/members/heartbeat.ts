import type { Log } from '../../lib/log.ts';
import { memberLimits } from './member-limits.ts';
import type { Member, MemberStore } from './member-store.ts';

/** Callbacks about the members, as this process sees them. */
export interface HeartbeatListener {
  /** Of those who serve, this process included: after every beat. */
  onMembers?(members: readonly Member[]): void;
  /** A member came or ended, or both between two beats; also called at the first beat. */
  onChanged?(): void;
  /** A member that served has ended, by itself or lost. */
  onEnded?(member: Member): void;
  /** The others gave this process up. */
  onLost?(): void;
}

/**
 * Publishes each second that this process lives, and gives up members that do not. No clocks are
 * compared: a member is given up when it did not move while this process beat a few times, a second
 * apart. Where the database is away no member beats, so none is given up.
 */
export function createHeartbeat(options: {
  readonly store: MemberStore;
  readonly listener: HeartbeatListener;
  readonly log: Log;
}) {
  const { store, listener, log } = options;
  /** Members whose beat stood still for some of our beats. */
  const silences = new Map<number, { readonly beat: number; readonly since: number }>();
  let known: readonly Member[] = [];
  let states = '';
  let beats = 0;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let isOver = false;

  async function beat(): Promise<void> {
    const found = await store.beat();
    if (isOver) return;
    if (found === 'lost') {
      isOver = true;
      log.error({}, 'the other processes of Kipimo gave this one up');
      listener.onLost?.();
      return;
    }
    beats += 1;
    const serving = found.filter(({ state }) => state === 'serving');
    tellEnded(found);
    known = serving;
    listener.onMembers?.(serving);
    const before = states;
    states = found.map(({ id, state }) => `${id} ${state}`).join();
    if (states !== before) listener.onChanged?.();
    for (const member of serving) await judge(member);
  }

  function tellEnded(found: readonly Member[]): void {
    for (const { id } of known) {
      const now = found.find((member) => member.id === id);
      if (now?.state === 'serving') continue;
      silences.delete(id);
      // A member of whom nothing is left was lost long ago: this process was away itself.
      listener.onEnded?.(now ?? { id, beat: 0, state: 'lost' });
    }
  }

  async function judge({ id, beat: heard }: Member): Promise<void> {
    if (id === store.own) return;
    const silence = silences.get(id);
    if (silence?.beat !== heard) {
      silences.set(id, { beat: heard, since: beats });
      return;
    }
    if (beats - silence.since < memberLimits.silentBeats) return;
    const outcome = await store.giveUp(id, heard);
    if (outcome === 'lost') log.warn({ member: id }, 'gave up a process that was silent');
  }

  function next(): void {
    timer = setTimeout(() => {
      running = beat()
        .catch((error: unknown) =>
          log.debug({ err: error }, 'a heartbeat did not reach the others'),
        )
        .finally(() => {
          running = undefined;
          if (!isOver) next();
        });
    }, memberLimits.beatMs);
    timer.unref();
  }

  return {
    start: next,
    /** Resolves when no beat is under way. */
    async stop(): Promise<void> {
      isOver = true;
      clearTimeout(timer);
      await running;
    },
    /** Beats once, as each second; for tests. */
    beat,
    /** Members that serve, this process included, at the last beat. */
    serving: (): readonly Member[] => known,
  };
}
