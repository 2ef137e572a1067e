import type { ProjectId, Username } from '../../domain/ids.ts';
import type { Project } from '../../domain/projects/project.ts';
import { detailsFrom } from './details.ts';

/** A row of the table projects. */
export interface ProjectRow {
  readonly id: string;
  readonly owner: string;
  readonly details: string;
}

/** The columns of ProjectRow. */
export const projectColumns = 'id, owner, details';

type ProjectDetails = Omit<Project, 'id' | 'owner'>;

export function projectToRow({ id, owner, ...details }: Project): ProjectRow {
  return { id, owner, details: JSON.stringify(details satisfies ProjectDetails) };
}

export function projectFromRow(row: ProjectRow): Project {
  return {
    // Rows hold what parsed ids were written from.
    id: row.id as ProjectId,
    owner: row.owner as Username,
    ...detailsFrom<ProjectDetails>(row.details),
  };
}
