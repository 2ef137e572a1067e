import {
  limitsOf,
  type RetainedSensor,
  type Retention,
  type RetentionLimits,
  retentionLimits,
} from '../../src/domain/datapoints/retention/retention.ts';

/** The data that retention would take of one device. */
export interface PlannedDevice {
  readonly owner: string;
  readonly device: string;
  readonly sensors: number;
  readonly datapoints: number;
  /** Days whose hours would go. */
  readonly days: number;
}

/** Which plan is wanted. */
export interface PlanOptions {
  readonly now: number;
  /** The retention that holds where none is set. */
  readonly ofService: Retention;
}

/**
 * Plans what retention would take now, device after device, those with most first. It goes through
 * all sensors, a page of an engine at a time.
 */
export async function planRetention(
  { now, ofService }: PlanOptions,
  engine: {
    /** Sensors after this number, in the order of their numbers. */
    readonly sensorsAfter: (after: number, max: number) => Promise<readonly RetainedSensor[]>;
    /** Counts what is older than these limits, of a sensor. */
    readonly countOld: (
      sensor: RetainedSensor,
      limits: RetentionLimits & { readonly rawBefore: number },
    ) => Promise<Pick<PlannedDevice, 'datapoints' | 'days'>>;
  },
): Promise<readonly PlannedDevice[]> {
  const devices = new Map<string, PlannedDevice>();

  async function add(sensor: RetainedSensor): Promise<void> {
    const { owner, deviceId: device, nearest } = sensor;
    const { rawBefore, ...limits } = limitsOf(nearest?.retention ?? ofService, now);
    if (rawBefore === undefined) return;
    const found = await engine.countOld(sensor, { rawBefore, ...limits });
    if (found.datapoints + found.days === 0) return;
    const known = devices.get(device) ?? { owner, device, sensors: 0, datapoints: 0, days: 0 };
    devices.set(device, {
      ...known,
      sensors: known.sensors + 1,
      datapoints: known.datapoints + found.datapoints,
      days: known.days + found.days,
    });
  }

  for (let after = -1; ; ) {
    const sensors = await engine.sensorsAfter(after, retentionLimits.retainedSensorsPerPage);
    for (const sensor of sensors) {
      await add(sensor);
      after = sensor.number;
    }
    if (sensors.length < retentionLimits.retainedSensorsPerPage) break;
  }
  return [...devices.values()].sort((a, b) => b.datapoints - a.datapoints || b.days - a.days);
}
