import type { ApiClient } from '../client/api-client.ts';
import { importLimits } from './import-limits.ts';

/** Makes devices and sensors where they are missing. */
export interface SensorMaker {
  /** Resolves when the sensor is there; asks once for each. */
  require(deviceId: string, sensorId: string): Promise<void>;
  /** How many devices it has made, all of them private. */
  devicesMade(): number;
}

export function createSensorMaker(client: ApiClient): SensorMaker {
  const known = new Set<string>();
  let devicesMade = 0;

  /** The ids of the device's sensors; undefined when there is no such device. */
  async function sensorsOf(deviceId: string): Promise<readonly string[] | undefined> {
    const path = `/devices/${encodeURIComponent(deviceId)}`;
    const { status, json } = await client.need({ method: 'GET', path }, 200, 404);
    if (status === 404) return undefined;
    return (json as { sensors?: readonly { id: string }[] }).sensors?.map(({ id }) => id) ?? [];
  }

  async function make(deviceId: string, sensorId: string): Promise<void> {
    const sensors = await sensorsOf(deviceId);
    if (sensors === undefined) {
      // What nobody has looked at yet is nobody else's to see; a guest's device is public anyway.
      const json = { id: deviceId, visibility: 'private', sensors: [{ id: sensorId }] };
      await client.need({ method: 'POST', path: '/devices', json }, 204);
      devicesMade += 1;
    } else if (!sensors.includes(sensorId)) {
      const path = `/devices/${encodeURIComponent(deviceId)}/sensors`;
      await client.need({ method: 'POST', path, json: { id: sensorId } }, 204);
    }
  }

  return {
    devicesMade: () => devicesMade,
    async require(deviceId, sensorId) {
      const key = `${deviceId}/${sensorId}`;
      if (known.has(key)) return;
      await make(deviceId, sensorId);
      if (known.size >= importLimits.sensorsKnown) known.clear();
      known.add(key);
    },
  };
}
