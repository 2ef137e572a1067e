import type { User } from '../../api/types.ts';
import { type Resource, useResource } from '../../state/resource.ts';
import { api, username } from '../../state/session.ts';

/** The own account, as both screens of the profile read it. */
export const useMe = (): Resource<User> =>
  useResource(`me ${username.value}`, (signal) => api.getJson<User>({ path: '/users/me', signal }));
