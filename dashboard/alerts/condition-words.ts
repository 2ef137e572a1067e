import type { Device, Sensor } from '../api/types.ts';
import { unitSymbol } from '../api/unit-symbol.ts';
import { formatExactly, formatSpan, type Translate } from '../i18n/formats.ts';
import { type Condition, isNumeral } from './read-sentence.ts';

/** What is known to name things by. */
export interface Naming {
  readonly t: Translate;
  readonly language: string;
  readonly devices: readonly Device[];
  /** Names sensors and actuators as the reader does. */
  readonly nameOf: (part: { readonly id: string; readonly name?: string }) => string;
}

/** The name, else the identifier. */
export const named = ({ id, name }: { readonly id: string; readonly name?: string }): string =>
  name === undefined || name === '' ? id : name;

/** "Soil is below 30 %", or "Soil of Field 3 is below 30 %". */
export function testWords(
  condition: Condition,
  deviceIds: readonly string[],
  naming: Naming,
  device?: string,
): string {
  const { t, language } = naming;
  const name = sensorWord(condition.sensor, deviceIds, naming);
  const sensor = device === undefined ? name : t('alerts.sensorOf', { sensor: name, device });
  const found = sensorOf(condition.sensor, deviceIds, naming.devices);
  const unit = unitSymbol(found?.unit);
  const text = (value: string): string => {
    if (!isNumeral(value)) return value;
    return `${formatExactly(value, language)}\u00a0${unit}`.trim();
  };
  switch (condition.kind) {
    case 'silent':
      return t('alerts.testSilent', {
        sensor,
        comparison: t('alerts.is-silent'),
        time: formatSpan(condition.seconds * 1_000, t),
      });
    case 'range': {
      const comparison = t(`alerts.is-${condition.placing}`);
      const [low, high] = [text(condition.low), text(condition.high)];
      return t('alerts.testRange', { sensor, comparison, low, high });
    }
    case 'compare': {
      const comparison = t(`alerts.is-${condition.comparison}`);
      return t('alerts.testCompare', { sensor, comparison, value: text(condition.value) });
    }
  }
}

/** A sensor by the name it has on the devices that are watched. */
export function sensorOf(
  id: string,
  deviceIds: readonly string[],
  devices: readonly Device[],
): Sensor | undefined {
  const watched =
    deviceIds.length === 0 ? devices : devices.filter((d) => deviceIds.includes(d.id));
  for (const { sensors } of watched) {
    const found = sensors.find((sensor) => sensor.id === id);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A sensor's name where it has one. */
export const sensorWord = (id: string, deviceIds: readonly string[], naming: Naming): string =>
  naming.nameOf(sensorOf(id, deviceIds, naming.devices) ?? { id });
