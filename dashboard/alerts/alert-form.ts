import type {
  ActuationAction,
  ChannelName,
  MessageAction,
  NotificationAction,
  NotificationDraft,
} from '../api/alert-types.ts';
import { channelNames } from '../api/alert-types.ts';
import { type Condition, isNumeral, readSentence, type Sentence } from './read-sentence.ts';
import { expressionOf, sensorsOf } from './sentence.ts';

/** What an alert does. */
export type AlertAction =
  | ({ readonly kind: 'message' } & MessageAction)
  | ({ readonly kind: 'actuation' } & ActuationAction);

/** An alert as the form holds it. */
export interface AlertForm {
  readonly description: string;
  /** None: every device of one's own that has the sensor. */
  readonly devices: readonly string[];
  /** Undefined: the expression is written by hand. */
  readonly sentence: Sentence | undefined;
  readonly expression: string;
  /** Sensors that are looked at without being named by the expression. */
  readonly otherSensors: readonly string[];
  readonly action: AlertAction;
  /** Seconds after which what was measured counts no more; undefined: it always counts. */
  readonly maxAge: number | undefined;
  /** 0: no least time between two firings. */
  readonly everySeconds: number;
  /** As given; empty: no end. */
  readonly until: string;
}

/** An action in one form, however it was spelled. */
export function actionOf(action: NotificationAction): AlertAction {
  if (!('type' in action)) return { kind: 'message', ...action };
  if (action.type === 'ActuationAction') return { kind: 'actuation', ...action.value };
  return { kind: 'message', ...action.value };
}

/** The form that shows an alert; what it has no words for it holds as an expression. */
export function formOf(alert: NotificationDraft): AlertForm {
  const { devices, sensors, expression, max_age } = alert.condition;
  const sentence = readSentence(expression);
  const named = sentence === undefined ? [] : sensorsOf(sentence);
  return {
    description: alert.description ?? '',
    devices,
    sentence,
    expression,
    otherSensors: sensors.filter((sensor) => !named.includes(sensor)),
    action: actionOf(alert.action),
    maxAge: max_age ?? undefined,
    everySeconds: alert.throttling ?? 0,
    until: alert.expires ?? '',
  };
}

/** The expression of a form, by its sentence or as written. */
export const formExpression = ({ sentence, expression }: AlertForm): string =>
  sentence === undefined ? expression.trim() : expressionOf(sentence);

/** What the service is asked to make; a change also removes what is empty. */
export function draftOf(form: AlertForm): NotificationDraft {
  const { devices, sentence, otherSensors, action, everySeconds, until } = form;
  const named = sentence === undefined ? [] : sensorsOf(sentence);
  const description = form.description.trim();
  return {
    ...(description !== '' && { description }),
    condition: {
      devices,
      sensors: [...new Set([...named, ...otherSensors])],
      expression: formExpression(form),
      ...(form.maxAge !== undefined && { max_age: form.maxAge }),
    },
    action: wireAction(action),
    ...(everySeconds > 0 && { throttling: everySeconds }),
    ...(until !== '' && { expires: until }),
  };
}

/** The draft as a change of an alert that is there: what is left out is removed. */
export function changesOf(form: AlertForm): Readonly<Record<string, unknown>> {
  return { description: null, throttling: null, expires: null, ...draftOf(form) };
}

function wireAction(action: AlertAction): NotificationAction {
  if (action.kind === 'actuation') {
    const { device_id, actuator_id, actuator_value } = action;
    return { type: 'ActuationAction', value: { device_id, actuator_id, actuator_value } };
  }
  const { usernames, channels, message } = action;
  return { usernames, channels, message };
}

/** What still has to be filled in, in the order of the form. */
export type FormGap =
  | 'sensor'
  | 'value'
  | 'number'
  | 'time'
  | 'expression'
  | 'usernames'
  | 'channels'
  | 'message'
  | 'actuator'
  | 'until';

/** The first gap of a form; undefined when it can be sent. */
export function gapOf(form: AlertForm, now: number): FormGap | undefined {
  return conditionGap(form) ?? actionGap(form.action) ?? untilGap(form.until, now);
}

/** The first gap of what is watched: without one it can be tried on the past. */
export function conditionGap({ sentence, expression, otherSensors }: AlertForm) {
  if (sentence === undefined) {
    return expression.trim() === '' && otherSensors.length === 0 ? 'expression' : undefined;
  }
  const { conditions, clear } = sentence;
  if (conditions.length === 0 && otherSensors.length === 0) return 'sensor';
  const tests: readonly Condition[] = [...conditions, ...(clear === undefined ? [] : [clear])];
  for (const test of tests) {
    const gap = testGap(test);
    if (gap !== undefined) return gap;
  }
  return undefined;
}

function testGap(test: Condition): FormGap | undefined {
  if (test.sensor === '') return 'sensor';
  if (test.kind === 'silent') return test.seconds > 0 ? undefined : 'time';
  const values = test.kind === 'range' ? [test.low, test.high] : [test.value];
  if (values.some((value) => value.trim() === '')) return 'value';
  const isOrdered =
    test.kind === 'range' || !(test.comparison === 'equals' || test.comparison === 'differs');
  return isOrdered && !values.every(isNumeral) ? 'number' : undefined;
}

function actionGap(action: AlertAction): FormGap | undefined {
  if (action.kind === 'actuation') {
    const isGiven = action.actuator_id !== '' && action.actuator_value !== undefined;
    return isGiven ? undefined : 'actuator';
  }
  if (action.usernames.length === 0) return 'usernames';
  if (action.channels.length === 0) return 'channels';
  return action.message.trim() === '' ? 'message' : undefined;
}

function untilGap(until: string, now: number): FormGap | undefined {
  const at = Date.parse(until);
  return until === '' || Number.isNaN(at) || at > now ? undefined : 'until';
}

/** A number typed with a comma, as most of the languages do, with the point of the API. */
export function plainNumber(text: string): string {
  const plain = text.trim().replace(',', '.');
  return isNumeral(plain) ? plain : text;
}

/** The message proposed: which device, which sensor, and its value. */
export function proposedMessage(sensor: { readonly id: string; readonly name: string }, unit = '') {
  const space = unit === '' ? '' : ` ${unit}`;
  // With a $, the id of the device [contract 7].
  return `$\{id}: ${sensor.name} {${sensor.id}}${space}`;
}

/** Whether it is one of the channels that have words. */
export const isChannel = (name: string): name is ChannelName =>
  channelNames.some((known) => known === name);
