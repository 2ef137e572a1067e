import type { DatabaseSync } from 'node:sqlite';
import type { ProjectStore } from '../../domain/projects/project-store.ts';
import { patchOf } from '../sql/patch.ts';
import {
  type ProjectRow,
  projectColumns,
  projectFromRow,
  projectToRow,
} from '../sql/project-row.ts';
import { readSafely } from './failures.ts';
import { createResourceListing } from './resource-listing.ts';
import { createSelection } from './selection.ts';
import type { Writer } from './writer.ts';

const selectProject = `select ${projectColumns} from projects where id = ?`;
const countOwned = 'select count(*) as n from projects where owner = ?';

/** Projects in SQLite. */
export function createProjectStore(options: {
  readonly reader: DatabaseSync;
  readonly writer: Writer;
}): ProjectStore {
  const { reader, writer } = options;
  const project = createSelection<ProjectRow>(reader, selectProject);
  const owned = createSelection<{ n: number }>(reader, countOwned);
  const columns = projectColumns;
  const list = createResourceListing<ProjectRow>(reader, { kind: 'project', columns });

  return {
    insert: (created) => writer.call('insertProject', projectToRow(created)),
    find: (id) =>
      readSafely(() => {
        const row = project.first(id);
        return row && projectFromRow(row);
      }),
    list: (page) =>
      readSafely(() => {
        const { rows, total } = list(page);
        return { projects: rows.map(projectFromRow), total };
      }),
    countOwnedBy: (owner) => readSafely(() => owned.first(owner)?.n ?? 0),
    update: (id, changes) => writer.call('updateProject', id, patchOf(changes)),
    remove: (id) => writer.call('removeProject', id),
  };
}
