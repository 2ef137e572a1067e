/** Where and as what a device sends. */
export interface SendTarget {
  /** With scheme, host and port. */
  readonly origin: string;
  readonly host: string;
  readonly mqttPort: number;
  readonly device: string;
  readonly sensor: string;
  /** A key, or the words that stand where one must be put; absent: none is needed. */
  readonly key?: string;
  readonly username?: string;
}

export const snippetKinds = ['curl', 'Arduino', 'Python', 'MQTT'] as const;
export type SnippetKind = (typeof snippetKinds)[number];

const exampleValue = '23.4';

/** Lines to copy that send one value. Ids hold no quotes or backslashes [contract 3]. */
export function snippet(kind: SnippetKind, target: SendTarget): string {
  switch (kind) {
    case 'curl':
      return curl(target);
    case 'Arduino':
      return arduino(target);
    case 'Python':
      return python(target);
    case 'MQTT':
      return mqtt(target);
  }
}

/** Where values of the sensor go. */
export function valueAddress({ origin, device, sensor }: SendTarget): string {
  // The four that encodeURIComponent leaves and shells or C mind.
  const part = (id: string): string =>
    encodeURIComponent(id).replace(/[!'*~]/g, (char) => `%${char.charCodeAt(0).toString(16)}`);
  return `${origin}/api/v2/devices/${part(device)}/sensors/${part(sensor)}/value`;
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

function arduino(target: SendTarget): string {
  const isSecure = target.origin.startsWith('https:');
  return [
    '#include <WiFi.h>',
    ...(isSecure ? ['#include <WiFiClientSecure.h>'] : []),
    '#include <HTTPClient.h>',
    '',
    `const char* url = "${valueAddress(target)}";`,
    '',
    'void sendValue(float value) {',
    ...(isSecure
      ? [
          '  WiFiClientSecure client;',
          '  client.setInsecure(); // better: client.setCACert(…)',
          '  HTTPClient http;',
          '  http.begin(client, url);',
        ]
      : ['  HTTPClient http;', '  http.begin(url);']),
    '  http.addHeader("Content-Type", "application/json");',
    ...(target.key === undefined
      ? []
      : [`  http.addHeader("Authorization", "Bearer ${target.key}");`]),
    '  http.POST("{\\"value\\": " + String(value, 2) + "}");',
    '  http.end();',
    '}',
    '',
    'void setup() {',
    '  WiFi.begin("your-network", "its-password");',
    '  while (WiFi.status() != WL_CONNECTED) delay(200);',
    '}',
    '',
    'void loop() {',
    `  sendValue(${exampleValue}); // what your sensor measures`,
    '  delay(60000);',
    '}',
  ].join('\n');
}

function mqtt(target: SendTarget): string {
  const topic = `devices/${target.device}/sensors/${target.sensor}/value`;
  return [
    `mosquitto_pub -h ${target.host} -p ${target.mqttPort} \\`,
    ...(target.key === undefined ? [] : [`  -u '${target.username ?? ''}' -P '${target.key}' \\`]),
    `  -q 1 -t '${topic}' \\`,
    `  -m '{"value": ${exampleValue}}'`,
  ].join('\n');
}
