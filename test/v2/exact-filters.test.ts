import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Service, startService } from '../service.ts';

let service: Service;

before(async () => {
  service = await startService();
  const serial = '840380235174088834';
  const next = '840380235174088835';
  const bodies = [
    `{"id":"12E3","name":"1.10","domain":"007","gateway_id":"1e2","meta":{"serial":"${serial}"}}`,
    `{"id":"12000","name":"1.1","domain":"7","gateway_id":"100","meta":{"serial":"${next}"}}`,
    `{"id":"12e3","name":"01.1","meta":{"serial":${serial},"tags":["1.0"],"in":{"v":"1.0"}}}`,
    `{"id":"12000.0","meta":{"serial":${next},"tags":["1"],"in":{"v":"1"}}}`,
    `{"id":"tagged","sensors":[{"id":"12E3"},{"id":"T"}]}`,
    `{"id":"tagged-2","sensors":[{"id":"12000"},{"id":"T"}]}`,
  ];
  for (const body of bodies) {
    const type = 'application/json';
    const reply = await service.call({ method: 'POST', path: '/devices', body, type });
    assert.equal(reply.status, 204, reply.text);
  }
  for (const [id, value] of Object.entries({ tagged: serial, 'tagged-2': next })) {
    const path = `/devices/${id}/sensors/T/value`;
    const body = `{"value":${value}}`;
    const pushed = await service.call({ method: 'POST', path, body, type: 'application/json' });
    assert.equal(pushed.status, 204, pushed.text);
  }
});

after(() => service[Symbol.asyncDispose]());

const cases: readonly (readonly [string, readonly string[]])[] = [
  ['id==12E3', ['12E3']],
  ['id==12000', ['12000']],
  ['id==12e3', ['12e3']],
  ['id==12E3,12000.0', ['12E3', '12000.0']],
  ['id!=12E3;id~=^12', ['12000', '12e3', '12000.0']],
  ['name==1.1', ['12000']],
  ['name==1.10', ['12E3']],
  ['domain==7', ['12000']],
  ['domain==007', ['12E3']],
  ['gateway_id==100', ['12000']],
  ['gateway_id==1e2;owner==guest', ['12E3']],
  ['owner==0', []],
  ['sensors==12E3', ['tagged']],
  ['meta.tags==1', ['12000.0']],
  ['meta.in.v==1.0', ['12e3']],
  // Numbers in meta equal the number and the text that is spelt the same, digit by digit.
  ['meta.serial==840380235174088834', ['12E3', '12e3']],
  ['meta.serial!=840380235174088834', ['12000', '12000.0']],
  ['meta.serial>840380235174088834', ['12000', '12000.0']],
  // Values of sensors are numbers.
  ['T==840380235174088834', ['tagged']],
  ['T==8.40380235174088835e17', ['tagged-2']],
];

for (const [filter, ids] of cases) {
  test(`the filter ${filter} finds ${ids.join(' and ') || 'nothing'}`, async () => {
    const reply = await service.call({ path: `/devices?q=${encodeURIComponent(filter)}` });
    assert.equal(reply.status, 200, reply.text);
    assert.deepEqual(
      (reply.json as { readonly id: string }[]).map(({ id }) => id),
      ids,
    );
  });
}
