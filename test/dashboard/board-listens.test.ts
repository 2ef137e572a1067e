import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { haveClients, mosquittoPub, mosquittoSub } from '../walks/mosquitto-program.ts';
import { browserTest, openStage, type Stage } from './browser.ts';

let stage: Stage;
before(async () => {
  stage = await openStage();
});
after(async () => {
  await stage[Symbol.asyncDispose]();
  assert.deepEqual(stage.faults, []);
});

/** The words of a line to copy, as a shell parts them; the program itself is left out. */
function wordsOf(line: string): readonly string[] {
  const { hostname, port } = new URL(stage.service.mqttUrl);
  const words = [...line.replaceAll('\\\n', ' ').matchAll(/'([^']*)'|(\S+)/g)].map(
    ([, quoted, plain]) => quoted ?? plain ?? '',
  );
  // The service of a test listens where the system let it.
  const own: Readonly<Record<string, string>> = { '-h': hostname, '-p': port };
  return words.map((word, at) => own[words[at - 1] ?? ''] ?? word).slice(1);
}

browserTest('a board hears the switch with the key of its screen, and confirms it', async () => {
  assert.ok(haveClients || process.env['CI'] !== 'true', 'CI needs mosquitto_pub and _sub');
  if (!haveClients) return;
  const json = {
    ...{ id: 'field', name: 'Maize', visibility: 'private' },
    sensors: [{ id: 'SM', name: 'Soil', unit: 'Percent' }],
    actuators: [{ id: 'pump', name: 'Pump', value_type: 'bool', value: false }],
  };
  const made = await stage.service.as('kojo')({ method: 'POST', path: '/devices', json });
  assert.ok(made.status < 300, made.text);
  const page = await stage.visit({ username: 'kojo', width: 'phone' });
  await page.goto('/devices/field/send');
  await page.getByRole('button', { name: 'Make a key for this device' }).tap();
  await page.getByText('/devices/field/actuators/pump').first().waitFor();
  await page.getByRole('button', { name: 'Python' }).tap();
  await page.getByText('client.subscribe(topic, qos=1)').waitFor();
  await page.getByRole('button', { name: 'Arduino' }).tap();
  await page.getByLabel('Name of your Wi-Fi').fill('home');
  await page.getByText('#include <PubSubClient.h>').waitFor();
  await page.getByText('It needs the library PubSubClient').waitFor();
  await page.getByRole('button', { name: 'MQTT' }).tap();
  const lines = page.getByRole('region', { name: 'What Pump is set to' });
  await lines.waitFor();
  const board = await mosquittoSub(1, wordsOf(await lines.innerText()));
  const confirm = await page.getByRole('region', { name: 'Confirm' }).innerText();
  await page.goto('/devices/field');
  await page.getByRole('switch', { name: 'Pump' }).tap();
  assert.match((await board.ended).output, /^true$/m);
  await page.getByText('not confirmed by the device yet').waitFor();
  const said = wordsOf(confirm.replace('false', 'true'));
  const { code, errors } = await mosquittoPub(said);
  assert.equal(code, 0, errors);
  await page.getByText('the device confirmed').waitFor();
  await page.context().close();
});
