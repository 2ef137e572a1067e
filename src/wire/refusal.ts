import Type from 'typebox';
import type { RefusedPush } from '../domain/datapoints/refusal-book.ts';

export const RefusalMessage = Type.Object(
  {
    date: Type.String({ format: 'date-time', description: 'The last time.' }),
    problem: Type.Union(
      [
        Type.Literal('no_key'),
        Type.Literal('wrong_key'),
        Type.Literal('not_allowed'),
        Type.Literal('unknown_device'),
        Type.Literal('unknown_sensor'),
        Type.Literal('wrong_path'),
        Type.Literal('unreadable'),
        Type.Literal('clock_ahead'),
        Type.Literal('too_large'),
        Type.Literal('too_often'),
        Type.Literal('no_room'),
        Type.Literal('unavailable'),
      ],
      { description: 'What was wrong; a newer service may know more.' },
    ),
    via: Type.Union([Type.Literal('http'), Type.Literal('mqtt')]),
    count: Type.Integer({ minimum: 1, description: 'How often, all alike.' }),
    device_id: Type.Optional(Type.String({ description: 'As it was sent.' })),
    sensor_id: Type.Optional(Type.String({ description: 'As it was sent.' })),
  },
  { title: 'Refusal' },
);

export const refusalToWire = ({ at, problem, via, count, deviceId, sensorId }: RefusedPush) => ({
  date: new Date(at).toISOString(),
  ...{ problem, via, count },
  ...(deviceId !== undefined && { device_id: deviceId }),
  ...(sensorId !== undefined && { sensor_id: sensorId }),
});
