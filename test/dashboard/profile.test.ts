import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { browserTest, openStage, type Stage } from './browser.ts';

let stage: Stage;
before(async () => {
  stage = await openStage();
});
after(async () => {
  await stage[Symbol.asyncDispose]();
  assert.deepEqual(stage.faults, []);
});

browserTest('an e-mail address is proven with the code that was sent to it', async () => {
  const put = { method: 'PUT', path: '/users/me', json: { email: 'kojo@example.org' } };
  assert.equal((await stage.service.as('kojo')(put)).status, 204);
  const page = await stage.visit({ username: 'kojo', width: 'phone' });
  await page.goto('/profile');
  await page.getByRole('button', { name: 'Send a code' }).click();
  await stage.channels.until(1);
  const code = /\b\w{4}-\w{4}\b/.exec(stage.channels.sent.at(-1)?.text ?? '')?.[0] ?? '';
  await page.getByLabel('The code').fill('AAAA-AAAA');
  await page.getByRole('button', { name: 'Confirm' }).click();
  await page.getByText('The code is wrong').waitFor();
  await page.getByLabel('The code').fill(code);
  await page.getByRole('button', { name: 'Confirm' }).click();
  await page.getByText('kojo@example.org is confirmed').waitFor();
  const { json } = await stage.service.as('kojo')({ path: '/users/me' });
  assert.deepEqual((json as { readonly proven?: unknown }).proven, { email: ['kojo@example.org'] });
  await page.context().close();
});

browserTest(
  'a phone number is proven with the code of a text message, another is not',
  async () => {
    const [own, other] = ['+233201234567', '+233207654321'];
    const as = stage.service.as('efua');
    const put = { method: 'PUT', path: '/users/me', json: { phone: [own, other] } };
    assert.equal((await as(put)).status, 204);
    const page = await stage.visit({ username: 'efua', width: 'phone' });
    await page.goto('/profile');
    const line = page.locator('.lines > li', { hasText: own });
    const before = stage.channels.sent.length;
    await line.getByRole('button', { name: 'Send a code' }).click();
    await stage.channels.until(before + 1);
    const sent = stage.channels.sent.at(-1);
    assert.equal(sent?.channel, 'sms');
    assert.equal(sent.message.to.phone, own);
    const code = /\b\w{4}-\w{4}\b/.exec(sent.text)?.[0] ?? '';
    await line.getByLabel('The code').fill(code);
    await line.getByRole('button', { name: 'Confirm' }).click();
    await page.getByText(`${own} is confirmed`).waitFor();
    await line.getByText('confirmed', { exact: true }).waitFor();
    await page
      .locator('.lines > li', { hasText: other })
      .getByRole('button', { name: 'Send a code' })
      .waitFor();
    const { json } = await as({ path: '/users/me' });
    assert.deepEqual((json as { readonly proven?: unknown }).proven, { phone: [own] });
    await page.context().close();
  },
);

browserTest('a webhook is set in the profile, shows its secret and is tried', async () => {
  const page = await stage.visit({ username: 'adwoa', width: 'desktop' });
  await page.goto('/profile/developers');
  await page.getByLabel('Webhook URL').fill('no address');
  const save = page.getByRole('region', { name: 'Webhook' }).getByRole('button', { name: 'Save' });
  await save.click();
  await page.getByText('Write the webhook as a whole URL').waitFor();
  await page.getByLabel('Webhook URL').fill('https://farm.example.org/hook');
  await save.click();
  await page.getByRole('button', { name: 'Show the secret' }).click();
  const secret = await page.getByRole('region', { name: 'Show the secret' }).textContent();
  const as = stage.service.as('adwoa');
  assert.equal(secret, (await as({ path: '/users/me/webhook_secret' })).text);
  const { json } = await as({ path: '/users/me' });
  const { webhook } = json as { readonly webhook?: unknown };
  assert.deepEqual(webhook, ['https://farm.example.org/hook']);
  await page.getByRole('button', { name: /test/i }).waitFor();
  await page.getByRole('link', { name: 'Me', exact: true }).click();
  await page.getByText(/Your devices take 0 .*MiB/).waitFor();
  await page.context().close();
});

browserTest('the profile is two screens, and one tap leads from each to the other', async () => {
  const page = await stage.visit({ username: 'yaa', width: 'phone' });
  await page.goto('/profile');
  const password = page.locator('summary', { hasText: 'Password' });
  await password.tap();
  await page.getByLabel('Current password').waitFor();
  assert.equal(await page.getByRole('heading', { name: 'Keys' }).count(), 0);
  await page.getByRole('link', { name: 'For developers' }).tap();
  await page.getByRole('heading', { name: 'Keys' }).waitFor();
  assert.equal(new URL(page.url()).pathname, '/profile/developers');
  const lines = page.getByRole('region', { name: 'MQTT' });
  assert.match((await lines.textContent()) ?? '', /mosquitto_sub .*\n {2}-u 'yaa'/);
  assert.equal(await page.getByLabel('Current password').count(), 0);
  await page.getByRole('link', { name: 'Me', exact: true }).tap();
  await password.waitFor();
  assert.equal(await page.getByLabel('Current password').count(), 0);
  const height = await page.evaluate('document.documentElement.scrollHeight');
  assert.ok(Number(height) < 2 * 844, `Me is ${height} px high`);
  // An anchor of the one screen that both were.
  await page.goto('/more');
  await page.goto('/profile#keys');
  await page.getByRole('heading', { name: 'Keys' }).waitFor();
  await page.context().close();
});

browserTest('a code comes in the language that its reader has chosen', async () => {
  const put = { method: 'PUT', path: '/users/me', json: { email: 'awa@example.org' } };
  assert.equal((await stage.service.as('awa')(put)).status, 204);
  const page = await stage.visit({ username: 'awa', width: 'phone', language: 'fr' });
  await page.goto('/profile');
  const before = stage.channels.sent.length;
  await page.locator('.lines > li', { hasText: 'awa@example.org' }).getByRole('button').tap();
  await stage.channels.until(before + 1);
  assert.match(stage.channels.sent.at(-1)?.text ?? '', /est le code qui confirme cette adresse/);
  await page.context().close();
});

browserTest('a number without its country gets it from a list before it is saved', async () => {
  const page = await stage.visit({ username: 'fatou', width: 'phone', language: 'fr' });
  await page.goto('/profile');
  const phone = page.getByLabel('Téléphone', { exact: false }).first();
  await phone.fill('77 123 45 67');
  const country = page.getByLabel('Pays du numéro');
  await country.selectOption({ label: 'Sénégal +221' });
  assert.equal(await phone.inputValue(), '+221 77 123 45 67');
  await country.selectOption({ label: 'Mali +223' });
  assert.equal(await phone.inputValue(), '+223 77 123 45 67');
  await page.getByRole('button', { name: 'Enregistrer' }).first().tap();
  await page.getByText('Votre profil est enregistré').waitFor();
  const { json } = await stage.service.as('fatou')({ path: '/users/me' });
  assert.deepEqual((json as { readonly phone: readonly string[] }).phone, ['+223771234567']);
  await page.context().close();
});
