import type { StorageQuotas } from '../domain/budgets/storage-quotas.ts';
import type { UserId, Username } from '../domain/ids.ts';
import type { ServiceStorage } from './service-parts.ts';

/** Stores of what no quota counts: on a disk that is nearly full nothing grows in them. */
export function uncountedStores(storage: ServiceStorage, room: StorageQuotas) {
  const { users, gateways, projects, notifications, socials, groups } = storage;
  const { invitations, credentials, grants } = storage;
  const ifRoom = writesIfRoom(room);
  const nameOf = async (id: UserId) => (await users.find(id))?.username;
  const ownerIn =
    <Id>(store: { find(id: Id): Promise<{ readonly owner: Username } | undefined> }) =>
    async (id: Id) =>
      (await store.find(id))?.owner;
  return {
    gateways: {
      ...gateways,
      insert: ifRoom(gateways.insert, async ({ owner }) => owner),
      heartbeat: ifRoom(
        gateways.heartbeat,
        ownerIn(gateways),
        // A sign of life without a status takes nothing.
        async (_, { status }) => status !== undefined,
      ),
    },
    projects: {
      ...projects,
      insert: ifRoom(projects.insert, async ({ owner }) => owner),
      update: ifRoom(projects.update, ownerIn(projects), async (id, changes) => {
        const before = await projects.find(id);
        return (
          JSON.stringify({ ...before, ...changes }).length > JSON.stringify(before ?? {}).length
        );
      }),
    },
    notifications: {
      ...notifications,
      insert: ifRoom(notifications.insert, async ({ owner }) => owner),
    },
    socials: { ...socials, insert: ifRoom(socials.insert, async ([first]) => first?.sender) },
    groups: {
      ...groups,
      insert: ifRoom(groups.insert, async ({ owner }) => owner),
      changeMembers: ifRoom(
        groups.changeMembers,
        ownerIn(groups),
        async (_, change) => change.in.length > 0,
      ),
    },
    grants: {
      ...grants,
      put: ifRoom(
        grants.put,
        async () => undefined,
        async ({ kind, resource, username }) =>
          (await grants.find(kind, resource, username)).length === 0,
      ),
      putForGroup: ifRoom(
        grants.putForGroup,
        async () => undefined,
        async ({ kind, resource, groupId }) =>
          !(await grants.listGroupsOn(kind, resource)).some((one) => one.groupId === groupId),
      ),
    },
    invitations: {
      ...invitations,
      insert: ifRoom(invitations.insert, ({ giver }) => nameOf(giver)),
    },
    credentials: {
      ...credentials,
      insertKey: ifRoom(credentials.insertKey, ({ userId }) => nameOf(userId)),
    },
  };
}

/** Refuses what grows on a disk that is nearly full; rights may always be taken away. */
const writesIfRoom =
  (room: StorageQuotas) =>
  <Given extends readonly unknown[], Outcome>(
    write: (...given: Given) => Promise<Outcome>,
    ownerOf: (...given: Given) => Promise<Username | undefined>,
    /** Whether it takes more than was there. */
    grows: (...given: Given) => Promise<boolean> = async () => true,
  ) =>
  async (...given: Given): Promise<Outcome> => {
    const isMore = room.isDiskLow() && (await grows(...given));
    if (isMore) room.requireDisk(await ownerOf(...given));
    return write(...given);
  };
