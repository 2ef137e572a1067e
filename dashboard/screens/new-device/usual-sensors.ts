import { idFromName } from '../../api/id-check.ts';
import { language } from '../../i18n/i18n.ts';
import { type UsualName, usualNames } from '../../i18n/usual-names.ts';
import type { Draft } from './draft.ts';

/** A sensor that many devices have; its name is in the language of whoever makes it. */
export interface UsualSensor {
  readonly text: UsualName;
  readonly id: string;
  readonly kind?: string;
  readonly quantity?: string;
  readonly unit?: string;
}

/** In the order of the buttons. Kinds, quantities and units are terms of the vocabularies. */
export const usualSensors: readonly UsualSensor[] = [
  {
    text: 'airTemperature',
    id: 'TC',
    kind: 'AirThermometer',
    quantity: 'AirTemperature',
    unit: 'DegreeCelsius',
  },
  {
    text: 'airHumidity',
    id: 'HUM',
    kind: 'AirHumiditySensor',
    quantity: 'AirHumidity',
    unit: 'Percent',
  },
  {
    text: 'soilMoisture',
    id: 'SM',
    kind: 'SoilHumiditySensor',
    quantity: 'SoilHumidity',
    unit: 'Percent',
  },
  {
    text: 'soilTemperature',
    id: 'ST',
    kind: 'SoilThermometer',
    quantity: 'SoilTemperature',
    unit: 'DegreeCelsius',
  },
  { text: 'waterLevel', id: 'WL', quantity: 'WaterLevel', unit: 'Centimetre' },
  {
    text: 'waterTemperature',
    id: 'WT',
    quantity: 'WaterTemperature',
    unit: 'DegreeCelsius',
  },
  {
    text: 'rain',
    id: 'RAIN',
    kind: 'RainFallSensor',
    quantity: 'Rainfall',
    unit: 'Millimetre',
  },
  { text: 'light', id: 'LUM', kind: 'LightSensor', quantity: 'Illuminance', unit: 'Lux' },
  {
    text: 'battery',
    id: 'BAT',
    kind: 'BoardVoltageSensor',
    quantity: 'Voltage',
    unit: 'Volt',
  },
  { text: 'switch', id: 'SW' },
  {
    text: 'pressure',
    id: 'PA',
    kind: 'AtmosphericPressureSensor',
    quantity: 'AtmosphericPressure',
    unit: 'Millibar',
  },
  {
    text: 'carbonDioxide',
    id: 'CO2',
    kind: 'CO2Sensor',
    quantity: 'CO2',
    unit: 'PartsPerMillion',
  },
  {
    text: 'wind',
    id: 'WS',
    kind: 'WindSpeedSensor',
    quantity: 'WindSpeed',
    unit: 'MetrePerSecond',
  },
  { text: 'acidity', id: 'PH', kind: 'PHSensor', quantity: 'PH', unit: 'Dimensionless' },
  { text: 'power', id: 'PW', quantity: 'Power', unit: 'Watt' },
  { text: 'energy', id: 'EN', kind: 'EnergyMeter', quantity: 'Energy', unit: 'KiloWattHour' },
];

/** Sensors of a new device. */
export type Chosen = Pick<Draft, 'sensors' | 'other' | 'otherUnit'>;

/** The sensors that were tapped, and one more by its name and unit, as the service takes them. */
export function sensorsOf({
  sensors: ids,
  other: otherName,
  otherUnit: unit,
}: Chosen): readonly object[] {
  const chosen = usualSensors.filter(({ id }) => ids.includes(id));
  const other = otherName.trim();
  const otherId = idFromName(other) || 'S1';
  const isTaken = chosen.some(({ id }) => id === otherId);
  return [
    ...chosen.map(({ text, id, kind, quantity, unit }) => ({
      id,
      name: usualNames[language.value][text],
      ...(kind !== undefined && { sensing_device: kind }),
      ...(quantity !== undefined && { quantity_kind: quantity }),
      ...(unit !== undefined && { unit }),
    })),
    ...(other === ''
      ? []
      : [{ id: isTaken ? `${otherId}-2` : otherId, name: other, ...(unit !== '' && { unit }) }]),
  ];
}
