import type { OpenChannels } from '../channels/index.ts';
import type { Config, Secrets } from '../config/config.ts';
import {
  createInstallationSettings,
  type InstallationSettings,
} from '../domain/administration/installation-settings.ts';
import type { ServiceFacts } from '../domain/administration/service-state.ts';
import { budgetTable } from '../domain/budgets/budget-table.ts';
import { type BudgetTotals, createBudgets } from '../domain/budgets/budgets.ts';
import type { ChangeFeed } from '../domain/changes.ts';
import type { Feed } from '../domain/datapoints/feed.ts';
import { createSharedPresence, type SharedPresence } from '../domain/gateways/presence.ts';
import { createHeartbeat, type HeartbeatListener } from '../domain/members/heartbeat.ts';
import { ensureAdmin } from '../domain/users/first-login.ts';
import { createInProcessFeed } from '../feed/in-process-feed.ts';
import { createSharedFeed, type SharedFeed } from '../feed/shared-feed.ts';
import { type Clock, type SteadyClock, systemClock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { PasswordCost } from '../lib/password-hash.ts';
import { createPublishContextForm } from '../mqtt/deliveries.ts';
import { openStorage } from '../storage/open-storage.ts';
import type { Storage } from '../storage/storage.ts';
import { createMetrics, type Metrics } from '../telemetry/metrics.ts';
import { openChannelServices } from './channels.ts';
import { connectionsOfMachine } from './connection-quotas.ts';
import { openServers, type ServerTimeouts, type ServerUrls } from './servers.ts';
import { openServiceClock } from './service-clock.ts';
import { createServiceStorage } from './service-parts.ts';
import { createServices } from './services.ts';
import { openStorageQuotas } from './storage-count.ts';
import { readVersion } from './version.ts';

export interface AppOptions {
  readonly config: Config;
  readonly secrets: Secrets;
  readonly log: Log;
  readonly clock?: Clock;
  /** Puts faults or counters between the service and the engine that the configuration names. */
  readonly wrapStorage?: (storage: Storage) => Storage;
  /** Instead of those the configuration names; closed with the app. */
  readonly channels?: OpenChannels;
  /** Where the built web app is, instead of its usual place. */
  readonly dashboardFolder?: string;
  /** How long peers may take, and how long the end waits for them; absent: the usual times. */
  readonly timeouts?: ServerTimeouts;
  /**
   * Receives the password that the first start made up for the admin: the only time it can be seen.
   * Called before the ports are opened, so that a start which fails there has shown it.
   */
  readonly onGeneratedPassword?: (password: string) => void;
  /** Whether a first start that makes a password up makes a link for the first login as well. */
  readonly makesFirstLink?: boolean;
  /** The cost of hashes of new passwords; absent: as much as attackers shall pay. For tests. */
  readonly passwordCost?: PasswordCost;
  /** Called once, with the reason, when another process serves the database instead of this. */
  readonly onReplaced?: (reason: string) => void;
  /** The settings that were changed since the start; absent: none can be. */
  readonly changedSettings?: () => readonly string[];
}

const adminIsThere =
  'the data has an admin already: none was made, and KIPIMO_ADMIN_PASSWORD changes nothing ' +
  '(kipimo user list shows admins, kipimo user passwd sets a password)';

export interface RunningApp extends ServerUrls {
  /** The secret of the link by which the new admin logs in, once. */
  readonly firstLoginSecret?: string;
  /** Answers what is under way, stores what was accepted, and leaves. */
  close(): Promise<void>;
}

/** Builds every part in order, wires them by hand, and opens the servers. */
export async function startApp(options: AppOptions): Promise<RunningApp> {
  const { config, secrets, log } = options;
  const meters = createMeters(config);
  const { reporter, budgets } = meters;
  const { engine: kind, directory, serving } = config.storage;
  // Undone in reverse order, whether the start fails half-way or the service ends.
  const opened: (() => unknown)[] = [];
  const close = async (): Promise<void> => {
    const failures: unknown[] = [];
    for (let end = opened.pop(); end !== undefined; end = opened.pop()) {
      try {
        await end();
      } catch (error) {
        // The other parts end all the same: the engine has what was acknowledged to put away.
        log.error({ err: error }, 'a part of the service could not be ended');
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  };
  try {
    const opening = await openStorage({
      ...{ kind, directory, serving, log, reporter, program: readVersion() },
      ...(secrets.databaseUrl !== undefined && { url: secrets.databaseUrl }),
      ...(options.onReplaced !== undefined && { onReplaced: options.onReplaced }),
    });
    const engine = options.wrapStorage?.(opening) ?? opening;
    opened.push(() => engine.close());
    const clock = await openServiceClock({ machine: options.clock ?? systemClock, engine, log });
    opened.push(clock.stop);
    watchEngine(meters.metrics, engine, clock);
    const installationSecret = await engine.installation.secret();
    const feed = openFeed(engine, log);
    opened.push(() => feed.stop?.());
    followOthers(engine, feed);
    const served = createServiceStorage(engine, feed);
    const { storage, room } = await openStorageQuotas({
      ...{ config, storage: served, changes: feed, log },
    });
    meters.metrics.watchStorage(room.metrics);
    const { generatedPassword, isThere } = await ensureAdmin({
      users: served.users,
      clock,
      username: config.accounts.adminUsername,
      ...(secrets.adminPassword !== undefined && { password: secrets.adminPassword }),
      passwordCost: options.passwordCost,
    });
    if (generatedPassword !== undefined) options.onGeneratedPassword?.(generatedPassword);
    if (isThere) log.info({}, adminIsThere);
    const settings = await openSettings(storage, feed, options);
    const { signUp } = settings.current();
    const channels = await openChannelServices({
      ...{ ...options, storage, clock, installationSecret, signUp },
    });
    opened.push(() => channels.close());
    const presence = openPresence(engine, feed);
    const built = createServices({
      ...{ presence, peers: feed.peers },
      ...{ config, storage, feed, clock, reporter, log, budgets, installationSecret, room },
      ...{ facts: factsOf(options, clock), settings, passwordCost: options.passwordCost },
      ...channels.forServices,
    });
    opened.push(built.drain);
    await built.start();
    await feed.start?.();
    presence?.start();
    const { onOthers: onChanged } = built;
    opened.push(openMembers(engine, feed, { ...options, presence, onChanged, clock, meters }));
    const servers = await openServers({
      ...{ config, built, storage, feed, meters, clock, log },
      forHttp: { ...channels.forHttp, dashboardFolder: options.dashboardFolder },
      ...(options.timeouts !== undefined && { timeouts: options.timeouts }),
      onOpened: (end) => opened.push(end),
    });
    if (generatedPassword === undefined || !options.makesFirstLink) return { ...servers, close };
    return { ...servers, close, firstLoginSecret: await built.services.firstLogin.createLink() };
  } catch (error) {
    await close().catch(() => undefined);
    throw error;
  }
}

/** Adds what is read of the engine and of the clock whenever metrics are asked for. */
function watchEngine(metrics: Metrics, engine: Storage, clock: SteadyClock): void {
  metrics.watchClock(clock.aheadMs);
  metrics.watchMemory(async () => engine.threadMemory?.());
}

/** Updates the corrections that an engine remembers when other processes change them. */
function followOthers({ corrections }: Storage, feed: Feed): void {
  if (feed.isCurrent === undefined) return;
  feed.onChange(async (change) => {
    if (change.kind === 'datapoints_corrected') await corrections.refresh(change);
    if (change.kind === 'device_removed') corrections.forget(change.deviceId);
    if (change.kind === 'sensor_removed') corrections.forget(change.deviceId, change.sensorId);
    if (change.kind === 'anything') await corrections.refreshAll();
  });
}

/** The feed of this process; where others serve the same data, with what they change. */
function openFeed({ members }: Storage, log: Log): Feed & Partial<SharedFeed> {
  const local = createInProcessFeed({ log });
  if (members === undefined) return local;
  const contexts = createPublishContextForm(members);
  return createSharedFeed({ local, shared: members.log, log, contexts });
}

/** Gateways that are connected to any process; undefined: there is this one alone. */
function openPresence({ members }: Storage, { peers }: Partial<SharedFeed>) {
  if (members === undefined || peers === undefined) return undefined;
  return createSharedPresence({
    ...{ own: members.own, onTold: peers.onTold },
    tell: (text) => peers.tell({ text: () => text, payer: '', bytes: text.length }),
  });
}

/** Publishes to other processes that this one lives; answers the function that ends that. */
function openMembers(
  { members: store }: Storage,
  feed: Partial<SharedFeed>,
  options: Omit<AppOptions, 'clock'> &
    Required<Pick<HeartbeatListener, 'onChanged'>> & {
      readonly presence: SharedPresence | undefined;
      readonly clock: Pick<SteadyClock, 'offsetMs'>;
      readonly meters: { readonly metrics: Pick<Metrics, 'watchMembers'> };
    },
) {
  if (store === undefined) return () => undefined;
  const { log, onReplaced, presence, onChanged, clock, meters } = options;
  const listener: HeartbeatListener = {
    onChanged,
    onMembers: (members) => presence?.keep(members.map(({ id }) => id)),
    onLost: () => onReplaced?.('the other processes gave this one up'),
    onEnded({ state }) {
      // The lost process may have made a change that it did not publish any more.
      if (state === 'lost') void feed.tell?.({ kind: 'anything' });
    },
  };
  const heartbeat = createHeartbeat({ store, listener, log });
  heartbeat.start();
  meters.metrics.watchMembers(() => ({
    ...{ unheardSeconds: 0, deferred: 0, ...store.figures(), ...feed.figures?.() },
    serving: heartbeat.serving().length,
    clockOffsetSeconds: clock.offsetMs() / 1_000,
  }));
  return () => heartbeat.stop();
}

/** Loads what administrators set at run time; logs where it differs from the configuration. */
async function openSettings(
  { installation }: Pick<Storage, 'installation'>,
  changes: ChangeFeed,
  { config, log }: AppOptions,
): Promise<InstallationSettings> {
  const signUpDefault = config.accounts.signup;
  const settings = createInstallationSettings({ installation, changes, signUpDefault });
  await settings.load();
  const { signUp } = settings.current();
  if (signUp !== signUpDefault) {
    log.warn(
      { signUp, KIPIMO_SIGNUP: signUpDefault },
      'an administrator set sign-up on the Usage screen, which KIPIMO_SIGNUP does not change',
    );
  }
  return settings;
}

/** Gathers facts about this run of the service for administrators. */
function factsOf({ changedSettings }: AppOptions, clock: Clock): ServiceFacts {
  return {
    version: readVersion(),
    startedAt: clock.now(),
    changedSettings: changedSettings ?? (() => []),
  };
}

/** The machine may let a process have fewer connections than the budget would. */
function withinMachine(totals: BudgetTotals): BudgetTotals {
  const ofMachine = connectionsOfMachine();
  const wanted = totals.connections ?? budgetTable.connections.total;
  return wanted <= ofMachine ? totals : { ...totals, connections: ofMachine };
}

/** Creates what counts: metrics, the reporter of what happens, and the budgets. */
function createMeters(config: Config) {
  const metrics = createMetrics();
  const budgets = createBudgets(withinMachine(config.budgets));
  metrics.watchBudgets(() => budgets.usage(0));
  return { metrics, reporter: metrics.reporter, budgets };
}
