import { type ApiClient, reasonOf, textField } from '../client/api-client.ts';
import { inParallel } from '../parallel.ts';
import { copyDevice, copyGateway, type ResourceCopier } from './device-copier.ts';
import { listThings, pick, type Thing, textsOf } from './listing.ts';
import { copyNotifications } from './notification-copier.ts';
import type { ProgressFile } from './progress-file.ts';
import type { CloudReport, Kind, Tally } from './tally.ts';
import { copyValues, type SensorName } from './value-copier.ts';

/** What is copied. */
export interface CloudImport {
  readonly source: ApiClient;
  readonly target: ApiClient;
  /** At the source; undefined: the guest. */
  readonly sourceUsername: string | undefined;
  /** What others own, too, as far as it may be seen. */
  readonly isAll: boolean;
  /** Beginnings of ids of devices and gateways; none: all. */
  readonly prefixes: readonly string[];
  readonly hasValues: boolean;
  readonly hasNotifications: boolean;
  readonly sensorsInParallel: number;
  readonly progress: ProgressFile;
  readonly tally: Tally;
  /** How many sensors are copied, one under way as a part. */
  readonly onProgress: (done: number, total: number) => void;
}

/**
 * Copies what one may see of a service into another. Run again after an interruption, or just so,
 * it makes nothing twice. Throws when one of both gives up; a further run then goes on.
 */
export async function importCloud(work: CloudImport): Promise<CloudReport> {
  const { target, tally, progress } = work;
  const copier: ResourceCopier = {
    ...{ target, tally, sourceUsername: work.sourceUsername },
    ...(await whoIs(target)),
  };
  for await (const gateway of chosen(work, 'gateways')) await copyGateway(copier, gateway);
  const sensors: SensorName[] = [];
  const devices = new Set<string>();
  for await (const device of chosen(work, 'devices')) {
    const deviceId = textField(device, 'id') ?? '';
    devices.add(deviceId);
    const ids = await copyDevice(copier, device);
    sensors.push(...ids.map((sensorId) => ({ deviceId, sensorId })));
  }
  const isChosen = (ids: readonly string[]): boolean =>
    work.prefixes.length === 0 || ids.some((id) => devices.has(id));
  for await (const project of chosen(work, 'projects')) {
    if (isChosen(textsOf(project, 'device_ids'))) await copyProject(copier, project);
  }
  if (work.hasValues) await copyAllValues(work, sensors);
  // Last of all, so that values of the past send no messages.
  if (work.hasNotifications) {
    const notifications: Thing[] = [];
    for await (const notification of chosen(work, 'notifications')) {
      const condition = notification['condition'] as Thing | undefined;
      if (isChosen(textsOf(condition ?? {}, 'devices'))) notifications.push(notification);
    }
    if (notifications.length > 0) await copyNotifications(copier, notifications);
  }
  await progress.remove();
  return tally.report();
}

/** The account that acts at a service; a guest has no name. */
export async function whoIs(
  remote: ApiClient,
): Promise<{ readonly username: string | undefined; readonly isAdmin: boolean }> {
  const { status, json } = await remote.call({ method: 'GET', path: '/users/me' });
  if (status !== 200) return { username: undefined, isAdmin: false };
  const me = json as Thing;
  return { username: textField(me, 'username'), isAdmin: me['admin'] === true };
}

/** The things of a kind that are to be copied. */
async function* chosen(
  work: CloudImport,
  kind: Exclude<Kind, 'sensors' | 'actuators' | 'values'>,
): AsyncGenerator<Thing> {
  const { source, tally, prefixes } = work;
  const hasPrefixes = prefixes.length > 0 && (kind === 'devices' || kind === 'gateways');
  const isOurs = ({ owner }: Thing): boolean =>
    owner === undefined || owner === (work.sourceUsername ?? 'guest');
  const onRefused = (reason: string): void => {
    // Older services have fewer kinds of things; devices every one has.
    if (kind === 'devices') throw new Error(`${source.url} lists no devices: ${reason}`);
    tally.skipped(kind, '(all)', `the service does not list them: ${reason}`, 0);
  };
  for await (const page of listThings(source, `/${kind}`, onRefused)) {
    for (const thing of page) {
      const id = textField(thing, 'id') ?? '';
      if (hasPrefixes && !prefixes.some((prefix) => id.startsWith(prefix))) continue;
      if (work.isAll || isOurs(thing)) yield thing;
      else tally.leftOut();
    }
  }
}

async function copyProject({ target, tally }: ResourceCopier, project: Thing): Promise<void> {
  const json = pick(project, ['id', 'name', 'device_ids', 'gateway_ids']);
  const isAnonymous = project['owner'] === 'guest';
  const answer = await target.call({ method: 'POST', path: '/projects', json, isAnonymous });
  if (answer.status === 409 || answer.status === 422) tally.already('projects');
  else if (answer.status < 300) tally.copied('projects');
  else tally.skipped('projects', textField(project, 'id') ?? '', reasonOf(answer));
}

async function copyAllValues(work: CloudImport, sensors: readonly SensorName[]): Promise<void> {
  const { source, target, progress, tally, onProgress } = work;
  const shares = new Map<SensorName, number>();
  let done = 0;
  const show = (): void => {
    const underWay = [...shares.values()].reduce((sum, share) => sum + share, 0);
    onProgress(Math.round((done + underWay) * 100) / 100, sensors.length);
  };
  show();
  try {
    await inParallel(sensors, work.sensorsInParallel, async (sensor) => {
      await copyValues(sensor, { source, target, progress, tally }, (share) => {
        shares.set(sensor, share);
        show();
      });
      shares.delete(sensor);
      done += 1;
      show();
    });
  } finally {
    await progress.save();
  }
}
