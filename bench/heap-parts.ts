// Loaded into the service by bench/mqtt-parts.ts: what its main thread keeps, by kind.
import { renameSync, writeFileSync } from 'node:fs';
import { getHeapSnapshot, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

/** What a process keeps, in bytes. */
export interface HeapParts {
  readonly memory: NodeJS.MemoryUsage;
  /** Of each kind of object: how many there are, and their own bytes. */
  readonly kinds: Readonly<Record<string, readonly [count: number, bytes: number]>>;
}

interface Snapshot {
  readonly snapshot: {
    readonly meta: {
      readonly node_fields: readonly string[];
      readonly node_types: readonly [readonly string[], ...unknown[]];
    };
  };
  readonly nodes: readonly number[];
  readonly strings: readonly string[];
}

/** Names of texts and code are their contents: these are one kind each. */
const unnamed: ReadonlySet<string> = new Set(['string', 'sliced string', 'code', 'regexp']);

function kindsOf({ snapshot, nodes, strings }: Snapshot): HeapParts['kinds'] {
  const { node_fields: fields, node_types: types } = snapshot.meta;
  const place = (name: string) => fields.indexOf(name);
  const kinds = new Map<string, [number, number]>();
  for (let at = 0; at < nodes.length; at += fields.length) {
    const type = types[0][nodes[at + place('type')] ?? 0] ?? '';
    const name = strings[nodes[at + place('name')] ?? 0] ?? '';
    const kind = unnamed.has(type) ? type : `${type} ${name.slice(0, 60)}`;
    const [count, bytes] = kinds.get(kind) ?? [0, 0];
    kinds.set(kind, [count + 1, bytes + (nodes[at + place('self_size')] ?? 0)]);
  }
  return Object.fromEntries(kinds);
}

async function write(file: string): Promise<void> {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  const memory = process.memoryUsage();
  const pieces: Buffer[] = [];
  for await (const piece of getHeapSnapshot()) pieces.push(piece);
  const parts: HeapParts = { memory, kinds: kindsOf(JSON.parse(Buffer.concat(pieces).toString())) };
  // Under another name until it is whole: somebody waits for it.
  writeFileSync(`${file}.part`, JSON.stringify(parts));
  renameSync(`${file}.part`, file);
}

const file = process.env['HEAP_PARTS_FILE'];
if (isMainThread && file !== undefined) process.on('SIGUSR2', () => void write(file));
