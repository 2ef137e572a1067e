import type { ProjectStore } from '../../domain/projects/project-store.ts';
import {
  isVisible,
  type MemoryState,
  removeProject,
  sameUsername,
  withChanges,
} from './memory-state.ts';

/** Projects in memory. */
export function createProjectStore(state: MemoryState): ProjectStore {
  const { projects } = state;

  return {
    async insert(project) {
      if (projects.has(project.id)) return 'duplicate';
      projects.set(project.id, project);
      return 'inserted';
    },
    find: async (id) => projects.get(id),
    async list({ visibleTo, limit, offset }) {
      const visible = [...projects.values()].filter(({ id, owner }) =>
        isVisible(state, 'project', { id, owner, visibility: 'private' }, visibleTo),
      );
      return { projects: visible.slice(offset, offset + limit), total: visible.length };
    },
    countOwnedBy: async (owner) =>
      [...projects.values()].filter((project) => sameUsername(project.owner, owner)).length,
    async update(id, changes) {
      const project = projects.get(id);
      if (project === undefined) return 'missing';
      projects.set(id, withChanges(project, changes));
      return 'updated';
    },
    async remove(id) {
      if (!projects.has(id)) return 'missing';
      removeProject(state, id);
      return 'removed';
    },
  };
}
