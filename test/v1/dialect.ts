import type { Call, Reply } from '../service.ts';

/**
 * Lets a test that was written for version 2 talk to version 1: says the call in its words, and
 * gives the answer back in those of version 2. Written down a second time, apart from the service;
 * it walks the JSON, which is right for what tests send, and would be wrong for what people do.
 */
export function callInV1(call: Call): Call {
  if (call.path.startsWith('//docs/v2.json')) return { ...call, path: '//docs/v1.json' };
  if (call.path.startsWith(v2Root)) {
    return callInV1({ ...call, path: call.path.slice(v2Root.length - 1) });
  }
  if (call.path.startsWith('//')) return call;
  const [path = '', query] = splitOnce(call.path, '?');
  const asked = query === undefined ? '' : `?${queryToV1(query)}`;
  const { json, body, type } = call;
  return {
    ...call,
    path: `//api/v1${pathTo('v1', path)}${asked}`,
    ...(json !== undefined && { json: freeOfWords(path) ? json : wronglyToV1(path, json) }),
    ...(body !== undefined && { body: bodyToV1(body, type, path) }),
  };
}

const v2Root = '//api/v2/';

/** The answer of version 1 as version 2 would have given it. */
export function replyFromV1(call: Call, reply: Reply): Reply {
  if (call.path.startsWith('//docs/v2.json')) return documentFromV1(reply);
  if (call.path.startsWith('//') && !call.path.startsWith(v2Root)) return reply;
  const isEmpty = reply.status === 200 && reply.text === '' && call.method !== 'HEAD';
  const isAlways200 = /^POST \/gateways$|^DELETE \/socials\//.test(`${call.method} ${call.path}`);
  const isToNobody = reply.status === 500 && /"error":"unknown_recipient"/.test(reply.text);
  const status = isEmpty && !isAlways200 ? 204 : isToNobody ? 404 : reply.status;
  const headers = headersFromV1(reply.headers);
  // The id of a new account is JSON in version 2.
  const isId = status === 200 && `${call.method} ${call.path}` === 'POST /users';
  if (isId) return { status, headers, text: JSON.stringify(reply.text), json: reply.text };
  if (reply.json === undefined) return { ...reply, status, headers };
  // Numbers of many digits would not survive being read and written.
  const text = textFromV1(reply.text.replace('"unknown_recipient"', '"not_found"'), call.path);
  return { status, headers, text, json: JSON.parse(text) };
}

function headersFromV1(given: Headers): Headers {
  const headers = new Headers(given);
  const link = given.get('link');
  const pathToV2 = (_: string, path: string) => `/api/v2${pathTo('v2', path)}`;
  if (link !== null) headers.set('link', link.replace(/\/api\/v1([^?>]*)/g, pathToV2));
  return headers;
}

type Version = 'v1' | 'v2';

const wordsOf: Readonly<Record<Version, Readonly<Record<string, string>>>> = {
  v1: { device: 'sensor', sensor: 'measurement' },
  v2: { sensor: 'device', measurement: 'sensor' },
};

const renamed = (to: Version, text: string): string =>
  text.replace(
    /(?<![\w])(device|sensor|measurement)(?=s?(_ids?)?(?!\w))/gi,
    (word) => wordsOf[to][word.toLowerCase()] ?? word,
  );

const keyTo = (to: Version, key: string): string => {
  if (to === 'v1' && key === 'action') return 'notification';
  if (to === 'v2' && key === 'notification') return 'action';
  return /^(device|sensor|measurement)(s|_ids?)?$/.test(key) ? renamed(to, key) : key;
};

const pathTo = (to: Version, path: string): string =>
  // A parent's word comes before each id, and no id in these tests is such a word.
  path
    .split('/')
    .map((part) => keyTo(to, part))
    .join('/');

function queryToV1(query: string): string {
  return query
    .split('&')
    .map((pair) => {
      const [name = '', value] = splitOnce(pair, '=');
      if (value === undefined) return keyTo('v1', name);
      const asked = name === 'q' ? value.replace(/\bsensors\b/g, 'measurements') : value;
      return `${keyTo('v1', name)}=${asked}`;
    })
    .join('&');
}

function splitOnce(text: string, separator: string): readonly [string, string | undefined] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

