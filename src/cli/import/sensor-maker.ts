import type { ApiClient } from '../demo/api-client.ts';
import { importLimits } from './import-limits.ts';

/** Makes devices and sensors where they are missing. */
export interface SensorMaker {
  /** Resolves when the sensor is there; asks once for each. */
  require(deviceId: string, sensorId: string): Promise<void>;
}

export function createSensorMaker(client: ApiClient): SensorMaker {
  const known = new Set<string>();

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
      const json = { id: deviceId, sensors: [{ id: sensorId }] };
      await client.need({ method: 'POST', path: '/devices', json }, 204);
    } else if (!sensors.includes(sensorId)) {
      const path = `/devices/${encodeURIComponent(deviceId)}/sensors`;
      await client.need({ method: 'POST', path, json: { id: sensorId } }, 204);
    }
  }

  return {
    async require(deviceId, sensorId) {
      const key = `${deviceId}/${sensorId}`;
      if (known.has(key)) return;
      await make(deviceId, sensorId);
      if (known.size >= importLimits.sensorsKnown) known.clear();
      known.add(key);
    },
  };
}
