import type { Instant } from '../../lib/clock.ts';
import { yieldToEventLoop } from '../../lib/event-loop.ts';
import type { Access } from '../access/access.ts';
import type { Actor } from '../actor.ts';
import type { Device, DeviceStore } from '../devices/device.ts';
import { deviceResource } from '../devices/devices.ts';
import { type DeviceId, sameUsername, type Username } from '../ids.ts';
import type { Action, BoundDevice, Notification, NotificationDraft } from './notification.ts';

/** Devices that are asked for in one slice of the event loop. */
const devicesPerTurn = 50;

/** Whether the device took the id of one that is named, which is gone or was never there. */
export function isAnother({ condition, owner }: Notification, device: Device): boolean {
  const { devices, bound } = condition;
  if (bound === undefined || !devices.includes(device.id)) return false;
  return isOther(bound.find(({ id }) => id === device.id)?.createdAt ?? null, device, owner);
}

/** The same of the device whose actuator it sets. */
export function isAnotherTarget({ action, owner }: Notification, device: Device): boolean {
  const madeAt = action.kind === 'actuation' ? action.deviceMadeAt : undefined;
  return madeAt !== undefined && isOther(madeAt, device, owner);
}

/** A name that nothing had means what the notification's owner makes under it. */
const isOther = (madeAt: Instant | null, device: Device, owner: Username): boolean =>
  madeAt === null ? !sameUsername(device.owner, owner) : madeAt !== device.createdAt;

/** Checks the devices that notifications name. */
export function createNamedDevices({
  devices,
  access,
}: {
  readonly devices: Pick<DeviceStore, 'find'>;
  readonly access: Access;
}) {
  /**
   * Refuses to watch data that the actor may not view, or to set what it may not set. Answers the
   * named devices that are there, and the action bound to its device.
   */
  async function requireRights(
    actor: Actor,
    draft: Pick<NotificationDraft, 'condition' | 'action'>,
  ): Promise<{ readonly found: readonly BoundDevice[]; readonly action: Action }> {
    const bound: BoundDevice[] = [];
    for (const [index, id] of draft.condition.devices.entries()) {
      if (index % devicesPerTurn === devicesPerTurn - 1) await yieldToEventLoop();
      const device = await devices.find(id);
      // A device that does not exist is no hindrance [contract 4].
      if (device === undefined) continue;
      await access.require(actor, 'devices-data:view', deviceResource(device));
      bound.push({ id, createdAt: device.createdAt });
    }
    const { action } = draft;
    if (action.kind !== 'actuation') return { found: bound, action };
    const target = await devices.find(action.deviceId);
    if (target !== undefined) await access.requireSetting(actor, deviceResource(target));
    return { found: bound, action: { ...action, deviceMadeAt: target?.createdAt ?? null } };
  }

  /** Finds devices that it names and that are gone, also where another device has the id since. */
  async function goneDevices(notification: Notification): Promise<readonly DeviceId[]> {
    const { condition, action } = notification;
    const gone: DeviceId[] = [];
    for (const [index, id] of condition.devices.entries()) {
      if (index % devicesPerTurn === devicesPerTurn - 1) await yieldToEventLoop();
      const device = await devices.find(id);
      if (device === undefined || isAnother(notification, device)) gone.push(id);
    }
    if (action.kind !== 'actuation' || gone.includes(action.deviceId)) return gone;
    const target = await devices.find(action.deviceId);
    if (target === undefined || isAnotherTarget(notification, target)) gone.push(action.deviceId);
    return gone;
  }

  return { requireRights, goneDevices };
}
