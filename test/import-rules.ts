import { posix } from 'node:path';
import { type FoundImport, importsOf } from './code-text.ts';
import type { SourceFile } from './source-files.ts';

/** What a zone (a top-level folder of src/, tools/ or tools/admin/) may import besides itself. */
interface ZoneRule {
  readonly zones: readonly string[];
  /** Exact names, or a prefix that ends in "*". */
  readonly packages: readonly string[];
}

const schemas = ['typebox', 'typebox/*'];
const everyZone = [
  'lib',
  'domain',
  'wire',
  'http',
  'mqtt',
  'storage',
  'feed',
  'channels',
  'telemetry',
  'config',
  'app',
];

/** Who may import whom. "root" is the files directly in src/. */
export const zoneRules: Readonly<Record<string, ZoneRule>> = {
  lib: { zones: [], packages: ['node:crypto', 'node:timers', 'node:events', 'node:assert'] },
  domain: { zones: ['lib'], packages: [] },
  wire: { zones: ['domain', 'lib'], packages: schemas },
  http: {
    zones: ['wire', 'domain', 'lib'],
    packages: ['fastify', '@fastify/*', ...schemas, 'node:*'],
  },
  mqtt: { zones: ['wire', 'domain', 'lib'], packages: ['ws', 'node:*'] },
  storage: { zones: ['domain', 'lib'], packages: ['node:*'] },
  feed: { zones: ['domain', 'lib'], packages: ['node:assert'] },
  channels: { zones: ['domain', 'lib'], packages: ['node:*'] },
  telemetry: {
    zones: ['domain', 'lib'],
    packages: ['pino', 'prom-client', 'node:perf_hooks'],
  },
  config: { zones: ['channels', 'domain', 'lib'], packages: ['node:*'] },
  app: { zones: everyZone, packages: ['node:*'] },
  cli: {
    zones: ['app', 'config', 'telemetry', 'domain', 'lib'],
    packages: ['node:*', 'commander'],
  },
  root: { zones: ['cli'], packages: ['node:*'] },
  tools: {
    zones: ['cli', 'config', 'http', 'wire', 'domain', 'lib'],
    packages: ['node:*', 'commander'],
  },
  admin: {
    zones: ['tools', 'cli', 'config', 'storage', 'feed', 'wire', 'domain', 'lib'],
    packages: ['node:*', 'commander'],
  },
};

/** Packages that one place alone may import, on top of its zone's. */
export const packageExceptions: readonly { readonly under: string; readonly packages: string[] }[] =
  [
    { under: 'src/lib/pattern.ts', packages: ['re2js', 'node:module'] },
    { under: 'src/telemetry/memory-metrics.ts', packages: ['node:fs', 'node:v8'] },
    { under: 'src/lib/cache.ts', packages: ['lru-cache'] },
    { under: 'src/lib/idle-memory.ts', packages: ['node:v8', 'node:vm'] },
    { under: 'src/lib/paid-work.ts', packages: ['node:async_hooks'] },
    { under: 'src/lib/connection-guard.ts', packages: ['node:net'] },
    { under: 'src/storage/postgres/', packages: ['pg'] },
    { under: 'tools/admin/postgres/', packages: ['pg'] },
    { under: 'tools/copy-progress.ts', packages: ['cli-progress'] },
    { under: 'tools/bench/no-op-server.ts', packages: ['fastify'] },
    { under: 'src/channels/email/', packages: ['nodemailer', 'nodemailer/lib/smtp-transport'] },
    { under: 'src/channels/sms/', packages: ['smpp'] },
  ];

/** Packages that their zone allows, and that still belong to one folder. */
export const packageHomes: Readonly<Record<string, readonly string[]>> = {
  'node:sqlite': ['src/storage/sqlite/', 'tools/admin/sqlite/'],
  // Suites are in test/.
  'node:test': [],
};

/** A folder imports only folders before it, and the files of src/domain itself. */
export const domainOrder: readonly string[] = [
  'access',
  'budgets',
  'users',
  'administration',
  'members',
  'groups',
  'devices',
  'sharing',
  'gateways',
  'projects',
  'socials',
  'messaging',
  'datapoints',
  'notifications',
];

/** Engines, which never import each other: of each what serves, and what administrators run. */
export const engines: readonly (readonly string[])[] = [
  ['src/storage/sqlite/', 'tools/admin/sqlite/'],
  ['src/storage/postgres/', 'tools/admin/postgres/'],
];

/** The files that may name an engine from outside of it; some commands are for the embedded one. */
export const engineChoosers: readonly string[] = [
  'src/storage/open-storage.ts',
  'tools/admin/open-for-commands.ts',
  'src/app/app.ts',
  'tools/admin/backup.ts',
  'tools/admin/compact.ts',
  'tools/admin/data-directory.ts',
  'tools/admin/export.ts',
];

