import type { Change } from '../domain/changes.ts';
import { identityOfAccount, isOfAccount } from '../domain/messaging/identity.ts';
import { topicsOf, topicsOfPart } from '../domain/messaging/place.ts';
import type { Broker } from './broker.ts';

/**
 * Ends what the broker holds of somebody or something that went: nobody is to come into it later.
 * At once in memory; resolves when it is durable.
 */
export async function cleanUpAfter(
  change: Change,
  broker: Pick<Broker, 'forgetRetained' | 'endSessions'>,
): Promise<void> {
  switch (change.kind) {
    case 'device_removed':
      return broker.forgetRetained(topicsOf({ kind: 'device', id: change.deviceId }));
    case 'gateway_removed':
      return broker.forgetRetained(topicsOf({ kind: 'gateway', id: change.gatewayId }));
    case 'sensor_removed':
      return broker.forgetRetained(topicsOfPart(change.deviceId, 'sensor', change.sensorId));
    case 'actuator_removed':
      return broker.forgetRetained(topicsOfPart(change.deviceId, 'actuator', change.actuatorId));
    case 'account_removed':
    case 'account_disabled':
      return broker.endSessions((identity) => isOfAccount(identity, change.userId));
    case 'key_removed': {
      const gone = identityOfAccount(change.userId, change.keyId);
      return broker.endSessions((identity) => identity === gone);
    }
    case 'account_changed': {
      const { userId, endedKeys } = change;
      if (endedKeys.length === 0) return;
      const gone = new Set(endedKeys.map((keyId) => identityOfAccount(userId, keyId)));
      return broker.endSessions((identity) => gone.has(identity));
    }
    default:
  }
}
