import type { Clock } from '../../lib/clock.ts';
import { type JsonValue, parseJson } from '../../lib/json.ts';
import type { DeviceStore } from '../devices/device-store.ts';
import type { ActuatorId, DeviceId, Username } from '../ids.ts';
import type { Outcome } from './channel.ts';

/** A notification's setting of an actuator. */
export interface Actuation {
  readonly deviceId: DeviceId;
  readonly actuatorId: ActuatorId;
  readonly value: JsonValue;
}

/** The text of a delivery that sets an actuator: JSON. */
export const actuationText = ({ deviceId, actuatorId, value }: Actuation): string =>
  JSON.stringify({ device_id: deviceId, actuator_id: actuatorId, actuator_value: value });

/** Sets an actuator as the text of a delivery says. */
export type Actuate = (message: string, by: Username) => Promise<Outcome>;

/** For notifications whose right was asked when they fired. */
export function createActuate(parts: {
  readonly devices: Pick<DeviceStore, 'stepActuator'>;
  readonly publish: (actuation: Actuation) => void;
  /** Resolves when all who watch will hear of it; absent: they did. */
  readonly told?: (() => Promise<void>) | undefined;
  readonly clock: Clock;
}): Actuate {
  return async (message, by) => {
    // Written when the notification fired.
    const written = parseJson(message) as {
      readonly device_id: DeviceId;
      readonly actuator_id: ActuatorId;
      readonly actuator_value: JsonValue;
    };
    const { device_id: deviceId, actuator_id: actuatorId, actuator_value: value } = written;
    const setting = { kind: 'set', value, by, at: parts.clock.now() } as const;
    if ((await parts.devices.stepActuator(deviceId, actuatorId, setting)) === 'missing') {
      return { kind: 'refused', reason: `there is no actuator ${actuatorId} on ${deviceId}` };
    }
    parts.publish({ deviceId, actuatorId, value });
    await parts.told?.();
    return { kind: 'sent' };
  };
}
