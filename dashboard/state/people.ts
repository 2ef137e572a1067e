import { ApiError } from '../api/api-error.ts';
import type { User } from '../api/types.ts';
import { t } from '../i18n/i18n.ts';
import type { Action } from './action.ts';
import { api } from './session.ts';

/** Questions that are asked at a time. */
const parallelMax = 4;

/** The name as the service spells it; undefined when nobody has it. */
export async function findUser(name: string): Promise<string | undefined> {
  const [user] = await api.getJson<readonly User[]>({
    path: '/users',
    query: { username: name, limit: 1 },
  });
  return user?.username;
}

/** Sends what names people; when somebody is missing, says who. */
export async function sendPeople(
  action: Action,
  names: readonly string[],
  send: () => Promise<unknown>,
): Promise<boolean> {
  let unknown: readonly string[] = [];
  const isDone = await action.run(async () => {
    try {
      await send();
    } catch (failure) {
      if (!(failure instanceof ApiError) || failure.code !== 'not_found') throw failure;
      unknown = await unknownOf(names);
      if (unknown.length === 0) throw failure;
    }
  });
  if (unknown.length > 0) action.fail(t('groups.unknown', { names: unknown.join(', ') }));
  return isDone && unknown.length === 0;
}

async function unknownOf(names: readonly string[]): Promise<readonly string[]> {
  const unknown = new Set<string>();
  const line = names.values();
  const ask = async (): Promise<void> => {
    for (const name of line) if ((await findUser(name)) === undefined) unknown.add(name);
  };
  await Promise.all(Array.from({ length: parallelMax }, ask));
  return names.filter((name) => unknown.has(name));
}
