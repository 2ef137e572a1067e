import type { Term } from '../api/types.ts';
import { type Resource, useResource } from './resource.ts';
import { api } from './session.ts';

type Vocabulary = 'sensor_kinds' | 'quantity_kinds' | 'units' | 'actuator_kinds';

/** The first answer is for all who ask, and does not change meanwhile. */
const loads = new Map<Vocabulary, Promise<readonly Term[]>>();

function load(name: Vocabulary): Promise<readonly Term[]> {
  const known = loads.get(name);
  if (known !== undefined) return known;
  const loading = api.getJson<readonly Term[]>({ path: `/ontologies/${name}` });
  loads.set(name, loading);
  loading.catch(() => loads.delete(name));
  return loading;
}

/** The terms that pick lists offer; nothing has to be one of them. */
export function useVocabulary(name: Vocabulary): Resource<readonly Term[]> {
  return useResource(`vocabulary ${name}`, () => load(name), { isKept: true });
}
