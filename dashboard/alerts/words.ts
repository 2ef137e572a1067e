import type { ChannelName, NotificationDraft } from '../api/alert-types.ts';
import type { Device, Sensor } from '../api/types.ts';
import { unitSymbol } from '../api/unit-symbol.ts';
import { formatSpan, formatValue, type Translate } from '../i18n/formats.ts';
import { actionOf, isChannel } from './alert-form.ts';
import { type Condition, isNumeral, readSentence } from './sentence.ts';

/** What is known to name things by. */
export interface Naming {
  readonly t: Translate;
  readonly language: string;
  readonly devices: readonly Device[];
}

const named = ({ id, name }: { readonly id: string; readonly name?: string }): string =>
  name === undefined || name === '' ? id : name;

/** What a channel is called. */
export const channelWord = (name: string, t: Translate): string =>
  isChannel(name) ? t(`alerts.channel-${name satisfies ChannelName}`) : name;

/** "When Soil of Field 3 is below 30 % for 20 minutes". */
export function conditionWords({ condition }: NotificationDraft, naming: Naming): string {
  const { t, language } = naming;
  const { devices, sensors, expression } = condition;
  const sentence = readSentence(expression);
  const device = deviceWords(devices, naming);
  if (sentence === undefined) return t('alerts.sayExpression', { expression, device });
  const [first, ...more] = sentence.conditions;
  if (first === undefined) {
    const names = sensors.map((id) => sensorWord(id, devices, naming));
    const either = new Intl.ListFormat(language, { type: 'disjunction' }).format(names);
    const sensor = t('alerts.sensorOf', { sensor: either, device });
    return t('alerts.say', { tests: `${sensor} ${t('alerts.is-any')}` });
  }
  const said = [
    testWords(first, devices, naming, device),
    ...more.map((one) => testWords(one, devices, naming)),
  ];
  const tests = new Intl.ListFormat(language, { type: 'conjunction' }).format(said);
  if (sentence.forSeconds === 0) return t('alerts.say', { tests });
  return t('alerts.sayFor', { tests, time: formatSpan(sentence.forSeconds * 1_000, t) });
}

/** The device by its name, or how many there are. */
export function deviceWords(ids: readonly string[], { t, devices }: Naming): string {
  if (ids.length === 0) return t('alerts.allDevices');
  const [id = ''] = ids;
  if (ids.length > 1) return t('common.devices', { count: ids.length });
  return named(devices.find((device) => device.id === id) ?? { id });
}

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
    return `${formatValue(Number(value), language, t)}\u00a0${unit}`.trim();
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

const sensorWord = (id: string, deviceIds: readonly string[], { devices }: Naming): string =>
  named(sensorOf(id, deviceIds, devices) ?? { id });

/** "Send SMS to ama", "Set Pump of Field 3 to on". */
export function actionWords(draft: NotificationDraft, { t, language, devices }: Naming): string {
  const action = actionOf(draft.action);
  const list = new Intl.ListFormat(language, { type: 'conjunction' });
  if (action.kind === 'message') {
    const channels = list.format(action.channels.map((name) => channelWord(name, t)));
    return t('alerts.saySend', { channels, people: list.format(action.usernames) });
  }
  const { device_id, actuator_id, actuator_value } = action;
  const device = devices.find(({ id }) => id === device_id);
  const actuator = device?.actuators.find(({ id }) => id === actuator_id);
  return t('alerts.saySet', {
    actuator: named(actuator ?? { id: actuator_id }),
    device: named(device ?? { id: device_id }),
    value: formatValue(actuator_value, language, t),
  });
}
