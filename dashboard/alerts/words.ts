import type { ChannelName, NotificationDraft } from '../api/alert-types.ts';
import { formatSpan, formatValue, type Translate } from '../i18n/formats.ts';
import { actionOf, isChannel } from './alert-form.ts';
import { type Naming, named, sensorWord, testWords } from './condition-words.ts';
import { readSentence } from './read-sentence.ts';

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

/** "Send SMS to ama", "Set Pump of Field 3 to on". */
export function actionWords(draft: NotificationDraft, naming: Naming): string {
  const { t, language, devices, nameOf } = naming;
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
    actuator: nameOf(actuator ?? { id: actuator_id }),
    device: named(device ?? { id: device_id }),
    value: formatValue(actuator_value, language, t),
  });
}
