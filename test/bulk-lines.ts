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
    const datapoint = step.columns.at(row);
    if (datapoint === undefined) throw new Error(`row ${row} has no value`);
    return { line, sensor: { deviceId, sensorId }, datapoint };
  });
}
