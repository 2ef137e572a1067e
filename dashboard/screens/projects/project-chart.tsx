import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { shapeOf } from '../../api/sensor-shape.ts';
import type { Device } from '../../api/types.ts';
import { unitSymbol } from '../../api/unit-symbol.ts';
import type { ChartSensor } from '../../charts/chart-props.ts';
import { Chart } from '../../charts/lazy-chart.tsx';
import { t } from '../../i18n/i18n.ts';
import { useMeasures } from '../../state/measures.ts';
import { useQuantityName } from '../../state/vocabulary.ts';
import { SelectField } from '../../ui/field.tsx';
import { deviceName, sensorName } from '../../ui/value.tsx';
import { linesMax, quantitiesOf } from './quantities.ts';

/** What several devices measure alike, as lines on one chart. */
export function ProjectChart({
  devices,
}: {
  readonly devices: readonly Device[];
}): JSX.Element | null {
  const [wanted, setWanted] = useState<string>();
  const label = useQuantityName();
  const quantities = quantitiesOf(devices);
  const shown = quantities.find(({ key }) => key === wanted) ?? quantities[0];
  const drawn = (shown?.sensors ?? []).slice(0, linesMax);
  const measured = drawn.map(({ device, sensor }) => ({ deviceId: device.id, sensor }));
  const measures = measured.map(useMeasures(measured));
  if (shown === undefined) return null;
  const sensors = drawn.map(
    ({ device, sensor }, index): ChartSensor => ({
      ...{ deviceId: device.id, sensorId: sensor.id },
      name: t('common.pair', { name: deviceName(device), value: sensorName(sensor) }),
      unit: unitSymbol(sensor.unit),
      ...{ shape: shapeOf(sensor), measures: measures[index] },
    }),
  );
  return (
    <section class="stack-tight">
      <h2>{t('projects.chart')}</h2>
      <SelectField
        label={t('projects.quantity')}
        value={shown.key}
        options={quantities.map(({ key, sensors: { length } }) => ({
          value: key,
          label: `${label(key)} (${length})`,
        }))}
        onValue={setWanted}
      />
      {shown.sensors.length > linesMax && (
        <p class="quiet small">
          {t('projects.chartFirst', { count: linesMax, all: shown.sensors.length })}
        </p>
      )}
      <Chart
        key={shown.key}
        sensors={sensors}
        zone={zoneOf(devices)}
        initialPreset="week"
        latest={drawn.map(({ sensor }) => sensor.last_value?.value)}
      />
    </section>
  );
}

/** The zone of all the devices; absent where they have several, or none. */
function zoneOf(devices: readonly Device[]): string | undefined {
  const zones = new Set(devices.map(({ timezone }) => timezone));
  const [zone] = zones;
  return zones.size === 1 ? zone : undefined;
}
