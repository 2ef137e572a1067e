import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { parse, parseAllDocuments } from 'yaml';
import { configKeys } from '../src/config/config-keys.ts';
import { limits } from '../src/domain/limits.ts';
import { temporaryDirectory } from './contract/storage/temporary-directory.ts';
import { freePort } from './postgres-server.ts';
import { startService } from './service.ts';

const folder = resolve(import.meta.dirname, '../deploy');
const textOf = (name: string): string => readFileSync(join(folder, name), 'utf8');
const hasHaproxy = spawnSync('haproxy', ['-v']).status === 0;
const directory = temporaryDirectory({ after });

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly selector?: { readonly matchLabels?: Readonly<Record<string, string>> };
    readonly template?: { readonly spec: Pod; readonly metadata: { readonly labels: unknown } };
  };
}

interface Pod {
  readonly terminationGracePeriodSeconds: number;
  readonly containers: readonly {
    readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
    readonly env?: readonly { readonly name: string }[];
    readonly lifecycle?: { readonly preStop: { readonly exec: { readonly command: string[] } } };
    readonly [probe: string]: unknown;
  }[];
}

/** All documents of a file, none of which has a mistake or warning of YAML. */
function manifestsOf(name: string): readonly Manifest[] {
  return parseAllDocuments(textOf(name)).map((document) => {
    assert.deepEqual([...document.errors, ...document.warnings], [], name);
    return document.toJS() as Manifest;
  });
}

test('every setting that files of deploy name is one', () => {
  for (const name of [
    'compose.yaml',
    'kubernetes/kipimo.yaml',
    'haproxy.cfg',
    'haproxy-postgres.cfg',
  ]) {
    const named = textOf(name).match(/KIPIMO_[A-Z_]+/g) ?? [];
    assert.ok(named.length > 0, name);
    for (const key of named) assert.ok(Object.hasOwn(configKeys, key), `${name}: ${key}`);
  }
});

test('pods of Kubernetes are asked what is answered, and have time to end', () => {
  for (const name of ['kubernetes/kipimo.yaml', 'kubernetes/haproxy.yaml']) {
    const manifests = manifestsOf(name);
    const kinds = manifests.map(({ kind }) => kind);
    assert.deepEqual(kinds, ['Deployment', 'Service', 'PodDisruptionBudget'], name);
    const [deployment, , budget] = manifests;
    assert.deepEqual(
      deployment?.spec.template?.metadata.labels,
      budget?.spec.selector?.matchLabels,
      'the budget is about these pods',
    );
  }
  const pod = manifestsOf('kubernetes/kipimo.yaml')[0]?.spec.template?.spec;
  const container = pod?.containers[0];
  assert.deepEqual(container?.['readinessProbe'], {
    ...{ httpGet: { path: '/readyz', port: 'http' } },
    ...{ periodSeconds: 2, timeoutSeconds: 2, failureThreshold: 2 },
  });
  assert.match(JSON.stringify(container?.['livenessProbe']), /"\/healthz"/);
  assert.deepEqual(
    container?.ports.map(({ containerPort }) => containerPort),
    [8080, 1883],
  );
  const pauseSeconds = Number(container?.lifecycle?.preStop.exec.command.at(-1));
  const endSeconds = pauseSeconds + limits.drainMs / 1_000;
  assert.ok((pod?.terminationGracePeriodSeconds ?? 0) > 2 * endSeconds);
});

test('containers write to their volumes alone, and no image changes under its name', () => {
  for (const name of ['kubernetes/kipimo.yaml', 'kubernetes/haproxy.yaml']) {
    const pods = manifestsOf(name).flatMap(({ spec }) => spec.template?.spec ?? []);
    for (const container of pods.flatMap(({ containers }) => containers)) {
      const context = container['securityContext'] as Readonly<Record<string, unknown>>;
      assert.equal(context['readOnlyRootFilesystem'], true, name);
      assert.equal(context['allowPrivilegeEscalation'], false, name);
    }
  }
  for (const name of ['compose.yaml', 'kubernetes/kipimo.yaml', 'kubernetes/haproxy.yaml']) {
    const images = [...textOf(name).matchAll(/image: *(\S+)/g)].map(([, image = '']) => image);
    assert.ok(images.length > 0, name);
    for (const image of images) assert.match(image, /:\d+\.\d+(\.\d+)?$/, name);
  }
});

test('the Compose file starts a database, the service and its balancer', () => {
  const { services } = parse(textOf('compose.yaml')) as {
    readonly services: Readonly<Record<string, { readonly stop_grace_period?: string }>>;
  };
  assert.deepEqual(Object.keys(services), ['database', 'kipimo', 'balancer']);
  const graceMs = Number.parseInt(services['kipimo']?.stop_grace_period ?? '', 10) * 1_000;
  assert.ok(graceMs > 2 * limits.drainMs);
});

/** The configuration of deploy, with these ports instead of names. */
function configurationFor(ports: Readonly<Record<string, number>>): string {
  return textOf('haproxy.cfg')
    .replace('maxconn 100000', 'maxconn 100')
    .replace(/bind :8080$/m, `bind 127.0.0.1:${ports['frontHttp']}`)
    .replace(/bind :1883$/m, `bind 127.0.0.1:${ports['frontMqtt']}`)
    .replaceAll(/server-template kipimo 1-16 kipimo:(\d+)/g, (_, port: string) => {
      return `server one 127.0.0.1:${port === '8080' ? ports['http'] : ports['mqtt']}`;
    })
    .replaceAll('check port 8080', `check port ${ports['http']}`)
    .replaceAll(' resolvers names init-addr none', '');
}

async function untilUp(port: number, child: ChildProcess): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    assert.equal(child.exitCode, null, 'HAProxy runs');
    const reply = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
    if (reply?.status === 200) return;
    await wait(50);
  }
  assert.fail('HAProxy never found the service');
}

const needsHaproxy = hasHaproxy ? false : "needs Debian's package haproxy";

test('HAProxy takes its configurations as they are', { skip: needsHaproxy }, () => {
  for (const name of ['haproxy.cfg', 'haproxy-postgres.cfg']) {
    const { status, stderr } = spawnSync('haproxy', ['-c', '-f', join(folder, name)]);
    assert.equal(status, 0, stderr.toString());
  }
});

test('HTTP and MQTT come through HAProxy', { skip: needsHaproxy }, async () => {
  await using service = await startService({
    environment: { KIPIMO_TRUSTED_PROXIES: '127.0.0.1' },
  });
  const ports = {
    ...{ frontHttp: await freePort(), frontMqtt: await freePort() },
    http: Number(new URL(service.url).port),
    mqtt: Number(new URL(service.mqttUrl).port),
  };
  const file = join(directory, 'haproxy.cfg');
  writeFileSync(file, configurationFor(ports));
  const child = spawn('haproxy', ['-db', '-f', file], { stdio: 'inherit' });
  const ended = once(child, 'exit');
  try {
    await untilUp(ports.frontHttp, child);
    const socket = connect({ port: ports.frontMqtt, host: '127.0.0.1' });
    socket.write(Buffer.from('\x10\x0d\x00\x04MQTT\x04\x02\x00\x3c\x00\x01a', 'latin1'));
    const [answer] = (await once(socket, 'data')) as [Buffer];
    assert.equal(answer.toString('latin1'), '\x20\x02\x00\x00');
    socket.destroy();
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
});
