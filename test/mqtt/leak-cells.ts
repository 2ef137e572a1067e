import assert from 'node:assert/strict';
import { type Moment, mayGet, type Receiver } from './leak-oracle.ts';
import {
  type LeakWorld,
  markIn,
  type Sent,
  topicsOf,
  type Version,
  versions,
} from './leak-world.ts';
import type { Client } from './mqtt-clients.ts';

/** Longer than any message takes on a busy machine. */
const patienceMs = 60_000;

const namedValues = 'devices/+/sensors/+/values';

/** Filters by style; those that name `values` get arrays too. */
export const styles: Readonly<Record<string, readonly string[] | 'exact'>> = {
  exact: 'exact',
  plus: [
    'devices/+/sensors/+/value',
    'devices/+/actuators/+/value',
    'devices/+/+/talk',
    'gateways/+/+',
    namedValues,
  ],
  hash: ['#'],
  overlapping: ['#', 'devices/#', '+/+/+/+/value', 'gateways/+/#', namedValues],
  /** Each client is a group of its own. */
  shared: ['devices/#', 'gateways/#', namedValues],
  group: ['$share/all/devices/#', '$share/all/gateways/#'],
};

const namesValues = (style: string): boolean => style !== 'hash' && style !== 'group';

/** A client of the matrix. */
export interface Cell {
  readonly name: string;
  readonly receiver: Receiver;
  readonly version: Version;
  readonly style: string;
  readonly clientId: string;
  client: Client;
}

/** What was sent, with the moments at which the rights are asked for. */
export type SentAt = Sent & { readonly moments: readonly Moment[] };

function filtersOf(
  world: LeakWorld,
  { style, clientId }: Pick<Cell, 'style' | 'clientId'>,
): readonly string[] {
  const known = styles[style];
  if (known === undefined || known === 'exact') return topicsOf(world.places);
  return style === 'shared' ? known.map((filter) => `$share/${clientId}/${filter}`) : known;
}

/** Connects one client for each receiver, version and style; all filters are granted. */
export async function openCells(
  world: LeakWorld,
  label: string,
  names: readonly string[],
  isKept = false,
): Promise<readonly Cell[]> {
  const cells = world.receivers.flatMap((receiver, index) =>
    versions.flatMap((version) => names.map((style) => ({ receiver, index, version, style }))),
  );
  return Promise.all(
    cells.map(async ({ receiver, index, version, style }): Promise<Cell> => {
      const clientId = `${label.replaceAll(' ', '-')}-${index}-${version}-${style}`;
      const cell = { receiver, version, style, clientId };
      const client = await reconnect(world, cell, isKept);
      const granted = await client.subscribe(filtersOf(world, cell), 1);
      // What one may not see is subscribed to like anything else [contract 8].
      assert.ok(
        granted.every(({ qos }) => qos === 1),
        `${clientId}: ${JSON.stringify(granted)}`,
      );
      return { ...cell, name: `${receiver.name}, ${label}, ${version}, ${style}`, client };
    }),
  );
}

/** Connects the client again, without a subscription of its own. */
export function reconnect(
  world: LeakWorld,
  { receiver, version, clientId }: Pick<Cell, 'receiver' | 'version' | 'clientId'>,
  isKept: boolean,
): Promise<Client> {
  return world.connect(receiver, version, {
    clientId,
    ...(isKept && { clean: false }),
    ...(isKept && version === 5 && { properties: { sessionExpiryInterval: 3_600 } }),
  });
}

/** A message as it is compared. */
export const keyOf = ({ topic, mark }: Pick<Sent, 'topic' | 'mark'>): string => `${topic} ${mark}`;

/** What the cell is to get of these, by the oracle. */
export function expectedOf(cell: Cell, sent: readonly SentAt[]): readonly string[] {
  return sent
    .filter(({ kind }) => kind !== 'values' || namesValues(cell.style))
    .filter(({ kind, place, moments }) =>
      moments.every((moment) => mayGet(cell.receiver, kind, place, moment)),
    )
    .map(keyOf);
}

/** Waits until the client has the last of what it is to get. */
export async function untilLast(cell: Cell, expected: readonly string[]): Promise<void> {
  const { client } = cell;
  const last = expected.findLast((text) => !text.includes('/values'));
  if (last !== undefined) await until([cell], () => gotBy(client).includes(last));
}

/** Waits until it holds of what the clients got. */
export async function until(cells: readonly Cell[], holds: () => boolean): Promise<void> {
  const { promise: given, reject } = Promise.withResolvers<never>();
  const names = cells.length === 1 ? cells[0]?.name : `all ${cells.length} clients`;
  const impatience = setTimeout(() => reject(new Error(`${names}: waiting in vain`)), patienceMs);
  try {
    while (!holds()) {
      const more = cells.map(({ client }) => client.got(client.texts.length + 1));
      await Promise.race([...more, given]);
    }
  } finally {
    clearTimeout(impatience);
  }
}

/** What the client got, as "topic mark". */
export const gotBy = (client: Client): readonly string[] =>
  client.texts.map((text) => {
    const at = text.indexOf(' ');
    return keyOf({ topic: text.slice(0, at), mark: markIn(text.slice(at)) });
  });

/** What is wrong with what the client got. */
export function faultsOf(cell: Cell, expected: readonly string[]): readonly string[] {
  const got = gotBy(cell.client);
  const [gotSet, expectedSet] = [new Set(got), new Set(expected)];
  return [
    ...got.filter((text) => !expectedSet.has(text)).map((text) => `${cell.name}: leaked ${text}`),
    ...expected.filter((text) => !gotSet.has(text)).map((text) => `${cell.name}: lacks ${text}`),
    ...(got.length === gotSet.size ? [] : [`${cell.name}: got something twice`]),
  ];
}

/** Ends the clients; what is kept of their sessions stays. */
export async function close(cells: readonly Cell[]): Promise<void> {
  await Promise.all(cells.map(({ client }) => client.mqtt.endAsync()));
}
