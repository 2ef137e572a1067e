import type { MyGrants } from './types.ts';

/** The ids of what is shared with somebody, by kind. */
export function receivedIds(grants: MyGrants, kind: string): readonly string[] {
  const ids = grants.received.filter((grant) => grant.kind === kind);
  return [...new Set(ids.map(({ resource }) => resource))];
}
