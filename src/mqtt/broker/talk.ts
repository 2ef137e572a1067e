import type { Peers } from '../../domain/datapoints/peers.ts';
import type { Message } from '../../domain/messaging/message.ts';
import type { SessionChange } from '../../domain/messaging/session-store.ts';
import { isJsonObject, type JsonValue, parseJson } from '../../lib/json.ts';

/** Messages between the brokers of processes that serve the same data. */
export type Talk =
  /** A client connected there: its connection here, if one began before that term, is over. */
  | ({ readonly kind: 'opened'; readonly turn: number } & Claimed)
  /** A client connects there: what is kept of its session is to be in the store. */
  | ({ readonly kind: 'wanted' } & Claimed)
  /** For those who subscribed, if they may have it. */
  | { readonly kind: 'message'; readonly message: Message }
  /** Messages that were claimed for groups may be claimed again. */
  | { readonly kind: 'freed' }
  /** Topics with another retained message than before. */
  | { readonly kind: 'retained'; readonly topics: readonly string[] };

/** The session of a client. */
export interface Claimed {
  readonly identity: string;
  readonly clientId: string;
  /** Whether its client wants nothing of what was. */
  readonly cleanStart: boolean;
}

const knownKinds: ReadonlySet<string> = new Set(['opened', 'wanted', 'freed', 'retained']);

/** As text, and back. */
export function writeTalk(talk: Talk): string {
  return JSON.stringify(
    talk.kind === 'message' ? { ...talk, message: jsonOfMessage(talk.message) } : talk,
  );
}

/** Undefined: a version that knows more wrote it. */
export function readTalk(text: string): Talk | undefined {
  let talk: unknown;
  try {
    talk = parseJson(text);
  } catch {
    return undefined;
  }
  if (!isJsonObject(talk as JsonValue)) return undefined;
  const { kind, message } = talk as Readonly<Record<string, JsonValue>>;
  if (kind === 'message') {
    const read = messageOfJson(message);
    return read && { kind, message: read };
  }
  // Processes of one version wrote it.
  return typeof kind === 'string' && knownKinds.has(kind) ? (talk as Talk) : undefined;
}

/** A message as text can hold it. */
export function jsonOfMessage({ payload, properties, packetId: _, ...rest }: Message): JsonValue {
  return {
    ...rest,
    payload: Buffer.from(payload).toString('base64'),
    ...(properties !== undefined && { properties: Buffer.from(properties).toString('base64') }),
  } as unknown as JsonValue;
}

/** Reads a message that a process of this service wrote; undefined where it is none. */
export function messageOfJson(value: JsonValue | undefined): Message | undefined {
  if (value === undefined || !isJsonObject(value)) return undefined;
  const { payload, properties, ...rest } = value;
  if (typeof payload !== 'string') return undefined;
  return {
    ...rest,
    payload: Buffer.from(payload, 'base64'),
    ...(typeof properties === 'string' && { properties: Buffer.from(properties, 'base64') }),
  } as unknown as Message;
}

/** Messages to the brokers of other processes: topics whose retained message changed. */
export const retainedNotes =
  (peers: Pick<Peers, 'entryOf'>) =>
  (changes: readonly SessionChange[]): readonly string[] => {
    const topics = new Set<string>();
    for (const change of changes) {
      if (change.kind === 'retained') topics.add(change.message.topic);
      else if (change.kind === 'unretained') topics.add(change.topic);
    }
    if (topics.size === 0) return [];
    return [peers.entryOf(writeTalk({ kind: 'retained', topics: [...topics] }))];
  };
