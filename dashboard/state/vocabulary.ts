import type { Term } from '../api/types.ts';
import { type Resource, useResource } from './resource.ts';
import { api } from './session.ts';

type Vocabulary = 'sensor_kinds' | 'quantity_kinds' | 'units' | 'actuator_kinds';

/** The terms that pick lists offer; nothing has to be one of them. */
export function useVocabulary(name: Vocabulary): Resource<readonly Term[]> {
  return useResource(
    `vocabulary ${name}`,
    (signal) => api.getJson<readonly Term[]>({ path: `/ontologies/${name}`, signal }),
    { isKept: true },
  );
}
