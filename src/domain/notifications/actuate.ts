import type { Clock, Instant } from '../../lib/clock.ts';
import { type JsonValue, parseJson } from '../../lib/json.ts';
import type { DeviceStore } from '../devices/device.ts';
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

const skewMs = 1_000;

/** Sets an actuator as the text of a delivery says. */
export type Actuate = (message: string, by: Username, firedAt: Instant) => Promise<Outcome>;

/** For notifications whose right was asked when they fired. */
export function createActuate(parts: {
  readonly devices: Pick<DeviceStore, 'find' | 'stepActuator'>;
  readonly publish: (actuation: Actuation) => void;
  /** Resolves when every watch will receive it; absent: they did. */
  readonly told?: (() => Promise<void>) | undefined;
  readonly clock: Clock;
}): Actuate {
  return async (message, by, firedAt) => {
    // Written when the notification fired.
    const written = parseJson(message) as {
      readonly device_id: DeviceId;
      readonly actuator_id: ActuatorId;
      readonly actuator_value: JsonValue;
    };
    const { device_id: deviceId, actuator_id: actuatorId, actuator_value: value } = written;
    const setting = { kind: 'set', value, by, at: parts.clock.now() } as const;
    const device = await parts.devices.find(deviceId);
    // A device made since the firing is another device; clocks of two processes differ a little.
    const isThere = device !== undefined && device.createdAt <= firedAt + skewMs;
    const step = isThere && (await parts.devices.stepActuator(deviceId, actuatorId, setting));
    if (step === false || step === 'missing') {
      return { kind: 'refused', reason: `there is no actuator ${actuatorId} on ${deviceId}` };
    }
    parts.publish({ deviceId, actuatorId, value });
    await parts.told?.();
    return { kind: 'sent' };
  };
}
