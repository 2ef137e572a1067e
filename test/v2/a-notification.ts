import type { Call, Reply } from '../service.ts';

/** A notification with all its fields, which watches the sensor TC1 of the device D. */
export const notification = {
  description: 'heat',
  condition: { devices: ['D'], sensors: ['TC1'], expression: 'TC1 > 1000', max_age: 3_600 },
  action: { usernames: ['victim'], channels: ['sms'], message: 'It is {TC1}.' },
  expires: '2090-01-01T00:00:00Z',
  throttling: 60,
  status: 'active',
} as const;

/** Creates it and answers its id. */
export async function aNotification(
  as: (request: Omit<Call, 'token'>) => Promise<Reply>,
  fields: object = {},
): Promise<string> {
  const json = { ...notification, ...fields };
  const reply = await as({ method: 'POST', path: '/notifications', json });
  if (reply.status !== 200) throw new Error(`no notification: ${reply.text}`);
  return reply.text;
}
