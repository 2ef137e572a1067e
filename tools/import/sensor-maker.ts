import { type ApiAnswer, type ApiClient, reasonOf } from '../client/api-client.ts';
import { importLimits } from './import-limits.ts';

/** Statuses of refusals of this device or sensor alone: the next one may be taken. */
const refusals = [400, 403, 404, 409, 413, 422, 507] as const;

const refusalIn = (answer: ApiAnswer): string | undefined =>
  answer.status < 300 ? undefined : reasonOf(answer);

/** Makes devices and sensors where they are missing. */
export function createSensorMaker(client: ApiClient) {
  const known = new Map<string, string | undefined>();
  let devicesMade = 0;

  async function make(deviceId: string, sensorId: string): Promise<string | undefined> {
    const path = `/devices/${encodeURIComponent(deviceId)}`;
    const found = await client.need({ method: 'GET', path }, 200, ...refusals);
    if (found.status === 404) {
      // New devices are private, as no user has checked them yet; a guest's are public anyway.
      const json = { id: deviceId, visibility: 'private', sensors: [{ id: sensorId }] };
      const made = await client.need({ method: 'POST', path: '/devices', json }, 204, ...refusals);
      if (made.status === 204) devicesMade += 1;
      return refusalIn(made);
    }
    if (found.status !== 200) return reasonOf(found);
    const { sensors = [] } = found.json as { sensors?: readonly { id: string }[] };
    if (sensors.some(({ id }) => id === sensorId)) return undefined;
    const json = { id: sensorId };
    const add = { method: 'POST', path: `${path}/sensors`, json } as const;
    return refusalIn(await client.need(add, 204, ...refusals));
  }

  return {
    /** How many devices it has made, all of them private. */
    devicesMade: () => devicesMade,
    /** Resolves when the sensor is there, else with why it cannot be; asks once for each. */
    async require(deviceId: string, sensorId: string) {
      const key = `${deviceId}/${sensorId}`;
      if (known.has(key)) return known.get(key);
      const refusal = await make(deviceId, sensorId);
      if (known.size >= importLimits.sensorsKnown) known.clear();
      known.set(key, refusal);
      return refusal;
    },
  };
}
