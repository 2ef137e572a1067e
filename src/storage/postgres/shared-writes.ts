import { createSqlWrites, type SqlWrites } from '../sql/writes.ts';
import { createNotificationEngine } from './notification-engine.ts';

// No foreign key removes these rows with their sensors: it would be looked at for each push.
const deleteHotOfUser = `
  delete from hot using sensors
  where sensors.bucket = hot.bucket and sensors.series = hot.series and device_id in
    (select devices.id from devices join users on nocase(owner) = nocase(username)
     where users.id = $1)`;

/** Changes of the stores that both engines share; a command has no number. */
export function createSharedWrites(member: number | undefined): SqlWrites {
  const writes = createSqlWrites(createNotificationEngine(member));
  return {
    ...writes,
    async removeUser(session, id) {
      await session.run(deleteHotOfUser, id);
      return writes.removeUser(session, id);
    },
  };
}
