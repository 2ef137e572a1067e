import Type from 'typebox';
import { pushProblems, type RefusedPush } from '../domain/datapoints/refusal-book.ts';
import type { ErrorCode } from '../domain/errors.ts';
import { defined } from '../lib/record.ts';
import { Message, OneOf, optional, Plain } from './fields.ts';
import type { ExactCode } from './refusal-code.ts';

/** A code that answers have: an exact one, or the kind of the error. */
export type RefusalCode = ExactCode | ErrorCode;

export const RefusalMessage = Message('Refusal', {
  date: Type.String({ format: 'date-time', description: 'The last time.' }),
  problem: OneOf(pushProblems, 'What was wrong; a newer service may know more.'),
  via: OneOf(['http', 'mqtt'], 'How it came.'),
  count: Type.Integer({ minimum: 1, description: 'How often, all alike.' }),
  ...optional({
    device_id: Plain('As it was sent.'),
    sensor_id: Plain('As it was sent.'),
    path: Plain('The path or topic that it was sent to the last time.'),
    description: Plain('What was wrong the last time, and what to change.'),
    excerpt: Plain('How the body or payload began the last time.'),
    elements: Type.Array(
      Type.Object({
        index: Type.Integer({ minimum: 0, description: 'In the array, from 0.' }),
        description: Plain('What is wrong with it.'),
        excerpt: Plain('How it begins.'),
      }),
      { description: 'Of an array: the first that were refused, while others were stored.' },
    ),
  }),
});

export const refusalToWire = (refusal: RefusedPush) => {
  const { at, problem, via, count, deviceId, sensorId, path, description } = refusal;
  return defined({
    date: new Date(at).toISOString(),
    ...{ problem, via, count },
    device_id: deviceId,
    sensor_id: sensorId,
    ...{ path, description, excerpt: refusal.excerpt, elements: refusal.elements },
  });
};
