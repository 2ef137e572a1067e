import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { thresholdOf } from '../../alerts/attention.ts';
import { freshnessOf, instantOf } from '../../api/freshness.ts';
import { shapeOf } from '../../api/sensor-shape.ts';
import type { Device, Sensor } from '../../api/types.ts';
import { unitSymbol } from '../../api/unit-symbol.ts';
import type { ChartProps } from '../../charts/chart-props.ts';
import { Chart } from '../../charts/lazy-chart.tsx';
import { useAlerts } from '../../state/alerts.ts';
import { now } from '../../state/clock.ts';
import { useMeasures } from '../../state/measures.ts';
import { sensorName } from '../../ui/value.tsx';

/** How sensors of a device went, on one time axis. */
export function DeviceChart({
  device,
  sensors,
  onWrong,
}: {
  readonly device: Device;
  readonly sensors: readonly Sensor[];
  readonly onWrong?: ChartProps['onWrong'];
}): JSX.Element {
  const devices = useMemo(() => [device.id], [device.id]);
  const alerts = useAlerts([device]).value;
  const ids = sensors.map(({ id }) => id);
  const lines = useMemo(
    () => ids.map((id) => thresholdOf(alerts ?? [], device, id)),
    [alerts, device.id, device.owner, ids.join()],
  );
  const instants = sensors.map(({ last_value }) => instantOf(last_value));
  const stale = instants.map((at) => freshnessOf(at, now.value) === 'stale');
  const measured = sensors.map((sensor) => ({ deviceId: device.id, sensor }));
  const measures = measured.map(useMeasures(measured));
  const described = JSON.stringify(
    sensors.map((sensor, index) => [
      sensor.id,
      sensorName(sensor),
      sensor.unit,
      sensor.calib,
      shapeOf(sensor),
      measures[index],
      stale[index],
      lines[index],
    ]),
  );
  // New values alone do not make it another chart.
  const shown = useMemo(
    () =>
      sensors.map((sensor, index) => {
        const unit = unitSymbol(sensor.unit);
        return {
          deviceId: device.id,
          sensorId: sensor.id,
          name: sensorName(sensor),
          ...(unit !== '' && { unit }),
          ...(sensor.calib !== undefined && { calib: sensor.calib }),
          ...{ shape: shapeOf(sensor), measures: measures[index] },
          isStale: stale[index] === true,
          ...(lines[index] !== undefined && { threshold: lines[index] }),
        };
      }),
    [device.id, described],
  );
  const heard = instants.filter((at) => at !== undefined);
  const lastAt = heard.length === 0 ? undefined : Math.max(...heard);
  return (
    <Chart
      sensors={shown}
      devices={sensors.length === device.sensors.length ? devices : undefined}
      zone={device.timezone}
      lastAt={lastAt}
      latest={sensors.map(({ last_value }) => last_value?.value)}
      onWrong={onWrong}
      isInAddress
    />
  );
}
