import type { JSX } from 'preact';
import type { AlertForm } from '../../alerts/alert-form.ts';
import { isNumeral } from '../../alerts/read-sentence.ts';
import type { Device } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';
import { deviceName, sensorName } from '../../ui/value.tsx';
import { BlankSelect, type Option } from './blanks.tsx';

/** What every part of the form is given. */
export interface Parts {
  readonly form: AlertForm;
  readonly devices: readonly Device[];
  readonly onForm: (form: AlertForm) => void;
}

const allDevices = '/all';
const theseDevices = '/these';

/** The device that is watched, or all of one's own. */
export function DeviceBlank({ form, devices, onForm }: Parts): JSX.Element {
  const [only, ...more] = form.devices;
  const value = only === undefined ? allDevices : more.length > 0 ? theseDevices : only;
  const isKnown = only === undefined || devices.some(({ id }) => id === only);
  const options: readonly Option<string>[] = [
    // An id holds no slash, so these are none.
    { value: allDevices, label: t('alerts.allDevices') },
    ...(more.length > 0
      ? [{ value: theseDevices, label: t('common.devices', { count: form.devices.length }) }]
      : []),
    ...(isKnown || more.length > 0 ? [] : [{ value: only, label: only }]),
    ...devices.map((device) => ({ value: device.id, label: deviceName(device) })),
  ];
  const choose = (id: string): void => {
    if (id === theseDevices) return;
    const chosen = id === allDevices ? [] : [id];
    const sensors = sensorOptions(chosen, devices, '');
    const [first] = sensors;
    // A sensor that the new device does not have gives way to its first one.
    const fits = (sensor: string): string =>
      sensors.some((option) => option.value === sensor) ? sensor : (first?.value ?? sensor);
    onForm({
      ...form,
      devices: chosen,
      otherSensors: form.otherSensors.map(fits),
      ...(form.sentence !== undefined && {
        sentence: {
          ...form.sentence,
          conditions: form.sentence.conditions.map((one) => ({ ...one, sensor: fits(one.sensor) })),
          ...(form.sentence.clear !== undefined && {
            clear: { ...form.sentence.clear, sensor: fits(form.sentence.clear.sensor) },
          }),
        },
      }),
    });
  };
  return (
    <BlankSelect label={t('alerts.device')} value={value} options={options} onValue={choose} />
  );
}

/** The sensors of the devices that are watched, each id once. */
export function sensorOptions(
  ids: readonly string[],
  devices: readonly Device[],
  chosen: string,
): readonly Option<string>[] {
  const watched = ids.length === 0 ? devices : devices.filter(({ id }) => ids.includes(id));
  const options = new Map(
    watched.flatMap(({ sensors }) =>
      sensors.map((sensor) => [sensor.id, sensorName(sensor)] as const),
    ),
  );
  if (chosen !== '' && !options.has(chosen)) options.set(chosen, chosen);
  return [...options].map(([value, label]) => ({ value, label }));
}

/** Whether the first condition is about a number, so that a line can be drawn for it. */
export function lineOf({ sentence }: AlertForm): { sensor: string; value: number } | undefined {
  const [first] = sentence?.conditions ?? [];
  if (first?.kind !== 'compare' || !isNumeral(first.value)) return undefined;
  return { sensor: first.sensor, value: Number(first.value) };
}
