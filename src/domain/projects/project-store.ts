import type { VisibleTo } from '../access/viewer.ts';
import type { ProjectId, Username } from '../ids.ts';
import type { Project, ProjectChanges } from './project.ts';

export interface ProjectListing {
  readonly projects: readonly Project[];
  /** All that match, whatever the page. */
  readonly total: number;
}

/** Where projects are kept. Lists are in order of creation. */
export interface ProjectStore {
  insert(project: Project): Promise<'inserted' | 'duplicate'>;
  find(id: ProjectId): Promise<Project | undefined>;
  /** A project is never public: a guest sees the guest's, a user those and its own and granted. */
  list(page: { visibleTo: VisibleTo; limit: number; offset: number }): Promise<ProjectListing>;
  countOwnedBy(owner: Username): Promise<number>;
  update(id: ProjectId, changes: ProjectChanges): Promise<'updated' | 'missing'>;
  /** Removes the project with its grants, in one step; what is in it stays. */
  remove(id: ProjectId): Promise<'removed' | 'missing'>;
}
