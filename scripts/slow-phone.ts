import type { Page } from 'playwright-core';
import type { Stage, Visit } from '../test/dashboard/browser.ts';

/** A phone at the edge of its network: a quarter of this machine's speed, 400 kbit/s, 300 ms. */
export const slowPhone = { cpuRate: 4, bitsPerSecond: 400_000, latencyMs: 300 } as const;
/** With the speed of this machine: what is slowed down is busy waiting, and would count as work. */
export const quickPhone = { ...slowPhone, cpuRate: 1 } as const;
const runsUsual = 5;

const username = 'ama';
const minuteMs = 60_000;
const minutesOfDay = 1_440;
const chartSensors = ['TC', 'SM', 'PA', 'LI', 'BA'];
const mapDevices = 500;

/** What one screen cost until it showed what it is for. */
export interface ScreenCost {
  /** From the start of the navigation until the frame in which it shows was painted. */
  readonly shownMs: number;
  /** What the main thread of the page worked until then, as the processor counts it. */
  readonly workMs: number;
  /** Of answers that were whole by then. */
  readonly bytesBefore: number;
  /** On the wire until the network was quiet, headers included. */
  readonly bytes: number;
  readonly requests: number;
  /** Cumulative layout shift, as the browser counts it. */
  readonly shift: number;
}

/** Makes the window a slow phone's. */
export async function slowDown(
  page: Page,
  phone: typeof slowPhone | typeof quickPhone = slowPhone,
): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: phone.cpuRate });
  await devtools.send('Network.enable');
  const throughput = phone.bitsPerSecond / 8;
  await devtools.send('Network.emulateNetworkConditions', {
    ...{ offline: false, latency: phone.latencyMs },
    ...{ downloadThroughput: throughput, uploadThroughput: throughput },
  });
}

const watchShift = `globalThis.shift = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) {
    if (!entry.hadRecentInput) globalThis.shift += entry.value;
  }
}).observe({ type: 'layout-shift', buffered: true });`;

/**
 * Tells when what a selector matches has been painted, from within the page: the tools that find
 * elements from outside are scripts of their own, which the slowed page would have to run first.
 */
const watchShown = (selector: string): string => `(() => {
  const look = () => {
    if (document.querySelector(${JSON.stringify(selector)}) === null) return;
    observer.disconnect();
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => toldShown(String(performance.now()));
    requestAnimationFrame(() => port2.postMessage(0));
  };
  const observer = new MutationObserver(look);
  observer.observe(document, { subtree: true, childList: true, attributes: true });
})();`;

/** A screen, and what shows when it has what it is for. */
export interface PhoneScreen {
  readonly name: string;
  readonly path: string;
  readonly shown: string;
  readonly visit?: Visit;
  /** The phone was there before, and kept the files; else it has nothing cached. */
  readonly isKnown?: true;
}

/** Opens a screen on a slow phone, until `shown` matches. */
export async function costOf(
  stage: Stage,
  screen: Omit<PhoneScreen, 'name'>,
  phone: typeof slowPhone | typeof quickPhone = slowPhone,
): Promise<ScreenCost> {
  const page = await stage.visit({ username, width: 'phone', ...screen.visit });
  if (screen.isKnown === true) {
    await page.goto(screen.path);
    await page.locator(screen.shown).first().waitFor({ timeout: 60_000 });
    await page.waitForLoadState('networkidle', { timeout: 60_000 });
  }
  await slowDown(page, phone);
  await page.addInitScript(watchShift);
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Network.enable');
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
  let [bytes, requests] = [0, 0];
  devtools.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength;
    requests += 1;
  });
  await devtools.send('Runtime.enable');
  await devtools.send('Runtime.addBinding', { name: 'toldShown' });
  await page.addInitScript(watchShown(screen.shown));
  const shown = new Promise<number>((resolve) => {
    devtools.on('Runtime.bindingCalled', ({ payload }) => resolve(Number(payload)));
  });
  await devtools.send('Page.navigate', { url: `${stage.service.url}${screen.path}` });
  const shownMs = await shown;
  const bytesBefore = bytes;
  const { metrics } = await devtools.send('Performance.getMetrics');
  const work = metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0;
  await page.waitForLoadState('networkidle', { timeout: 60_000 });
  const shift = Number(await page.evaluate('globalThis.shift'));
  await page.context().close();
  return { shownMs, workMs: work * 1_000, bytesBefore, bytes, requests, shift };
}

async function send(stage: Stage, path: string, json: unknown): Promise<void> {
  const { status, text } = await stage.service.as(username)({ method: 'POST', path, json });
  if (status >= 300) throw new Error(`${path}: ${status} ${text}`);
}

