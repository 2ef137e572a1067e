import { existsSync } from 'node:fs';
import { test } from 'node:test';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core';
import { type Service, type ServiceOptions, startService } from '../service.ts';
import { createRecordingChannels, type RecordingChannels } from '../v2/recording-channels.ts';
import { builtDashboard } from './built-dashboard.ts';

/** Without windows it takes less than half of the time, so it comes first. */
const usualNames = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];
const usualPaths = usualNames.map((name) => `/usr/bin/${name}`);
const browserPath = [process.env['CHROMIUM_PATH'], ...usualPaths].find(
  (path) => path !== undefined && existsSync(path),
);
/** No state is waited for longer; only a machine that is very busy needs more than a second. */
const waitMsMax = 60_000;

/** A test in a real browser: on CI it fails without one, elsewhere it is skipped and says so. */
export function browserTest(name: string, run: () => Promise<void>): void {
  if (browserPath !== undefined) {
    test(name, run);
    return;
  }
  const sentence = 'there is no Chromium: install it, or say where by CHROMIUM_PATH';
  if (process.env['CI'] !== 'true') {
    test(name, { skip: sentence });
    return;
  }
  test(name, () => {
    throw new Error(sentence);
  });
}

export const widths = { phone: 390, desktop: 1_440 } as const;
export type Width = keyof typeof widths;

/**
 * What every visit has otherwise than its walk says: WALKS_OTHERWISE=width, theme or both, with a
 * comma. So each walk can be seen to hold at both widths, and in both themes.
 */
const otherwise = new Set((process.env['WALKS_OTHERWISE'] ?? '').split(','));

export interface Visit {
  /** Logged in as this user; absent: a guest. */
  readonly username?: string;
  readonly width?: Width;
  readonly theme?: 'light' | 'dark';
  readonly language?: string;
  /** The file that keeps the shell for the time offline; off, so that all requests are seen. */
  readonly hasServiceWorker?: boolean;
}

/** The real app with the built web app, and a browser in front of it. */
export interface Stage {
  readonly service: Service;
  readonly channels: RecordingChannels;
  /** A window of its own, with its own storage. */
  visit(visit?: Visit): Promise<Page>;
  /** What no visit may do: leave the origin, break the policy, fail in a script, tell a token. */
  readonly faults: readonly string[];
  [Symbol.asyncDispose](): Promise<void>;
}

/** Opens the service and the browser. */
export async function openStage(
  environment: Readonly<Record<string, string>> = {},
  options: Pick<ServiceOptions, 'isStartedByHand' | 'clock'> = {},
): Promise<Stage> {
  const { folder } = await builtDashboard();
  const channels = createRecordingChannels();
  const service = await startService({
    ...options,
    ...{ environment, dashboardFolder: folder, channels: channels.open },
  });
  // Opened when it is first needed: tests that are skipped for want of one do not fail before.
  let opened: Promise<Browser> | undefined;
  const faults: string[] = [];
  const tokens = new Set<string>();
  return {
    ...{ service, channels, faults },
    async visit(visit = {}) {
      const { username } = visit;
      const token = username === undefined ? undefined : await service.tokenOf(username);
      if (token !== undefined) tokens.add(token);
      opened ??= openBrowser();
      const context = await (await opened).newContext(contextOptions(service.url, visit, token));
      context.setDefaultTimeout(waitMsMax);
      watchFaults(context, { origin: service.url, tokens, faults });
      return context.newPage();
    },
    async [Symbol.asyncDispose]() {
      await (await opened)?.close();
      await service[Symbol.asyncDispose]();
    },
  };
}

function openBrowser(): Promise<Browser> {
  if (browserPath === undefined) throw new Error('there is no Chromium');
  return chromium.launch({
    executablePath: browserPath,
    // The pages are our own, and containers have no other sandbox to offer.
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
}

/** What the walk says, else the first; the other one where all have it otherwise. */
function either<Choice>(
  [usual, other]: readonly [Choice, Choice],
  said: Choice | undefined,
  what: 'width' | 'theme',
): Choice {
  return ((said ?? usual) === usual) === otherwise.has(what) ? other : usual;
}

function contextOptions(
  origin: string,
  visit: Visit,
  token: string | undefined,
): BrowserContextOptions {
  const { username, language = 'en' } = visit;
  const width = either<Width>(['desktop', 'phone'], visit.width, 'width');
  const theme = either<'light' | 'dark'>(['light', 'dark'], visit.theme, 'theme');
  const session = JSON.stringify({ token, username, obtainedAt: Date.now() });
  const kept = [{ name: 'kipimo.language', value: language }];
  const localStorage =
    token === undefined ? kept : [...kept, { name: 'kipimo.session', value: session }];
  return {
    baseURL: origin,
    viewport: { width: widths[width], height: width === 'phone' ? 844 : 900 },
    colorScheme: theme,
    reducedMotion: 'reduce',
    timezoneId: 'Africa/Accra',
    locale: language,
    hasTouch: width === 'phone',
    serviceWorkers: visit.hasServiceWorker === true ? 'allow' : 'block',
    acceptDownloads: true,
    storageState: { cookies: [], origins: [{ origin, localStorage }] },
  };
}

interface Watch {
  readonly origin: string;
  readonly tokens: ReadonlySet<string>;
  readonly faults: string[];
}

function watchFaults(context: BrowserContext, { origin, tokens, faults }: Watch): void {
  const socketOrigin = origin.replace(/^http/, 'ws');
  const look = (url: string): void => {
    const isOwn = [origin, socketOrigin].some((own) => url.startsWith(`${own}/`));
    // Made by the page itself: downloads, and pictures in styles.
    if (!isOwn && !/^(blob|data):/.test(url)) faults.push(`left the origin: ${url}`);
    if ([...tokens].some((token) => url.includes(token))) faults.push(`told a token: ${url}`);
  };
  context.on('request', (request) => look(request.url()));
  context.on('page', (page) => {
    page.on('websocket', (socket) => look(socket.url()));
    page.on('framenavigated', (frame) => {
      if (frame.url() !== 'about:blank') look(frame.url());
    });
  });
  context.on('weberror', (error) => faults.push(`a script failed: ${String(error.error())}`));
  context.on('dialog', (dialog) => {
    faults.push(`a dialog said ${dialog.message()}`);
    dialog.dismiss().catch(() => undefined);
  });
  context.on('console', (message) => {
    if (/content security policy|violates the following/i.test(message.text())) {
      faults.push(`broke the policy: ${message.text()}`);
    }
  });
}
