import { type Plant, patch } from './plant.ts';

const heads = 'test/request-heads.test.ts';
const headTest = 'src/http/request-head.test.ts';
const head = 'src/http/request-head.ts';
const reports = 'test/mqtt/field-reports.test.ts';
const cookies = 'test/v2/https-cookies.test.ts';
const site = 'src/http/site.ts';
const backups = { file: 'tools/admin/sqlite/backup.test.ts' };
const checks = {
  file: 'tools/admin/export/import-checks.test.ts',
  test: 'that the API refuses is refused',
};
const client = 'dashboard/api/client.ts';

/** What strangers did by requests, messages, files and names that others read. */
export const plantsOfStrangers: readonly Plant[] = [
  {
    name: 'answers of the writer thread are acted on in slices of the event loop',
    ...{
      file: 'src/storage/sqlite/writer.test.ts',
      test: 'leave turns to others',
      says: /answers in one turn/,
    },
    patches: [
      patch('src/storage/sqlite/writer.ts', "slices.begin('service', takeNext);", 'takeNext();'),
    ],
  },
  {
    name: 'who owns a device is read just before it is removed with those of an account',
    ...{ file: 'src/domain/devices/removal.test.ts', test: 'stays', says: /device-99/ },
    patches: [patch('src/domain/devices/devices.ts', 'ids.slice(0, removedTogether)', 'ids')],
  },
  {
    name: 'a rule of which no device exists is for its owner alone',
    ...{ file: 'test/v2/devices-made-again.test.ts', test: 'of which no device exists' },
    says: /true !== false/,
    patches: [
      patch(
        'src/domain/notifications/notification-rights.ts',
        'return head !== undefined && !isAnother(notification, head);',
        'return head === undefined || !isAnother(notification, head);',
      ),
    ],
  },
  {
    name: 'a request behind an upgrade that is ignored is answered',
    ...{ file: heads, test: 'behind an offer that is not taken up' },
    says: /'200'/,
    patches: [
      patch(
        'src/http/shared-port.ts',
        "if (headers.upgrade?.toLowerCase() !== 'websocket') return false;",
        "if (headers.upgrade?.toLowerCase() !== 'websocket') return true;",
      ),
    ],
  },
  {
    name: 'requests of HTTP/1.0 on one connection are answered one after the other',
    ...{ file: heads, test: 'HTTP/1.0 that stays', says: /'204'/ },
    patches: [
      patch(
        'src/http/request-gate.ts',
        "if (httpVersion === '1.0' && head?.isLast === false) {",
        "if (httpVersion === '0.9' && head?.isLast === false) {",
      ),
    ],
  },
  {
    name: 'a request has one host',
    ...{ file: headTest, test: 'with one host at most', says: /Host/ },
    patches: [patch(head, 'framing.hosts > 1 ? undefined : bodyOf(framing)', 'bodyOf(framing)')],
  },
  {
    name: 'a request line has the grammar of its version',
    ...{ file: headTest, test: 'with one host at most', says: /HTTP/ },
    patches: [
      patch(
        head,
        "const requestLine = /[!#$%&'*+.^_`|~\\w-]+ [!-~]+ HTTP\\/1\\.[01]\\r?\\n/y;",
        "const requestLine = /[!#$%&'*+.^_`|~\\w-]+ +[!-~]+ +HTTP\\/[12]\\.[0-9]\\r?\\n/y;",
      ),
    ],
  },
  {
    name: 'on a disk that is nearly full nothing grows that no quota counts',
    ...{ file: 'test/v2/storage-quotas.test.ts', test: 'nothing grows that no quota' },
    says: /507/,
    patches: [
      patch(
        'src/app/uncounted-stores.ts',
        '    if (isMore) room.requireDisk(await ownerOf(...given));\n',
        '',
      ),
    ],
  },
  {
    name: 'a value dated tomorrow silences no alarm',
    ...{ file: 'test/v2/late-values.test.ts', test: 'dated tomorrow makes nothing' },
    says: /late/,
    patches: [
      patch(
        'src/domain/datapoints/datapoint.ts',
        'isDatedAhead(datapoint) ? datapoint.receivedAt : orderTime(datapoint)',
        'orderTime(datapoint)',
      ),
    ],
  },
  {
    name: 'a read ends when the right to it is taken away',
    ...{ file: 'test/v2/reads-taken-away.test.ts', test: 'is under way ends' },
    says: /true !== false|Expected values to be strictly equal/,
    patches: [
      patch(
        'src/domain/datapoints/sensor-selection.ts',
        "    await requireSensor(parts, actor, 'devices-data:view', ref);\n",
        '',
      ),
    ],
  },
  {
    name: 'a stranger clears no retained value of a public device',
    ...{ file: reports, test: 'clears no retained value', says: /Missing expected rejection/ },
    patches: [
      patch(
        'src/mqtt/publish.ts',
        '      await deviceTopics.requireClearing(actor, sensor.deviceId);\n',
        '',
      ),
    ],
  },
  {
    name: 'PUBREL of an unknown id is answered as such',
    ...{ file: reports, test: 'PUBREC and PUBREL of unknown ids', says: /pubcomp/ },
    patches: [
      patch(
        'src/mqtt/broker/inbound.ts',
        'session.received?.has(packetId) ? 0 : reason.packetIdNotFound',
        '0 * packetId * reason.packetIdNotFound',
      ),
    ],
  },
  {
    name: 'connections end at once when the password is changed',
    ...{ file: reports, test: 'at once when the password', says: /disconnect|it took|ms/ },
    patches: [
      patch(
        'src/mqtt/clean-up.ts',
        '      broker.recheck((identity) => isOfAccount(identity, userId));\n',
        '',
      ),
    ],
  },
  {
    name: 'a logout without network is done when the network is back',
    ...{ file: 'dashboard/api/client.test.ts', test: 'a logout without network is owed' },
    says: /deep-equal/,
    patches: [
      patch(
        client,
        '      store.setOwed([...store.owed(), { token, ...(remembered && { remembered }) }]);\n',
        '',
      ),
    ],
  },
  {
    name: 'what a browser kept of one user is gone when another logs in',
    ...{ file: 'test/dashboard/staying.test.ts', test: 'finds nothing of who was there' },
    says: /deep-equal|kipimo\.known|AssertionError/,
    patches: [
      patch(
        'dashboard/state/session.ts',
        'if (next === undefined || (before',
        "if (next !== undefined && cause === 'ended' && (before",
      ),
    ],
  },
  {
    name: 'names and ids of an import are checked as the API checks them',
    ...{ ...checks, says: /username/ },
    patches: [
      patch(
        'tools/admin/export/import-checks.ts',
        "'user.username': parseNewUsername",
        "'user.username': String",
      ),
    ],
  },
  {
    name: 'an imported hash costs four times our own at most',
    ...{ ...checks, says: /m=1500000/ },
    patches: [
      patch('src/lib/password-hash.ts', 'const costFactorMax = 4;', 'const costFactorMax = 4_000;'),
    ],
  },
  {
    name: 'each line of an import is checked',
    ...{ file: 'tools/admin/export/export.test.ts', test: 'that the API refuses is not taken in' },
    says: /its end is missing/,
    patches: [patch('tools/admin/export/importer.ts', '    requireTakeable(line, read);\n', '')],
  },
  {
    name: 'a line of an import has a longest length',
    ...{
      file: 'tools/admin/export/export.test.ts',
      test: 'nor one without an end',
      says: /more than/,
    },
    patches: [
      patch(
        'tools/admin/export/export-file.ts',
        'const lineBytesMax = 64 * 1_024 * 1_024;',
        'const lineBytesMax = 2 ** 40;',
      ),
    ],
  },
  {
    name: 'a name in a ZIP leads into no other folder',
    ...{ file: 'src/http/zip.test.ts', test: 'no name leads out', says: /evil/ },
    patches: [patch('src/http/zip.ts', "name.replace(/[/\\\\]/g, '_')", 'name')],
  },
  {
    name: 'a backup brings no trigger, view or table of others',
    ...{ ...backups, test: 'is refused by name, and nothing is restored' },
    says: /Missing expected rejection/,
    patches: [
      patch('tools/admin/sqlite/backup.ts', '    refuseForeignObjects(database, file);\n', ''),
    ],
  },
  {
    name: 'the copy of a killed command is removed by the next',
    ...{ ...backups, test: 'the copy of a killed command', says: /copy-/ },
    patches: [
      patch(
        'src/storage/sqlite/data-copies.ts',
        '    rmSync(path, { recursive: true, force: true });\n  }\n}\n\nfunction isInUse',
        '  }\n}\n\nfunction isInUse',
      ),
    ],
  },
  {
    name: 'a name of 1,000 letters stays within the screen of who reads it',
    ...{ file: 'test/dashboard/wide-names.test.ts', test: 'names of 1,000 letters' },
    says: /needs \d+ of/,
    patches: [
      patch(
        'dashboard/styles/base.css',
        '  line-height: 1.2;\n  overflow-wrap: anywhere;',
        '  line-height: 1.2;\n  overflow-wrap: normal;',
      ),
    ],
  },
  {
    name: 'cookies of logins over HTTPS are named so that plain HTTP cannot set them',
    ...{ file: cookies, test: 'over HTTPS cookies', says: /__Secure/ },
    patches: [patch(site, "const securePrefix = '__Secure-';", "const securePrefix = '';")],
  },
  {
    name: 'cookies are secure where the public address is',
    ...{ file: 'src/http/site.test.ts', test: 'cookies are secure', says: /false !== true/ },
    patches: [patch(site, "own?.startsWith('https:') === true || clients", 'clients')],
  },
  {
    name: 'a page over plain HTTP is no page of a service over HTTPS',
    ...{ file: 'src/http/site.test.ts', test: 'over HTTPS a page', says: /true !== false/ },
    patches: [
      patch(
        site,
        "if (clients.isSecure(request) && new URL(origin).protocol !== 'https:') return",
        "if (clients.isSecure(request) && new URL(origin).protocol === 'ws:') return",
      ),
    ],
  },
  {
    name: 'pages tell browsers to keep to HTTPS',
    ...{ file: cookies, test: 'over HTTPS alone', says: /max-age/ },
    patches: [
      patch(
        'src/http/dashboard/pages.ts',
        '    if (options.isHttpsOnly) reply.header(',
        '    if (options.isHttpsOnly && request === undefined) reply.header(',
      ),
    ],
  },
  {
    name: 'no shared cache keeps an answer of the API',
    ...{ file: cookies, test: 'stays out of caches', says: /private/ },
    patches: [
      patch(
        'src/http/answer-headers.ts',
        "'cache-control', 'private, no-cache'",
        "'cache-control', 'no-cache'",
      ),
    ],
  },
  {
    name: 'a cell that a spreadsheet would run is defused, whatever its first letter',
    ...{ file: 'src/wire/csv.test.ts', test: 'begins with a formula character' },
    says: /Property failed|＝/,
    patches: [patch('src/lib/csv-cell.ts', "/^[=+\\-@\\t\\r\\n'＝＋－＠]/", "/^[=+\\-@\\t\\r']/")],
  },
  {
    name: 'a compressed push is read as what it was',
    ...{ file: 'test/v2/compressed-bodies.test.ts', test: 'takes them compressed', says: /gzip/ },
    patches: [
      patch(
        'src/http/content-encoding.ts',
        "  ['gzip', ['gzip', createGunzip]],",
        "  ['gzip', undefined],",
      ),
    ],
  },
  {
    name: 'containers of Kubernetes write to their volumes alone',
    ...{ file: 'test/deploy.test.ts', test: 'write to their volumes alone', says: /kipimo\.yaml/ },
    patches: [
      patch(
        'deploy/kubernetes/kipimo.yaml',
        'readOnlyRootFilesystem: true',
        'readOnlyRootFilesystem: false',
      ),
    ],
  },
  {
    name: 'what is written in the data directory follows no link',
    ...{ file: 'src/storage/sqlite/data-files.test.ts', test: 'replaces a link there' },
    says: /of somebody else|ours/,
    patches: [
      patch(
        'src/storage/sqlite/durable-file.ts',
        '  rmSync(path, { force: true });\n  writeFileSync(path, content, { mode: 0o600, flag',
        "  writeFileSync(path, content, { mode: 0o600, flag: 'w', another",
      ),
    ],
  },
  {
    name: 'a guest takes over no session of another address',
    ...{ file: 'test/mqtt/field-reports.test.ts', test: 'a guest at another address' },
    says: /no pingresp|true/,
    patches: [
      patch(
        'src/domain/messaging/identity.ts',
        '): string => `guest/',
        '): string => `guest/all/` || `',
      ),
    ],
  },
  {
    name: 'devices of strangers hide none of the owner of a gateway',
    ...{ file: 'test/v2/gateways.test.ts', test: 'hide none of the owner', says: /mine-1/ },
    patches: [patch('src/http/v2/gateways.ts', 'new Set([...own.ids, ...all.ids])', 'all.ids')],
  },
  {
    name: 'an account has so many gateways and projects',
    ...{ file: 'src/domain/projects/guest-room.test.ts', test: 'of an account have an end' },
    says: /Missing expected rejection/,
    patches: [
      patch(
        'src/domain/budgets/guest-shares.ts',
        'each === undefined || isImport(actor)',
        'each !== 0 || isImport(actor)',
      ),
    ],
  },
];
