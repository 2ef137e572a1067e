import type { DatabaseSync } from 'node:sqlite';
import { applyPatch, type Patch } from '../sql/patch.ts';
import { type ProjectRow, projectColumns, projectFromRow } from '../sql/project-row.ts';
import { createSelection, insertInto } from './selection.ts';

const insertProject = `${insertInto('projects', projectColumns)} on conflict do nothing`;
const selectProject = `select ${projectColumns} from projects where id = ?`;
const updateDetails = 'update projects set details = ? where id = ?';
const deleteProject = 'delete from projects where id = ?';
const pruneMembers = `
  delete from project_members where project = ? and kind = ?
    and resource not in (select value from json_each(?))`;
const addMembers = `
  insert or ignore into project_members (project, kind, resource)
  select ?, ?, value from json_each(?)`;
const deleteGrantsOn = `delete from grants where kind = 'project' and resource = ?`;

/** What the writer thread does to projects. */
export function createProjectWrites(database: DatabaseSync) {
  const stored = createSelection<ProjectRow>(database, selectProject);
  const insert = database.prepare(insertProject);
  const update = database.prepare(updateDetails);
  const remove = database.prepare(deleteProject);
  const prune = database.prepare(pruneMembers);
  const add = database.prepare(addMembers);
  const removeGrants = database.prepare(deleteGrantsOn);

  /** Keeps what grants on the project reach in step with what it lists. */
  function listMembers(row: ProjectRow, change: { kinds: readonly string[]; isOwners: boolean }) {
    const { id, deviceIds, gatewayIds } = projectFromRow(row);
    for (const kind of change.kinds) {
      const ids = JSON.stringify(kind === 'device' ? deviceIds : gatewayIds);
      prune.run(id, kind, ids);
      if (change.isOwners) add.run(id, kind, ids);
    }
  }

  return {
    insertProject(row: ProjectRow): 'inserted' | 'duplicate' {
      if (insert.run({ ...row }).changes === 0) return 'duplicate';
      listMembers(row, { kinds: ['device', 'gateway'], isOwners: true });
      return 'inserted';
    },
    updateProject(
      id: string,
      changes: Patch,
      listing: { readonly kinds: readonly string[]; readonly isOwners: boolean },
    ): 'updated' | 'missing' {
      const row = stored.first(id);
      if (row === undefined) return 'missing';
      const details = applyPatch(row.details, changes);
      update.run(details, id);
      listMembers({ ...row, details }, listing);
      return 'updated';
    },
    removeProject(id: string): 'removed' | 'missing' {
      removeGrants.run(id);
      return remove.run(id).changes === 0 ? 'missing' : 'removed';
    },
  };
}
