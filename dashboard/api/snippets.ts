import { type SendTarget, valueAddress } from './send-target.ts';
import { sketch } from './sketches.ts';

export const snippetKinds = ['curl', 'Arduino', 'Python', 'MQTT'] as const;
export type SnippetKind = (typeof snippetKinds)[number];

/** The value in lines to copy. */
export const exampleValue = '23.4';

/** Lines to copy that send one value. Ids hold no quotes or backslashes [contract 3]. */
export function snippet(kind: SnippetKind, target: SendTarget): string {
  switch (kind) {
    case 'curl':
      return curl(target);
    case 'Arduino':
      return sketch(target.board ?? 'ESP32', target, exampleValue);
    case 'Python':
      return python(target);
    case 'MQTT':
      return mqtt(target);
  }
}

function curl(target: SendTarget): string {
  return [
    `curl -X POST '${valueAddress(target)}' \\`,
    ...(target.key === undefined ? [] : [`  -H 'Authorization: Bearer ${target.key}' \\`]),
    `  -H 'Content-Type: application/json' \\`,
    `  -d '{"value": ${exampleValue}}'`,
  ].join('\n');
}

function python(target: SendTarget): string {
  return [
    'import json, urllib.request',
    '',
    `url = "${valueAddress(target)}"`,
    `body = json.dumps({"value": ${exampleValue}}).encode()`,
    'headers = {"Content-Type": "application/json"}',
    ...(target.key === undefined ? [] : [`headers["Authorization"] = "Bearer ${target.key}"`]),
    'urllib.request.urlopen(urllib.request.Request(url, body, headers))',
  ].join('\n');
}

function mqtt(target: SendTarget): string {
  const topic = `devices/${target.device}/sensors/${target.sensor}/value`;
  return mosquitto('mosquitto_pub', target, topic, `{"value": ${exampleValue}}`);
}

/** A line with a client of Mosquitto. */
export function mosquitto(
  program: 'mosquitto_pub' | 'mosquitto_sub',
  target: SendTarget,
  topic: string,
  message?: string,
): string {
  const { host, mqttPort, key, username = '' } = target;
  return [
    `${program} -h ${host} -p ${mqttPort} \\`,
    ...(key === undefined ? [] : [`  -u '${username}' -P '${key}' \\`]),
    `  -q 1 -t '${topic}'${message === undefined ? '' : ' \\'}`,
    ...(message === undefined ? [] : [`  -m '${message}'`]),
  ].join('\n');
}