/** The list of commands: what `npm start` never needs is read when its command is called. */
const toolLoader = 'src/cli/commands.ts';

/** What of src/ runs in the dashboard as well: pure, and small. Types it takes from src/wire/. */
export const sharedWithDashboard: readonly string[] = [
  'src/domain/devices/calibration.ts',
  'src/domain/id-text.ts',
  'src/lib/backoff.ts',
  'src/lib/bare-value.ts',
  'src/lib/csv-cell.ts',
  'src/lib/csv-datapoints.ts',
  'src/lib/csv-reader.ts',
  'src/lib/duration.ts',
  'src/lib/json-number.ts',
  'src/lib/local-time.ts',
  'src/lib/record.ts',
  'src/lib/text-encoding.ts',
  'src/lib/time-zone.ts',
  'src/lib/timestamp.ts',
  'src/wire/refusal-code.ts',
  'src/wire/refusal-patterns.ts',
];

const dashboardPackages: readonly string[] = [
  ...['preact', 'preact/hooks', 'preact-iso/router', '@preact/signals'],
  ...['uplot', 'leaflet', 'topojson-client', 'geojson', 'uqr'],
  // Made by the build.
  'kipimo:world-outline',
  'kipimo:world-places',
];

/** Never imported from the second one's side: version 1 is written in terms of version 2. */
const oneWay = [{ from: 'src/http/v2/', to: 'src/http/v1/' }];

interface Import {
  readonly from: string;
  /** A path in the repository, or the name of a package. */
  readonly to: string;
  readonly isPackage: boolean;
  readonly kind: FoundImport['kind'];
}

/** One sentence per import that breaks a rule, and per cycle. */
export function checkImports(files: readonly SourceFile[]): readonly string[] {
  const imports = files.flatMap(readImports);
  const ofProgram = imports.filter(({ from }) => !isTest(from));
  const problems = ofProgram.flatMap((found) => {
    if (isOfDashboard(found.from)) return dashboardFault(found);
    return found.isPackage ? packageFault(found) : [...fault(found), ...sharedFault(found)];
  });
  return [...problems, ...testFaults(ofProgram), ...cycles(ofProgram)];
}

/** Files are checked again and again, each time with another one planted among them. */
const knownImports = new WeakMap<SourceFile, readonly Import[]>();

function readImports(file: SourceFile): readonly Import[] {
  const known = knownImports.get(file);
  if (known !== undefined) return known;
  const { path, text } = file;
  const found = importsOf(text).map(({ name, kind }) =>
    name.startsWith('.')
      ? { from: path, to: posix.join(posix.dirname(path), name), isPackage: false, kind }
      : { from: path, to: name, isPackage: true, kind },
  );
  knownImports.set(file, found);
  return found;
}

const isTest = (path: string): boolean => path.endsWith('.test.ts');

const isOfDashboard = (path: string): boolean => path.startsWith('dashboard/');

function dashboardFault({ from, to, isPackage, kind }: Import): readonly string[] {
  if (isPackage) {
    return dashboardPackages.includes(to) ? [] : [`${from} imports the package ${to}`];
  }
  if (isOfDashboard(to) || sharedWithDashboard.includes(to)) return [];
  if (kind === 'type' && zoneOf(to) === 'wire') return [];
  return [`${from} imports ${to}: the dashboard may import types of src/wire, and shared files`];
}

/** What runs in the dashboard brings nothing along. */
function sharedFault({ from, to, kind }: Import): readonly string[] {
  const isPure = kind === 'type' || sharedWithDashboard.includes(to);
  if (isPure || !sharedWithDashboard.includes(from)) return [];
  return [`${from} imports ${to}, which is not shared with the dashboard as it is itself`];
}

/** The zone of a file of src/, "root" for those directly in it; of tools/; undefined outside. */
export function zoneOf(path: string): string | undefined {
  const [top, second, third] = path.split('/');
  if (top === 'tools') return second === 'admin' ? second : top;
  if (top !== 'src' || second === undefined) return undefined;
  return third === undefined ? 'root' : second;
}

function packageFault({ from, to }: Import): readonly string[] {
  const rule = zoneRules[zoneOf(from) ?? ''];
  if (rule === undefined) return [`${from}: its folder is in no zone; add it to the table`];
  const home = packageHomes[to];
  if (home !== undefined && !home.some((folder) => from.startsWith(folder))) {
    return [`${from} imports ${to}, which only ${home.join(', ') || 'tests'} may`];
  }
  const extra = packageExceptions.filter(({ under }) => from.startsWith(under));
  const allowed = [...rule.packages, ...extra.flatMap(({ packages }) => packages)];
  const isAllowed = allowed.some((name) =>
    name.endsWith('*') ? to.startsWith(name.slice(0, -1)) : to === name || to === `${name}/strict`,
  );
  return isAllowed ? [] : [`${from} imports the package ${to}, which its zone may not`];
}

