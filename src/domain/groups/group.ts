import type { GroupId, Username } from '../ids.ts';

/** Users under one name, such as a class; what is granted to it holds while one is in it. */
export interface Group {
  readonly id: GroupId;
  readonly owner: Username;
  readonly name: string;
  /** By username, each once; accounts that exist. */
  readonly usernames: readonly Username[];
}
