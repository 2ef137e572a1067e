import type { ControlKind } from './control-value.ts';
import { exact } from './long-numbers.ts';
import { controlAddress, type SendTarget } from './send-target.ts';
import { inQuotes, joinWifi } from './sketches.ts';
import { mosquitto } from './snippets.ts';

/** An actuator that a program of its device listens for. */
export interface ListenedControl {
  readonly id: string;
  /** Decides what a sketch does with a setting. */
  readonly kind: ControlKind;
  /** The setting that lines for a terminal confirm. */
  readonly value: unknown;
}

const topicOf = ({ device }: SendTarget, { id }: ListenedControl): string =>
  `devices/${device}/actuators/${id}/value`;

/** The confirmation of a setting, between single quotes of a shell. */
const confirmationOf = ({ value }: ListenedControl): string =>
  `{"value":${exact.json(value)},"confirmed":true}`.replaceAll("'", "'\\''");

/** Lines that hear by MQTT each setting as it comes, and confirm it. */
export function hearingLines(target: SendTarget, control: ListenedControl) {
  const topic = topicOf(target, control);
  return {
    listen: mosquitto('mosquitto_sub', target, topic),
    confirm: mosquitto('mosquitto_pub', target, topic, confirmationOf(control)),
  };
}

/** Lines that ask for the setting over HTTP, and confirm it. */
export function askingLines(target: SendTarget, control: ListenedControl) {
  const { key } = target;
  const login = key === undefined ? [] : [`  -H 'Authorization: Bearer ${key}' \\`];
  const address = controlAddress(target, control.id);
  return {
    listen: ['curl \\', ...login, `  '${address}'`].join('\n'),
    confirm: [
      `curl -X PUT '${address}/value' \\`,
      ...login,
      `  -H 'Content-Type: application/json' \\`,
      `  -d '${confirmationOf(control)}'`,
    ].join('\n'),
  };
}

/** A Python program that hears each setting by MQTT, and confirms it. */
export function listeningPython(target: SendTarget, control: ListenedControl): string {
  const { host, mqttPort, key, username = 'key' } = target;
  return [
    '# pip install paho-mqtt',
    'import json',
    'import paho.mqtt.client as mqtt',
    '',
    `topic = "${topicOf(target, control)}"`,
    '',
    'def on_connect(client, userdata, flags, reason, properties):',
    '    print(reason)',
    '    client.subscribe(topic, qos=1)',
    '',
    'def on_message(client, userdata, message):',
    '    value = json.loads(message.payload)',
    '    print("set to", value)  # switch it here',
    '    client.publish(topic, json.dumps({"value": value, "confirmed": True}), qos=1)',
    '',
    'client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2)',
    ...(key === undefined ? [] : [`client.username_pw_set("${username}", "${key}")`]),
    'client.on_connect = on_connect',
    'client.on_message = on_message',
    `client.connect("${host}", ${mqttPort})`,
    'client.loop_forever()',
  ].join('\n');
}

/**
 * A whole sketch with PubSubClient: it sends a value each minute, follows the settings of an
 * actuator, and confirms them.
 */
export function listeningSketch(
  target: SendTarget,
  control: ListenedControl,
  value: string,
): string {
  const { device, sensor, host, mqttPort, key, username = 'key', board = 'ESP32' } = target;
  const hasWifi = board !== 'Uno + Ethernet';
  const login = key === undefined ? [] : [`const char* key = "${key}";`];
  const asWhom = key === undefined ? '' : `, "${username}", key`;
  return [
    ...(hasWifi
      ? [`#include <${board === 'ESP32' ? 'WiFi' : 'ESP8266WiFi'}.h>`]
      : ['#include <SPI.h>', '#include <Ethernet.h>']),
    '#include <PubSubClient.h>',
    '',
    ...(hasWifi
      ? [
          `const char* network = "${inQuotes(target.wifi?.name ?? '')}";`,
          `const char* password = "${inQuotes(target.wifi?.password ?? '')}";`,
        ]
      : ['byte mac[] = {0x02, 0x00, 0x00, 0x00, 0x00, 0x01}; // another one for each board']),
    `const char* server = "${host}";`,
    `const uint16_t port = ${mqttPort};`,
    ...login,
    `const char* sensorTopic = "devices/${device}/sensors/${sensor}/value";`,
    `const char* controlTopic = "${topicOf(target, control)}";`,
    'const int pin = 5; // where it is connected',
    '',
    `${hasWifi ? 'WiFiClient' : 'EthernetClient'} client;`,
    'PubSubClient mqtt(client);',
    'unsigned long sentAt = 0;',
    '',
    '// Kipimo sets the control: follow it, and confirm what was set.',
    'void onMessage(char*, byte* payload, unsigned int length) {',
    '  String setting;',
    '  for (unsigned int i = 0; i < length; i++) setting += (char)payload[i];',
    ...followLines[control.kind],
    '  String answer = "{\\"value\\": " + setting + ", \\"confirmed\\": true}";',
    '  mqtt.publish(controlTopic, answer.c_str());',
    '}',
    '',
    ...(hasWifi ? [...joinWifi, ''] : []),
    'bool connectMqtt() {',
    '  if (mqtt.connected()) return true;',
    ...(hasWifi ? ['  if (!connectWiFi()) return false;'] : []),
    `  if (!mqtt.connect("${device}"${asWhom})) return false;`,
    '  return mqtt.subscribe(controlTopic, 1);',
    '}',
    '',
    'void setup() {',
    '  Serial.begin(115200);',
    '  pinMode(pin, OUTPUT);',
    ...(hasWifi ? [] : ['  while (Ethernet.begin(mac) == 0) delay(5000);']),
    '  mqtt.setServer(server, port);',
    '  mqtt.setBufferSize(512);',
    '  mqtt.setCallback(onMessage);',
    '}',
    '',
    'void loop() {',
    ...(hasWifi ? [] : ['  Ethernet.maintain(); // keeps the address']),
    '  if (!connectMqtt()) {',
    '    Serial.println(mqtt.state());',
    '    delay(5000);',
    '    return;',
    '  }',
    '  mqtt.loop();',
    '  if (sentAt != 0 && millis() - sentAt < 60000) return;',
    '  sentAt = millis();',
    `  float value = ${value}; // what your sensor measures`,
    '  mqtt.publish(sensorTopic, String(value, 2).c_str());',
    '}',
  ].join('\n');
}

const followLines: Readonly<Record<ListenedControl['kind'], readonly string[]>> = {
  bool: ['  digitalWrite(pin, setting == "true" ? HIGH : LOW);'],
  number: ['  analogWrite(pin, setting.toInt()); // 0 to 255'],
  string: ['  Serial.println(setting); // do here what it says'],
  json: ['  Serial.println(setting); // do here what it says'],
};