function fault({ from, to, kind }: Import): readonly string[] {
  const zone = zoneOf(from);
  const target = zoneOf(to);
  const rule = zoneRules[zone ?? ''];
  if (zone === undefined || rule === undefined) {
    return [`${from}: its folder is in no zone; add it to the table`];
  }
  if (target === undefined) return [`${from} imports ${to}, which is outside of src/`];
  if (isOutsideService(target) && !isOutsideService(zone)) {
    const isCommand = from === toolLoader && kind === 'lazy';
    return isCommand ? [] : [`${from} imports ${to}: only ${toolLoader} loads tools, when asked`];
  }
  if (target !== zone && !rule.zones.includes(target)) {
    return [`${from} imports ${to}: ${zone} may not import ${target}`];
  }
  return [...domainFault(from, to), ...strangerFault(from, to), ...engineFault(from, to)];
}

/** Whether a zone is in tools/, of which the running service loads nothing. */
const isOutsideService = (zone: string): boolean => zone === 'tools' || zone === 'admin';

function domainFault(from: string, to: string): readonly string[] {
  if (zoneOf(from) !== 'domain' || zoneOf(to) !== 'domain') return [];
  const own = featureRank(from);
  const other = featureRank(to);
  if (own === undefined) return [`${from}: its feature is not in the domain order; add it`];
  if (other === undefined) return [`${to}: its feature is not in the domain order; add it`];
  return other > own ? [`${from} imports ${to}, which is to its right in the domain order`] : [];
}

/** Files of src/domain itself come before all features; Actor speaks of scopes, so with access. */
function featureRank(path: string): number | undefined {
  const [, , feature, file] = path.split('/');
  if (feature === undefined || file === undefined) return 0;
  const rank = domainOrder.indexOf(feature);
  return rank === -1 ? undefined : rank;
}

function strangerFault(from: string, to: string): readonly string[] {
  const oneWayFaults = oneWay
    .filter((way) => from.startsWith(way.from) && to.startsWith(way.to))
    .map((way) => `${from} imports ${to}: ${way.from} may not import ${way.to}`);
  const own = engineOf(from);
  const other = engineOf(to);
  const areStrangers = own !== undefined && other !== undefined && own !== other;
  const strangerFaults = areStrangers
    ? [`${from} imports ${to}: they are strangers to each other`]
    : [];
  const [zone, folder] = partsInZone(from);
  const [targetZone, targetFolder] = partsInZone(to);
  const areChannels = zone === 'channels' && targetZone === 'channels';
  const isForeign = folder !== undefined && targetFolder !== undefined && folder !== targetFolder;
  return areChannels && isForeign
    ? [...oneWayFaults, ...strangerFaults, `${from} imports ${to}: channels are strangers`]
    : [...oneWayFaults, ...strangerFaults];
}

function partsInZone(path: string): readonly [string | undefined, string | undefined] {
  const [, zone, folder, file] = path.split('/');
  return [zone, file === undefined ? undefined : folder];
}

/** The folders of the engine that a file belongs to. */
const engineOf = (path: string): readonly string[] | undefined =>
  engines.find((folders) => folders.some((folder) => path.startsWith(folder)));

function engineFault(from: string, to: string): readonly string[] {
  const engine = engineOf(to);
  if (engine === undefined || engineOf(from) === engine || engineChoosers.includes(from)) return [];
  return [`${from} imports ${to}: only ${engineChoosers.join(', ')} name engines`];
}

function testFaults(imports: readonly Import[]): readonly string[] {
  return imports
    .filter(({ to, isPackage }) => !isPackage && isTest(to))
    .map(({ from, to }) => `${from} imports the test ${to}`);
}

/** Every cycle once, as the path that closes it. */
function cycles(imports: readonly Import[]): readonly string[] {
  const targets = new Map<string, string[]>();
  for (const { from, to, isPackage, kind } of imports) {
    // Screens are loaded by the frame that they import.
    const isLater = kind === 'lazy' && isOfDashboard(from);
    if (!isPackage && !isLater) targets.set(from, [...(targets.get(from) ?? []), to]);
  }
  const finished = new Set<string>();
  const trail: string[] = [];
  const found: string[] = [];
  function visit(path: string): void {
    if (finished.has(path)) return;
    const start = trail.indexOf(path);
    if (start !== -1) {
      found.push(`cycle: ${[...trail.slice(start), path].join(' → ')}`);
      return;
    }
    trail.push(path);
    for (const target of targets.get(path) ?? []) visit(target);
    trail.pop();
    finished.add(path);
  }
  for (const path of targets.keys()) visit(path);
  return found;
}
