import type { DatabaseSync } from 'node:sqlite';
import { applyPatch, type Patch } from '../sql/patch.ts';
import { type ProjectRow, projectColumns } from '../sql/project-row.ts';
import { createSelection } from './selection.ts';

const insertProject = `
  insert into projects (${projectColumns}) values (?, ?, ?) on conflict do nothing`;
const selectDetails = 'select details from projects where id = ?';
const updateDetails = 'update projects set details = ? where id = ?';
const deleteProject = 'delete from projects where id = ?';
const deleteGrantsOn = `delete from grants where kind = 'project' and resource = ?`;

/** What the writer thread does to projects. */
export function createProjectWrites(database: DatabaseSync) {
  const stored = createSelection<{ details: string }>(database, selectDetails);
  const insert = database.prepare(insertProject);
  const update = database.prepare(updateDetails);
  const remove = database.prepare(deleteProject);
  const removeGrants = database.prepare(deleteGrantsOn);

  return {
    insertProject: (row: ProjectRow): 'inserted' | 'duplicate' =>
      insert.run(row.id, row.owner, row.details).changes === 0 ? 'duplicate' : 'inserted',
    updateProject(id: string, changes: Patch): 'updated' | 'missing' {
      const details = stored.first(id)?.details;
      if (details === undefined) return 'missing';
      update.run(applyPatch(details, changes), id);
      return 'updated';
    },
    removeProject(id: string): 'removed' | 'missing' {
      removeGrants.run(id);
      return remove.run(id).changes === 0 ? 'missing' : 'removed';
    },
  };
}
