import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { globSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { before, describe, test } from 'node:test';
import { entryText } from '../../scripts/test-groups.ts';
import { temporaryDirectory } from '../../tools/bench/temporary-directory.ts';
import { repositoryRoot } from '../source-files.ts';

const rawTexts = 'bare texts are raw whatever Accept says';
const noValues = 'the values of an unknown measurement are []';
const placeOfLines = 'line protocol has its place in version 2 only';
const ownCsv = 'CSV has other columns or other words';

/** What version 1 does otherwise, by file and test; its own tests say how. */
const different: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'auth.test.ts': { 'a token is raw text unless Accept names JSON ahead of text': rawTexts },
  'bad-parameters.test.ts': { 'an id that nothing has is 404 in every path': noValues },
  'datapoint-aggregates.test.ts': {
    'aggregates and downsampled reads need the right to view the data': noValues,
    'buckets are CSV under their own header, and cells may be empty': ownCsv,
  },
  'datapoint-csv.test.ts': {
    'a sensor without datapoints answers the header alone': ownCsv,
    'an id that begins like a formula is made harmless, too': ownCsv,
    'format=csv and Accept: text/csv answer the same rows under the header': ownCsv,
  },
  'datapoint-reads.test.ts': {
    'values are calibrated when read, unless calibrated=false asks for the raw ones': ownCsv,
  },
  'datapoint-downsampling.test.ts': { 'downsampled datapoints are CSV like any others': ownCsv },
  'datapoints.test.ts': {
    'an unknown device or sensor is 404 for a push and for a read': noValues,
    'every JSON value comes back as the text it was, to the last digit':
      'the dialect of the tests walks JSON; free-form.test.ts is about this',
  },
  'device-http.test.ts': {
    'what is missing is 404, whichever part of the path': noValues,
    'a trailing slash and doubled slashes lead to the same place': 'a path of version 2, by name',
  },
  'merged-aggregates.test.ts': {
    'buckets of many sensors are CSV under the same header as those of one': ownCsv,
  },
  'project-export.test.ts': {
    'a project is a ZIP with one CSV for each device that is there': ownCsv,
  },
  'projects.test.ts': {
    'a new project answers its id as a bare string, made up when none is given': rawTexts,
  },
  'reference.test.ts': {
    'the document is OpenAPI 3.1 with title, version, server and paths': 'it has another title',
    'every refusal that a body can meet is documented, and schemas have their names':
      'schemas have the names of version 1',
  },
  'refusals.test.ts': {
    'a line of an agent whose sensor cannot be made is told of': placeOfLines,
    'a refusal says where it was sent, what was read and what to change':
      'it names a path of version 2, and topics, which have the same words in both',
    'a refusal says where it was sent and how it began, whatever the endpoint':
      'it names paths of both versions, and lines as version 2 writes them',
  },
  'retention.test.ts': {
    'the nearest retention holds, and says where it is set and what goes next':
      'a sensor is a measurement, also as the source of a retention',
  },
  'sensors.test.ts': { 'a deleted sensor takes its datapoints along': noValues },
  'value-size.test.ts': {
    'in bulk a value that is too large is a refused line, and the others are stored': placeOfLines,
  },
  'socials.test.ts': {
    'a message answers its id as a bare string and is read as it was sent': rawTexts,
  },
};

/** Files about one process, one connection or one path, whichever version is spoken. */
const ofNoVersion = new Set([
  // Every endpoint by its own path.
  'compressed-bodies.test.ts',
  // The dashboard speaks version 2.
  'csv-zoo.test.ts',
  // The cookie has the path of version 2, where the dashboard renews.
  'browser-sessions.test.ts',
  'https-cookies.test.ts',
  'secrets-at-rest.test.ts',
  'broken-http.test.ts',
  'datapoint-load.test.ts',
  'datapoint-streams.test.ts',
  'operations.test.ts',
  'tls.test.ts',
]);

const walks = ['test/walks/gateway-protocol.test.ts', 'test/walks/share-then-revoke.test.ts'];

const files = [...globSync('test/v2/*.test.ts', { cwd: repositoryRoot }), ...walks]
  .filter((path) => !ofNoVersion.has(basename(path)))
  .toSorted();

/** As long as in version 2, for each of them; a busy machine may need longer for all. */
const caseMsMax = 180_000;
const reportMsMax = 900_000;

/** Runs test files in a process in which the tests speak version 1; answers its TAP report. */
async function reportInV1(paths: readonly string[]): Promise<string> {
  using directory = temporaryDirectory();
  const entry = join(directory.path, 'version-1.test.mjs');
  writeFileSync(entry, entryText(paths.map((path) => join(repositoryRoot, path))));
  const skipped = paths.flatMap((path) =>
    Object.keys(different[basename(path)] ?? {}).map(
      (name) => `--test-skip-pattern=/^${RegExp.escape(`${path} ${name}`)}$/`,
    ),
  );
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
  const words = ['--test', `--test-timeout=${caseMsMax}`, '--test-reporter=tap', ...skipped, entry];
  const child = spawn(process.execPath, words, {
    cwd: repositoryRoot,
    env: { ...environment, TEST_API: 'v1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let report = '';
  for await (const text of child.stdout) report += text;
  return report;
}

/** A case that was run. */
const ran = /^ {4}ok \d+ - (?!.*# SKIP)/m;

/** What the report says about one of the files. */
function partAbout(path: string, report: string): string {
  const begin = `# Subtest: ${path}\n`;
  return report.slice(report.indexOf(begin) + begin.length).split(/^# Subtest: /m)[0] ?? '';
}

const failures = (report: string): string =>
  report
    .split('\n')
    .filter((line) => /^\s*not ok|^\s*error:|^\s*'/.test(line))
    .join('\n');

/** Parts of about one length: the processors have something to do until the end. */
const topics = {
  datapoints: /datapoint|merged|bulk|csv|calibration|sensors|export/,
  matrix: /rights-matrix/,
  rights: /right|fuzz|share|sharing/,
  accounts: /bad-|key|auth|users|accounts/,
  notifications: /notification|social|message|address|login/,
  devices: /device|actuator|gateway|group|project/,
} as const;

/** Runs the cases of version 2 about a topic, or about none of the topics, in version 1. */
export function casesInV1(topic: keyof typeof topics | 'others'): void {
  const isOfTopic = (path: string): boolean => topicOf(basename(path)) === topic;
  const named = Object.keys(different).filter((name) => !files.some((path) => path.endsWith(name)));
  test('no exception is of a file that is gone', () => assert.deepEqual(named, []));
  describe(`the cases of version 2 about ${topic} hold in version 1`, () => {
    const ours = files.filter(isOfTopic);
    assert.ok(ours.length > 0, `no file is about ${topic}`);
    let report: string;
    const patience = { timeout: reportMsMax };
    before(async () => {
      report = await reportInV1(ours);
    }, patience);
    for (const path of ours) {
      test(`as ${basename(path, '.test.ts')} has them`, () => {
        const part = partAbout(path, report);
        assert.match(part, new RegExp(`^ok \\d+ - ${RegExp.escape(path)}$`, 'm'), failures(part));
        // On an engine that keeps nothing, a file may have no case at all.
        assert.match(part, ran, 'no case was run');
      });
    }
  });
}

function topicOf(name: string): keyof typeof topics | 'others' {
  const names = Object.keys(topics) as (keyof typeof topics)[];
  return names.find((topic) => topics[topic].test(name)) ?? 'others';
}
