// Makes pictures of every screen with demo data: node scripts/screenshots.ts FOLDER [LANGUAGE …]
// With --readme alone: the few of docs/screenshots, as a window shows them.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Page } from 'playwright-core';
import { openStage, type Stage, type Visit, widths } from '../test/dashboard/browser.ts';
import { passwordOf } from '../test/service.ts';

const isForReadme = process.argv.includes('--readme');
const words = process.argv.slice(2).filter((word) => word !== '--readme');
const [folder = isForReadme ? 'docs/screenshots' : 'screenshots', ...wanted] = words;
const languages = wanted.length === 0 ? ['en'] : wanted;
const username = 'ama';
/** In other languages, the screens that say most. */
const talkative = ['home', 'device', 'alert-new'];

interface Shot {
  readonly name: string;
  readonly path: string;
  readonly isGuest?: true;
}

async function runDemo(url: string): Promise<void> {
  const main = resolve(import.meta.dirname, '../src/main.ts');
  const account = ['--username', username, '--password', passwordOf(username)];
  const past = ['--history', '8d', '--step', '15m', '--once', '--devices', '10'];
  const demo = [main, 'demo', '--url', url, ...account, ...past];
  const child = spawn(process.execPath, demo, { stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = (await once(child, 'close')) as readonly (number | null)[];
  if (code !== 0) throw new Error(`the demo left with ${code}`);
}

/** What the demo does not make: shares, a project, alerts, a control, a device that is silent. */
async function addMore({ service }: Stage): Promise<readonly Shot[]> {
  const as = service.as(username);
  const list = async (path: string) => {
    const { json } = await as({ path });
    return json as readonly { readonly id: string; readonly sensors: { readonly id: string }[] }[];
  };
  const devices = await list('/devices?limit=50&q=owner==ama');
  const gateways = await list('/gateways');
  const [first] = devices;
  const sensor = first?.sensors[0]?.id ?? '';
  if (first === undefined) throw new Error('the demo made no device');
  await service.tokenOf('kofi');
  const grants = ['devices:view', 'devices-data:view', 'devices-data:create'];
  await as({ method: 'PUT', path: `/devices/${first.id}/grants/kofi`, json: grants });
  const pump = { id: 'pump', name: 'Pump', value_type: 'bool', value: true };
  await as({ method: 'POST', path: `/devices/${first.id}/actuators`, json: pump });
  const project = await as({
    ...{ method: 'POST', path: '/projects' },
    json: { name: 'Harvest', device_ids: devices.map(({ id }) => id).slice(0, 5) },
  });
  const alert = await as({
    ...{ method: 'POST', path: '/notifications' },
    json: {
      condition: { devices: [first.id], sensors: [sensor], expression: `${sensor} > 29` },
      action: { usernames: [username], channels: ['sms'], message: `Look: {${sensor}}` },
      throttling: 21_600,
    },
  });
  const path = `/devices/${first.id}/sensors/${sensor}/value`;
  await as({ method: 'POST', path, json: { value: 30 } });
  const well = { id: 'L', name: 'Water level', unit: 'Metre' };
  const silent = { id: 'old-well', name: 'Old well', sensors: [well] };
  await as({ method: 'POST', path: '/devices', json: silent });
  const old = { value: 3.2, timestamp: new Date(Date.now() - 3e8).toISOString() };
  await as({ method: 'POST', path: '/devices/old-well/sensors/L/value', json: old });
  const gateway = gateways[0]?.id ?? '';
  const device = `/devices/${first.id}`;
  return [
    { name: 'welcome', path: '/', isGuest: true },
    { name: 'login', path: '/login', isGuest: true },
    { name: 'signup', path: '/signup', isGuest: true },
    { name: 'forgotten', path: '/forgotten', isGuest: true },
    { name: 'home', path: '/' },
    { name: 'map', path: '/map' },
    { name: 'alerts', path: '/alerts' },
    { name: 'alert-new', path: `/alerts/new?device=${first.id}&sensor=${sensor}` },
    { name: 'alert', path: `/alerts/${alert.text}` },
    { name: 'gateways', path: '/gateways' },
    { name: 'gateway', path: `/gateways/${gateway}` },
    { name: 'gateway-share', path: `/gateways/${gateway}/share` },
    { name: 'projects', path: '/projects' },
    { name: 'project', path: `/projects/${project.text}` },
    { name: 'sharing', path: '/sharing' },
    { name: 'groups', path: '/groups' },
    { name: 'messages', path: '/messages' },
    { name: 'profile', path: '/profile' },
    { name: 'developers', path: '/profile/developers' },
    { name: 'more', path: '/more' },
    { name: 'device-new', path: '/new-device' },
    { name: 'device', path: device },
    { name: 'device-settings', path: `${device}/settings` },
    { name: 'device-share', path: `${device}/share` },
    { name: 'device-data', path: `${device}/data` },
    { name: 'device-send', path: `${device}/send` },
    { name: 'sensor', path: `${device}/sensors/${sensor}` },
    { name: 'sensor-new', path: `${device}/new-sensor` },
    { name: 'actuator', path: `${device}/actuators/pump` },
  ];
}

const doneScreen = 'main:has(h1):not(:has(.skeleton)):not(:has([aria-busy=true]))';

async function shoot(page: Page, { name, path }: Shot, label: string): Promise<void> {
  await page.goto(path);
  await page.locator(doneScreen).waitFor();
  await page.waitForLoadState('networkidle');
  await page.screenshot({ path: join(folder, `${name}-${label}.png`), fullPage: true });
}

async function shootAll(stage: Stage, shots: readonly Shot[], visit: Visit): Promise<void> {
  const { width, theme, language = 'en' } = visit;
  const user = await stage.visit({ ...visit, username });
  const guest = await stage.visit(visit);
  const shown = language === 'en' ? shots : shots.filter(({ name }) => talkative.includes(name));
  for (const shot of shown) {
    const page = shot.isGuest === true ? guest : user;
    await shoot(page, shot, [width, theme, language].join('-'));
  }
  const admin = await stage.visit({ ...visit, username: 'admin' });
  for (const name of language === 'en' ? ['users', 'usage'] : []) {
    await shoot(admin, { name, path: `/${name}` }, `${width}-${theme}`);
  }
  for (const page of [user, guest, admin]) await page.context().close();
}

const favourites = [
  { name: 'home', width: 'desktop', theme: 'light' },
  { name: 'device', width: 'desktop', theme: 'light' },
  { name: 'home', width: 'phone', theme: 'dark' },
  { name: 'alert-new', width: 'phone', theme: 'light' },
  { name: 'map', width: 'desktop', theme: 'dark' },
] as const;

/** Small enough for a page that shows several of them. */
async function shootFavourites(stage: Stage, shots: readonly Shot[]): Promise<void> {
  for (const { name, width, theme } of favourites) {
    const page = await stage.visit({ username, width, theme });
    await page.goto(shots.find((shot) => shot.name === name)?.path ?? '/');
    await page.locator(doneScreen).waitFor();
    if (name === 'map') await page.locator('.map-name > span').first().waitFor();
    await page.waitForLoadState('networkidle');
    const path = join(folder, `${name}-${width}.jpg`);
    await page.screenshot({ path, type: 'jpeg', quality: 72 });
    await page.context().close();
  }
}

/** On a phone: a value that is put right, and the list from which that is undone. */
async function shootCorrection(stage: Stage, shots: readonly Shot[]): Promise<void> {
  const page = await stage.visit({ username, width: 'phone' });
  const shootAs = (name: string) =>
    page.screenshot({ path: join(folder, `${name}-phone.jpg`), type: 'jpeg', quality: 72 });
  await page.goto(shots.find(({ name }) => name === 'sensor')?.path ?? '/');
  await page.locator(doneScreen).waitFor();
  const plot = page.locator('.plot .u-over').first();
  const box = await plot.boundingBox();
  await plot.tap({ position: { x: (box?.width ?? 2) - 2, y: (box?.height ?? 0) / 2 } });
  await page.getByRole('button', { name: 'This is wrong' }).tap();
  await page.getByLabel('What it should be').fill('26.4');
  await shootAs('wrong-value');
  await page.getByRole('button', { name: 'Correct it' }).tap();
  await page.getByText('→ 26.4').first().waitFor();
  await page.getByText('Removed and corrected values').tap();
  await page.locator('.correction', { hasText: '→' }).first().waitFor();
  await shootAs('corrections');
  await page.context().close();
}

mkdirSync(folder, { recursive: true });
const stage = await openStage();
try {
  await stage.service.tokenOf(username);
  await runDemo(stage.service.url);
  const shots = await addMore(stage);
  if (isForReadme) {
    await shootFavourites(stage, shots);
    await shootCorrection(stage, shots);
  }
  for (const language of isForReadme ? [] : languages) {
    for (const width of Object.keys(widths) as (keyof typeof widths)[]) {
      for (const theme of ['light', 'dark'] as const) {
        await shootAll(stage, shots, { width, theme, language });
      }
    }
  }
} finally {
  await stage[Symbol.asyncDispose]();
}
