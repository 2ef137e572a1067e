import type { GroupId, Username } from '../ids.ts';

/** Users under one name, such as a class; what is granted to it holds while one is in it. */
export interface Group {
  readonly id: GroupId;
  readonly owner: Username;
  readonly name: string;
  /** By username, each once; accounts that exist. */
  readonly usernames: readonly Username[];
}

/** Where groups are kept. They go with their owner, and their members with their accounts. */
export interface GroupStore {
  /** missing: these of its usernames have no account, and nothing was kept. */
  insert(group: Group): Promise<'inserted' | { readonly missing: readonly Username[] }>;
  find(id: GroupId): Promise<Group | undefined>;
  /** Groups of this owner, or of all, in order of creation. */
  list(page: {
    owner?: Username;
    limit: number;
    offset: number;
  }): Promise<{ readonly groups: readonly Group[]; readonly total: number }>;
  countOwnedBy(owner: Username): Promise<number>;
  rename(id: GroupId, name: string): Promise<'updated' | 'missing'>;
  /**
   * Takes members out, then in; who is in already stays. A list of missing usernames means that
   * nothing was changed; too_many: there would be more than `membersMax`.
   */
  changeMembers(
    id: GroupId,
    change: {
      /** all: its members now. */
      readonly out: 'all' | readonly Username[];
      readonly in: readonly Username[];
      readonly membersMax: number;
    },
  ): Promise<'updated' | 'missing' | 'too_many' | { readonly missing: readonly Username[] }>;
  /** Removes the group and what was granted to it, in one step. */
  remove(id: GroupId): Promise<'removed' | 'missing'>;
}
