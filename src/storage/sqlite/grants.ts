import type { DatabaseSync } from 'node:sqlite';
import type { GrantStore } from '../../domain/access/grant-store.ts';
import {
  type GrantRow,
  grantFromRow,
  ownedGrantFromRow,
  scopesFromText,
} from '../sql/grant-row.ts';
import { readAtOnce, readSafely } from './failures.ts';
import { createSelection } from './selection.ts';
import type { Writer } from './writer.ts';

const selectScopes = 'select scopes from grants where kind = ? and resource = ? and username = ?';
const selectOn = `
  select kind, resource, username, scopes from grants
  where kind = ? and resource = ? order by username`;
const ownedColumns = 'grants.kind, grants.resource, username, scopes, owner';
// Told where to begin: there are no statistics that could say that one has few of all grants.
const selectGivenBy = `
  select ${ownedColumns} from owned_resources cross join grants using (kind, resource)
  where owner = ? order by grants.kind, grants.resource, username`;
const selectReceivedBy = `
  select ${ownedColumns}
  from grants indexed by grants_by_username join owned_resources using (kind, resource)
  where username = ? order by grants.kind, grants.resource`;

/** Grants in SQLite. */
export function createGrantStore(options: {
  readonly reader: DatabaseSync;
  readonly writer: Writer;
}): GrantStore {
  const { reader, writer } = options;
  const scopes = createSelection<{ scopes: string }>(reader, selectScopes);
  const on = createSelection<GrantRow>(reader, selectOn);
  const givenBy = createSelection<GrantRow & { owner: string }>(reader, selectGivenBy);
  const receivedBy = createSelection<GrantRow & { owner: string }>(reader, selectReceivedBy);

  return {
    put: (grant) => writer.call('putGrant', { ...grant, scopes: JSON.stringify(grant.scopes) }),
    remove: (kind, resource, username) => writer.call('removeGrant', kind, resource, username),
    find: (kind, resource, username) =>
      readAtOnce(() => {
        const row = scopes.first(kind, resource, username);
        return row === undefined ? [] : scopesFromText(row.scopes);
      }),
    listOn: (kind, resource) => readSafely(() => on.all(kind, resource).map(grantFromRow)),
    listGivenBy: (owner) => readSafely(() => givenBy.all(owner).map(ownedGrantFromRow)),
    listReceivedBy: (username) => readSafely(() => receivedBy.all(username).map(ownedGrantFromRow)),
  };
}