/** A day of minutes from five sensors, and 500 devices on the map. */
export async function furnishForPhone(stage: Stage): Promise<void> {
  const units = ['DegreeCelsius', 'Percent', 'Hectopascal', 'Lux', 'Volt'];
  await send(stage, '/devices', {
    ...{ id: 'station', name: 'Station', location: { latitude: 6, longitude: 1 } },
    sensors: chartSensors.map((id, index) => ({ id, name: `Sensor ${id}`, unit: units[index] })),
  });
  const start = Date.now() - minutesOfDay * minuteMs;
  for (const [place, id] of chartSensors.entries()) {
    const json = Array.from({ length: minutesOfDay }, (_, index) => ({
      value: Math.round(200 + place * 50 + 80 * Math.sin(index / (90 + 40 * place))) / 10,
      timestamp: new Date(start + (index + 1) * minuteMs).toISOString(),
    }));
    await send(stage, `/devices/station/sensors/${id}/values`, json);
  }
  for (let from = 0; from < mapDevices; from += 50) {
    const numbers = Array.from({ length: 50 }, (_, index) => from + index);
    await Promise.all(numbers.map((number) => addPlot(stage, number)));
    // As from a gateway: how many milliseconds lie between them would count as bytes of the list.
    const values = numbers.flatMap((number) =>
      ['TC', 'SM'].map((sensor) => ({
        ...{ device_id: `plot-${number}`, sensor_id: sensor, value: 20 + (number % 9) },
      })),
    );
    await send(stage, '/sensors_data', values);
  }
}

async function addPlot(stage: Stage, number: number): Promise<void> {
  const id = `plot-${number}`;
  await send(stage, '/devices', {
    ...{ id, name: `Plot ${number}`, domain: 'agriculture' },
    location: { latitude: 5 + (number % 25) / 5, longitude: -2 + Math.floor(number / 25) / 5 },
    sensors: [
      { id: 'TC', name: 'Air', quantity_kind: 'AirTemperature', unit: 'DegreeCelsius' },
      { id: 'SM', name: 'Soil', quantity_kind: 'SoilHumidity', unit: 'Percent' },
    ],
  });
}

/** The screens that a phone must have soon, and when each has what it is for. */
export const phoneScreens: readonly PhoneScreen[] = [
  { name: 'home, first cards', path: '/', shown: 'a.card' },
  { name: 'a device, its values', path: '/devices/station', shown: 'a.tile' },
  {
    ...{ name: 'a device, its chart painted', path: '/devices/station' },
    shown: '.chart-place[aria-busy=false] canvas',
  },
  {
    ...{ name: 'the same for who comes back', path: '/devices/station', isKnown: true },
    shown: '.chart-place[aria-busy=false] canvas',
  },
  { name: 'map of 500 devices', path: '/map', shown: '.map-mark' },
];

/** The first window of a browser pays for its start: it is none of those that are measured. */
async function warmUp(stage: Stage): Promise<void> {
  const page = await stage.visit();
  await page.goto('/login');
  await page.locator('form').waitFor();
  await page.context().close();
}

/**
 * Measures them and says so, a line for each: the median of several visits and the quickest, which
 * a busy machine disturbs least; and what does not depend on who else works: bytes and work.
 */
export async function measureSlowPhone(
  stage: Stage,
  report: (what: string, figure: string) => void,
  runs = runsUsual,
): Promise<void> {
  await furnishForPhone(stage);
  await warmUp(stage);
  const costs = phoneScreens.map((): ScreenCost[] => []);
  // In turns, so that what disturbs one for a while disturbs the others as much.
  for (let run = 0; run < runs; run += 1) {
    for (const [index, screen] of phoneScreens.entries()) {
      costs[index]?.push(await costOf(stage, screen));
    }
  }
  for (const [index, { name, ...screen }] of phoneScreens.entries()) {
    const found = costs[index] ?? [];
    const times = found.map(({ shownMs }) => Math.round(shownMs)).toSorted((a, b) => a - b);
    const shift = Math.max(...found.map((cost) => cost.shift));
    const { bytes, bytesBefore, requests, workMs } = await costOf(stage, screen, quickPhone);
    const kilobytes = (count: number): number => Math.round(count / 1_000);
    report(
      `400 kbit/s, 300 ms, CPU / 4: ${name}`,
      `${times[times.length >> 1]} ms (quickest of ${runs}: ${times[0]}), ` +
        `${kilobytes(bytesBefore)} of ${kilobytes(bytes)} kB before, ${requests} requests, ` +
        `${Math.round(workMs)} ms of work unslowed, CLS ${shift.toFixed(3)}`,
    );
  }
}
