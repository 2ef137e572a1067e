import { ApiError, isOffline } from '../../api/api-error.ts';
import { apiPaths } from '../../api/paths.ts';
import type { Device } from '../../api/types.ts';
import { api, username } from '../../state/session.ts';
import { countOf, devicesOf, doubtful, draft, made } from './draft.ts';
import { sensorsOf } from './usual-sensors.ts';

/**
 * Makes the devices of the draft, one after the other; answers their ids. Throws what the first
 * one that failed was answered: those before it stay in `made`, and the next call goes on after
 * them.
 */
export async function createAll(): Promise<readonly string[]> {
  const { visibility } = draft.peek();
  const wanted = devicesOf(draft.peek(), countOf(draft.peek()) ?? 1);
  const described = { visibility, sensors: sensorsOf(draft.peek()) };
  for (const { id, name } of wanted) {
    if (made.peek().includes(id)) continue;
    await create({ id, ...(name !== '' && { name }), ...described });
    made.value = [...made.peek(), id];
    doubtful.value = undefined;
  }
  return wanted.map(({ id }) => id);
}

async function create(json: { readonly id: string }): Promise<void> {
  try {
    await api.send({ method: 'POST', path: apiPaths.devices, json });
  } catch (error) {
    if (isOffline(error)) doubtful.value = json.id;
    // It was made before: the answer to that was lost.
    if (doubtful.peek() === json.id && isConflict(error) && (await isOwn(json.id))) return;
    throw error;
  }
}

export const isConflict = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'conflict';

async function isOwn(id: string): Promise<boolean> {
  const { owner } = await api.getJson<Device>({ path: apiPaths.device(id) });
  return owner === (username.peek() ?? 'guest');
}