/** An empty visibility counts as not given in version 1: another wrong word stands for it. */
function wronglyToV1(path: string, json: unknown): unknown {
  const message = messageTo('v1', json);
  const isEmpty = path === '/devices' && isRecord(json) && json['visibility'] === '';
  return isEmpty ? { ...(message as object), visibility: 'nothing' } : message;
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

/** Datapoints, actuator values and meta are whatever the client likes. */
const freeOfWords = (path: string): boolean => /\/(values?|meta|health|heartbeat)$/.test(path);

const freeKeys: ReadonlySet<string> = new Set([
  'value',
  'meta',
  'status',
  'last_value',
  'actuator_value',
]);

function messageTo(to: Version, message: unknown): unknown {
  if (typeof message === 'string') return scopeTo(to, message);
  if (Array.isArray(message)) return message.map((element) => messageTo(to, element));
  if (typeof message !== 'object' || message === null) return message;
  // Beside a type, value is what a notification does.
  const isFree = (key: string) => freeKeys.has(key) && !(key === 'value' && 'type' in message);
  return Object.fromEntries(
    Object.entries(message).map(([key, value]) =>
      isFree(key) ? [key, value] : [keyTo(to, key), messageTo(to, value)],
    ),
  );
}

const scopeTo = (to: Version, text: string): string =>
  /^(device|sensor)s?(-data)?:\w+$/.test(text)
    ? text.replace(/^device|^sensor/, (word) => wordsOf[to][word] ?? word)
    : text;

function bodyToV1(
  body: string | Uint8Array,
  type: string | undefined,
  path: string,
): string | Uint8Array {
  if (typeof body !== 'string') {
    const latin = Buffer.from(body).toString('latin1');
    return new Uint8Array(Buffer.from(textToV1(latin, type, path), 'latin1'));
  }
  return textToV1(body, type, path);
}

function textToV1(body: string, type: string | undefined, path: string): string {
  if (type?.startsWith('text/csv')) {
    return body.replace(/^device_id,sensor_id/, 'sensor_id,measurement_id');
  }
  if (freeOfWords(path) || (type === undefined && !path.endsWith('_ids'))) return body;
  // By the text: it may be broken on purpose.
  return body
    .replace(/"(device_ids?|sensor_id|devices|sensors|action)"(?=\s*:)/g, (_, key: string) =>
      JSON.stringify(keyTo('v1', key)),
    )
    .replace(/"(devices?(-data)?:\w+)"/g, (_, scope: string) =>
      JSON.stringify(scopeTo('v1', scope)),
    );
}

/** Behind the id of a device; a sensor has no gateway_id. */
const blanks =
  /("id":"[^"]+",)("gateway_id":"[^"]*",)("name":"(?:[^"\\]|\\.)*",)("visibility":"\w*",)/g;

const withoutBlanks = (_whole: string, id: string, ...fields: readonly string[]): string =>
  id +
  fields
    .slice(0, 3)
    .filter((field) => !field.endsWith(':"",'))
    .join('');

function textFromV1(text: string, path: string): string {
  if (freeOfWords(path) && !text.includes('"description"') && !text.includes('"sensor_id"'))
    return text;
  const [, ...rest] = text.match(/^\{"error":"(\w+)","description":(.*)\}$/s) ?? [];
  if (rest.length > 0)
    return `{"error":"${rest[0]}","description":${renamed('v2', rest[1] ?? '')}}`;
  return text
    .replace(blanks, withoutBlanks)
    .replace(/"(\w+)":/g, (_, key: string) => `${JSON.stringify(keyTo('v2', key))}:`)
    .replace(/"(sensors?(-data)?:\w+)"/g, (_, scope: string) =>
      JSON.stringify(scopeTo('v2', scope)),
    )
    .replace(/"description":"[^"]*"/g, (sentence) => renamed('v2', sentence))
    .replace(/"kind":"sensor"/g, '"kind":"device"');
}

/** The reference, without the one path that is in addition. */
function documentFromV1(reply: Reply): Reply {
  const document = JSON.parse(
    renamed('v2', reply.text.replace('"/auth/permissions":', '"/gone":')),
  );
  delete document.paths['/gone'];
  const text = JSON.stringify(document, (_, node: unknown) => actionOf(node));
  return { ...reply, text, json: JSON.parse(text) };
}

/** What stands beside a condition is an action; a preview has a notification in both versions. */
function actionOf(node: unknown): unknown {
  if (!isRecord(node) || Array.isArray(node)) return node;
  const { properties, required } = node;
  if (!isRecord(properties) || properties['condition'] === undefined) return node;
  const { notification, ...others } = properties;
  const named = (required as readonly string[] | undefined)?.map((key) => keyTo('v2', key));
  return {
    ...node,
    properties: { ...others, action: notification },
    ...(named !== undefined && { required: named }),
  };
}
