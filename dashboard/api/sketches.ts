import { type Board, type SendTarget, valueAddress } from './send-target.ts';

/** Whether a board can send to this origin: the Uno has no room for TLS. */
export const canSend = (board: Board, origin: string): boolean =>
  board !== 'Uno + Ethernet' || !origin.startsWith('https:');

/** Whether a board joins a Wi-Fi, so that a sketch for it needs to know which. */
export const hasWifi = (board: Board): boolean => board !== 'Uno + Ethernet';

/** A text between double quotes in C++, without the quotes; controls have no place in it. */
export const inQuotes = (text: string): string =>
  // Two question marks could begin a trigraph.
  text.replace(/\p{Cc}/gu, '').replace(/["\\?]/g, '\\$&');

/** A whole sketch that sends a value each minute, connects again, and looks at the answer. */
export function sketch(board: Board, target: SendTarget, value: string): string {
  const lines = board === 'Uno + Ethernet' ? uno(target) : wifi(board, target);
  return [...lines, '', ...loop(value, board === 'Uno + Ethernet')].join('\n');
}

/** Connects a board again when the network was away. */
export const joinWifi: readonly string[] = [
  '// Connects again when the network was away.',
  'bool connectWiFi() {',
  '  if (WiFi.status() == WL_CONNECTED) return true;',
  '  WiFi.mode(WIFI_STA);',
  '  WiFi.begin(network, password);',
  '  for (int i = 0; i < 100 && WiFi.status() != WL_CONNECTED; i++) delay(200);',
  '  return WiFi.status() == WL_CONNECTED;',
  '}',
];

function wifi(board: 'ESP32' | 'ESP8266', target: SendTarget): readonly string[] {
  const isSecure = target.origin.startsWith('https:');
  const isEsp32 = board === 'ESP32';
  return [
    `#include <${isEsp32 ? 'WiFi' : 'ESP8266WiFi'}.h>`,
    ...(isSecure ? ['#include <WiFiClientSecure.h>'] : []),
    `#include <${isEsp32 ? 'HTTPClient' : 'ESP8266HTTPClient'}.h>`,
    '',
    `const char* network = "${inQuotes(target.wifi?.name ?? '')}";`,
    `const char* password = "${inQuotes(target.wifi?.password ?? '')}";`,
    `const char* url = "${valueAddress(target)}";`,
    '',
    ...joinWifi,
    '',
    '// true: the service has stored the value.',
    'bool sendValue(float value) {',
    '  if (!connectWiFi()) return false;',
    ...(isSecure
      ? [
          '  WiFiClientSecure client;',
          '  client.setInsecure(); // better: check the certificate of your server',
        ]
      : ['  WiFiClient client;']),
    '  HTTPClient http;',
    '  if (!http.begin(client, url)) return false;',
    '  http.setTimeout(10000);',
    '  http.addHeader("Content-Type", "application/json");',
    ...(target.key === undefined
      ? []
      : [`  http.addHeader("Authorization", "Bearer ${target.key}");`]),
    '  int status = http.POST("{\\"value\\": " + String(value, 2) + "}");',
    '  http.end();',
    '  Serial.print("status ");',
    '  Serial.println(status);',
    '  return status >= 200 && status < 300;',
    '}',
    '',
    'void setup() {',
    '  Serial.begin(115200);',
    '  connectWiFi();',
    '}',
  ];
}

function uno(target: SendTarget): readonly string[] {
  const { hostname, port, protocol, pathname } = new URL(valueAddress(target));
  const usual = protocol === 'https:' ? '443' : '80';
  const host = port === '' ? hostname : `${hostname}:${port}`;
  return [
    '#include <SPI.h>',
    '#include <Ethernet.h>',
    '',
    'byte mac[] = {0x02, 0x00, 0x00, 0x00, 0x00, 0x01}; // another one for each board',
    `const char host[] = "${hostname}";`,
    `const uint16_t port = ${port === '' ? usual : port};`,
    'EthernetClient client;',
    '',
    '// true: the service has stored the value.',
    'bool sendValue(float value) {',
    '  if (!client.connect(host, port)) return false;',
    '  client.setTimeout(10000);',
    '  String body = "{\\"value\\": " + String(value, 2) + "}";',
    `  client.println(F("POST ${pathname} HTTP/1.1"));`,
    `  client.println(F("Host: ${host}"));`,
    '  client.println(F("Connection: close"));',
    '  client.println(F("Content-Type: application/json"));',
    ...(target.key === undefined
      ? []
      : [`  client.println(F("Authorization: Bearer ${target.key}"));`]),
    '  client.print(F("Content-Length: "));',
    '  client.println(body.length());',
    '  client.println();',
    '  client.print(body);',
    '  // The answer begins with "HTTP/1.1 204": the status is its second word.',
    "  int status = client.find(' ') ? client.parseInt() : 0;",
    '  client.stop();',
    '  Serial.print(F("status "));',
    '  Serial.println(status);',
    '  return status >= 200 && status < 300;',
    '}',
    '',
    'void setup() {',
    '  Serial.begin(9600);',
    '  while (Ethernet.begin(mac) == 0) delay(5000);',
    '}',
  ];
}

function loop(value: string, hasLease: boolean): readonly string[] {
  return [
    'void loop() {',
    ...(hasLease ? ['  Ethernet.maintain(); // keeps the address'] : []),
    `  float value = ${value}; // what your sensor measures`,
    '  for (int i = 0; i < 3 && !sendValue(value); i++) delay(5000);',
    '  delay(60000);',
    '}',
  ];
}
