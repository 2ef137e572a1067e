import type { BulkRow, BulkStep } from '../src/domain/datapoints/bulk-step.ts';

/** The lines of a step as objects, in their order. */
export function linesOfStep(step: BulkStep): BulkRow[] {
  return Array.from({ length: step.count }, (_, row): BulkRow => {
    const line = step.lineAt(row);
    const place = step.placeAt(row);
    const other = step.others[-1 - place];
    if (other !== undefined) return other;
    const sensor = step.sensors[place];
    if (sensor === undefined) throw new Error(`row ${row} has no sensor`);
    const { deviceId, sensorId } = sensor;
    const timestamp = step.timestampAt(row);
    const text = step.textAt(row);
    const value = text === undefined ? step.numberAt(row) : JSON.parse(text);
    const datapoint = Number.isNaN(timestamp) ? { value } : { value, timestamp };
    return { line, sensor: { deviceId, sensorId }, datapoint };
  });
}
