import { idIsOneOf, idsInParts } from '../api/device-query.ts';
import { apiPaths } from '../api/paths.ts';
import type { SharedKind } from '../api/sharing-words.ts';
import type { Device, Gateway, Project } from '../api/types.ts';
import { withoutPhotos } from './list-pages.ts';
import { useResource } from './resource.ts';
import { api, username } from './session.ts';

/** Something by its kind and id. */
export interface Thing {
  readonly kind: SharedKind;
  readonly id: string;
}

const pageMax = 1_000;

export interface Names {
  /** What a thing is called; its id until that is known, and where it has no name. */
  readonly nameOf: (thing: Thing) => string;
  /** No name will change any more: what is below them may be painted. */
  readonly isSettled: boolean;
}

/** What things are called. */
export function useNames(things: readonly Thing[]): Names {
  const key = things.map(({ kind, id }) => `${kind} ${id}`).toSorted();
  const { value, error } = useResource(
    things.length === 0 ? undefined : `names ${username.value} ${key.join(' ')}`,
    (signal) => loadNames(things, signal),
  );
  return {
    nameOf: ({ kind, id }) => value?.get(`${kind} ${id}`) ?? id,
    isSettled: things.length === 0 || value !== undefined || error !== undefined,
  };
}

async function loadNames(
  things: readonly Thing[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const ids = (kind: SharedKind): readonly string[] => [
    ...new Set(things.filter((thing) => thing.kind === kind).map(({ id }) => id)),
  ];
  const found = await Promise.all([
    loadDevices(ids('device'), signal),
    ids('gateway').length === 0 ? [] : loadPage<Gateway>(apiPaths.gateways, signal),
    ids('project').length === 0 ? [] : loadPage<Project>(apiPaths.projects, signal),
  ]);
  const kinds = ['device', 'gateway', 'project'] as const;
  return new Map(
    kinds.flatMap((kind, place) =>
      (found[place] ?? []).map(({ id, name }) => [`${kind} ${id}`, name ?? id] as const),
    ),
  );
}

const loadPage = <Item>(path: string, signal: AbortSignal): Promise<readonly Item[]> =>
  api.getJson<readonly Item[]>({ path, query: { limit: pageMax }, signal });

async function loadDevices(
  ids: readonly string[],
  signal: AbortSignal,
): Promise<readonly Device[]> {
  const answers = await Promise.all(
    [...idsInParts(ids)].map((some) =>
      api.getJson<readonly Device[]>({
        ...{
          path: apiPaths.devices,
          query: { q: idIsOneOf(some), limit: some.length, ...withoutPhotos },
          signal,
        },
      }),
    ),
  );
  return answers.flat();
}
