import type { Instant } from '../../lib/clock.ts';
import type { JsonValue } from '../../lib/json.ts';
import { parseEnd } from '../../lib/timestamp.ts';
import { type Payer, payerOfAccount } from '../budgets/budget.ts';
import type { SensorId } from '../ids.ts';
import { type Expression, parseExpression } from './expression.ts';
import type { Notification } from './notification.ts';

/** A notification made ready for evaluation. Nothing in it changes: its states are in the book. */
export interface Rule {
  readonly notification: Notification;
  readonly expression: Expression;
  /** A push to one of these is evaluated [spec 3.1]: the listed sensors and those it names. */
  readonly triggers: readonly SensorId[];
  /** Sensors whose last values it may ask for. */
  readonly named: readonly string[];
  readonly expiresAt: Instant;
  readonly throttlingMs: number;
  /** How long before its receipt a datapoint may have been measured. */
  readonly maxAgeMs: number;
  /** The payer whose quota it uses: its owner. */
  readonly payer: Payer;
}

/** Compiles a notification. Throws invalid for an expression that is malformed. */
export function createRule(
  notification: Notification,
  payer: Payer = payerOfAccount(notification.owner.toLowerCase()),
): Rule {
  const { condition, action, expires, throttlingSeconds = 0 } = notification;
  const expression = parseExpression(condition.expression);
  const template = action.kind === 'message' ? action.message : action.value;
  const expiresAt = expires === undefined ? undefined : parseEnd(expires);
  const triggers = [...new Set([...condition.sensors, ...expression.sensors])];
  // A rule's state for a device depends on the values of all sensors that trigger it.
  const remembered = expression.forMs > 0 || expression.clear.length > 0 ? triggers : [];
  return {
    notification,
    expression,
    triggers,
    named: [...new Set<string>([...expression.sensors, ...remembered, ...variablesIn(template)])],
    expiresAt: expiresAt ?? Number.POSITIVE_INFINITY,
    throttlingMs: throttlingSeconds * 1_000,
    maxAgeMs: (condition.maxAgeSeconds ?? Number.POSITIVE_INFINITY) * 1_000,
    payer,
  };
}

const bytesOfRule = 1_024;
/** Beside the id itself: a place in the index, and what the rule remembers of the device. */
const bytesOfDevice = 256;
const bytesOfSensor = 64;

/** Estimates a rule's bytes in memory; they grow only with what its owner wrote. */
export function bytesOf({ notification, triggers, named }: Rule): number {
  const { condition, action, description = '' } = notification;
  const texts = [...condition.devices, ...triggers, ...named, condition.expression, description];
  if (action.kind === 'message')
    texts.push(...action.usernames, ...action.usernames, action.message);
  else texts.push(JSON.stringify(action.value));
  const characters = texts.reduce((sum, text) => sum + text.length, 0);
  const parts = condition.devices.length * bytesOfDevice + triggers.length * bytesOfSensor;
  return bytesOfRule + 2 * characters + parts;
}

/** A variable in a message: its name, and whether `$` is before it. */
export const variable = /(\$?)\{([^{}]{1,256})\}/g;

/** The names in a template that may be sensors. */
export function variablesIn(value: JsonValue): readonly string[] {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return [...text.matchAll(variable)].flatMap(([, , name]) => (name === undefined ? [] : [name]));
}
