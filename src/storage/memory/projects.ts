import type { ResourceKind } from '../../domain/access/scopes.ts';
import type { Project } from '../../domain/projects/project.ts';
import type { ProjectStore } from '../../domain/projects/project-store.ts';
import { withChanges } from '../../lib/record.ts';
import {
  isVisible,
  type MemoryState,
  memberKey,
  removeProject,
  sameUsername,
} from './memory-state.ts';

/** Projects in memory. */
export function createProjectStore(state: MemoryState): ProjectStore {
  const { projects, projectMembers } = state;

  return {
    async insert(project) {
      if (projects.has(project.id)) return 'duplicate';
      projects.set(project.id, project);
      projectMembers.set(project.id, new Set(listed(project)));
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
    async update(id, changes, { isOwners }) {
      const project = projects.get(id);
      if (project === undefined) return 'missing';
      const changed = withChanges(project, changes);
      projects.set(id, changed);
      const { deviceIds = [], gatewayIds = [] } = isOwners ? changes : {};
      const members = new Set([
        ...(projectMembers.get(id) ?? []),
        ...listed({ deviceIds, gatewayIds }),
      ]);
      projectMembers.set(id, new Set(listed(changed).filter((key) => members.has(key))));
      return 'updated';
    },
    async unshared(id) {
      const { deviceIds = [], gatewayIds = [] } = projects.get(id) ?? {};
      const isOut = (kind: ResourceKind, thing: string): boolean =>
        projectMembers.get(id)?.has(memberKey(kind, thing)) !== true;
      return {
        deviceIds: deviceIds.filter((thing) => isOut('device', thing)),
        gatewayIds: gatewayIds.filter((thing) => isOut('gateway', thing)),
      };
    },
    async remove(id) {
      if (!projects.has(id)) return 'missing';
      removeProject(state, id);
      return 'removed';
    },
  };
}

function listed({ deviceIds, gatewayIds }: Pick<Project, 'deviceIds' | 'gatewayIds'>): string[] {
  return [
    ...deviceIds.map((id) => memberKey('device', id)),
    ...gatewayIds.map((id) => memberKey('gateway', id)),
  ];
}
