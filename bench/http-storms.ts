import { setTimeout as wait } from 'node:timers/promises';
import { numbers, type StormContext, type Storms } from './storm-context.ts';

const paths = (count: number): string =>
  numbers(count)
    .map((n) => `filled-${n}`)
    .join();

/** Reads and logins of guests and of an account that has just signed up. */
export const requestStorms = ({ status, login, signUp, token, devices }: StormContext): Storms => ({
  'list of 20 devices, guest': () => status('GET', '/devices?limit=20'),
  'list of 1,000 devices, guest': () => status('GET', '/devices?limit=1000'),
  'list at the end, account': () =>
    status('GET', `/devices?limit=20&offset=${devices - 20}`, { token }),
  'filter of ids, guest': () => status('GET', `/devices?q=id==${paths(300)}`),
  'permissions, account': () => status('GET', '/auth/permissions/devices', { token }),
  'wrong logins, 60 at once': async () => {
    const tries = numbers(60).map((n) => login(`nobody${n}`, 'wrong password'));
    return (await Promise.all(tries)).length;
  },
  'sign-ups, 30 at once': async () =>
    (await Promise.all(numbers(30).map((n) => signUp(`crowd${n}`)))).length,
});

/** Connections that come, break and go at once. */
export const connectionStorms = ({ service, open }: StormContext): Storms => ({
  '300 HTTP sockets close at once': async () => {
    const sockets = await Promise.all(numbers(300).map((at) => open(at, service.url)));
    await wait(200);
    for (const socket of sockets) socket.destroy();
    return sockets.length;
  },
  '300 HTTP requests on kept sockets, then close': async () => {
    const sockets = await Promise.all(numbers(300).map((at) => open(at, service.url)));
    for (const socket of sockets) socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n');
    await wait(500);
    for (const socket of sockets) socket.resetAndDestroy();
    return sockets.length;
  },
  '300 broken requests at once': async () => {
    const sockets = await Promise.all(numbers(300).map((at) => open(at, service.url)));
    for (const socket of sockets) socket.write('GET  /healthz HTTP/1.1\r\n\r\n');
    await wait(500);
    return sockets.length;
  },
});

/** Bodies that come in pieces of a byte. */
export const chunkStorms = ({ service, open }: StormContext): Storms => ({
  'HTTP chunks of 1 byte beside refused pushes': async () => {
    const sockets = await Promise.all(numbers(60).map((at) => open(at, service.url)));
    const head =
      'POST /api/v2/devices/filled-1/sensors/s/value HTTP/1.1\r\nhost: x\r\n' +
      'content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n';
    const until = performance.now() + 4_000;
    await Promise.all(
      sockets.map(async (socket, at) => {
        socket.resume();
        while (performance.now() < until && !socket.destroyed) {
          socket.write(head);
          const times = at % 2 === 0 ? 1 : 400;
          for (const _ of numbers(times)) {
            socket.write('1\r\n{\r\n');
            if (times > 1) await wait(0);
          }
          socket.write('0\r\n\r\n');
          await wait(1);
        }
        socket.destroy();
      }),
    );
    return sockets.length;
  },
  'many chunks in one write': async () => {
    const sockets = await Promise.all(numbers(20).map((at) => open(at, service.url)));
    const head =
      'POST /api/v2/devices/filled-1/sensors/s/values HTTP/1.1\r\nhost: x\r\n' +
      'content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n';
    for (const socket of sockets) {
      socket.resume();
      socket.write(`${head}1\r\n[\r\n${'1\r\n \r\n'.repeat(100_000)}0\r\n\r\n`);
    }
    await wait(2_000);
    for (const socket of sockets) socket.destroy();
    return sockets.length;
  },
});

/** Devices that are as large as they may be, and accounts of many. */
export const deviceStorms = ({ service, call, status, signUp, token }: StormContext): Storms => ({
  'a device of 1,000 sensors, deleted': async () => {
    const sensors = numbers(1_000).map((n) => ({ id: `s${n}`, meta: { a: 'x'.repeat(500) } }));
    const body = JSON.stringify({ id: 'wide', sensors });
    const made = await call('POST', '/devices', { token, body });
    await call('GET', '/devices/wide', { token });
    const gone = await call('DELETE', '/devices/wide', { token });
    return `${made.status} ${gone.status}`;
  },
  'export of a device of 1,000 sensors': async () => {
    const sensors = numbers(1_000).map((n) => ({ id: `s${n}` }));
    await call('POST', '/devices', { token, body: JSON.stringify({ id: 'zipped', sensors }) });
    for (const n of numbers(20)) {
      const values = JSON.stringify(numbers(20_000).map((value) => ({ value })));
      await call('POST', `/devices/zipped/sensors/s${n}/values`, { token, body: values });
    }
    await service.holds();
    return status('GET', '/devices/zipped/export', { token });
  },
  'an account of 200 devices deletes itself': async () => {
    const leaver = await signUp('leaver');
    for (const n of numbers(200)) {
      await call('POST', '/devices', { token: leaver, body: `{"id":"leaving-${n}"}` });
    }
    const { text } = await call('GET', '/users/me', { token: leaver });
    const { id } = JSON.parse(text) as { id: string };
    await service.holds();
    return (await call('DELETE', `/users/${id}`, { token: leaver })).status;
  },
});
