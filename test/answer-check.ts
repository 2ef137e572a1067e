import type { TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import { versionDocuments } from '../scripts/openapi.ts';
import { v1Routes } from '../src/http/v1/index.ts';
import { createV1Paths } from '../src/http/v1/paths.ts';
import { v2Routes } from '../src/http/v2/index.ts';
import type { Services } from '../src/http/v2/services.ts';
import { dereferenced } from './dereferenced.ts';

/** A request and what came back, as far as the reference speaks of it. */
export interface Exchange {
  readonly method: string;
  /** With its query, from the root. */
  readonly path: string;
  readonly status: number;
  readonly contentType: string | null;
  readonly text: string;
}

/** What is wrong with an answer by the reference; undefined: nothing, or no call of the API. */
export type AnswerCheck = (exchange: Exchange) => string | undefined;

interface Documented {
  readonly 'x-optional'?: boolean;
  readonly content?: Readonly<Record<string, { readonly schema: object }>>;
}

interface Operation {
  readonly responses: Readonly<Record<string, Documented>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

interface KnownPath {
  /** Undefined for a parameter. */
  readonly parts: readonly (string | undefined)[];
  readonly operations: Readonly<Record<string, Operation>>;
}

interface Version {
  readonly known: readonly KnownPath[];
  readonly error: object;
}

/** Checks answers by documents of the API; `onePath` gives paths of version 1 one form. */
export function createAnswerCheck(
  documents: Readonly<Record<string, () => unknown>>,
  onePath: (url: string) => string = (url) => url,
): AnswerCheck {
  const versions = new Map<string, Version>();
  const versionOf = (name: string): Version | undefined => {
    const document = documents[name];
    const known = versions.get(name) ?? (document && readVersion(document()));
    if (known !== undefined) versions.set(name, known);
    return known;
  };
  return (exchange) => {
    const [path = ''] = onePath(exchange.path).split(/[?#]/, 1);
    const [root, name = '', ...parts] = path.split('/').filter((part) => part !== '');
    const version = root === 'api' ? versionOf(name) : undefined;
    const { method, status } = exchange;
    if (version === undefined || method === 'OPTIONS') return undefined;
    const operations = version.known.find((known) => fits(known, parts))?.operations;
    const documented = operations?.[method === 'HEAD' ? 'get' : method.toLowerCase()];
    if (documented !== undefined) {
      const response = documented.responses[status];
      if (response === undefined) return 'this status is not documented for the route';
      if (response['x-optional'] === true && exchange.text === '') return undefined;
      return bodyFault(exchange, response.content);
    }
    const expected = operations === undefined ? [404, 405] : [405];
    if (!expected.includes(status)) return `expected ${expected}: the reference has no such route`;
    const [beside] = Object.values(operations ?? {});
    const asBeside = beside?.responses[503]?.content;
    return bodyFault(exchange, asBeside ?? { 'application/json': { schema: version.error } });
  };
}

function readVersion(document: unknown): Version {
  const { paths, components } = dereferenced(document) as Document;
  return { known: knownPaths(paths), error: components.schemas['Error'] ?? {} };
}

function knownPaths(paths: Document['paths']): readonly KnownPath[] {
  const known = Object.entries(paths).map(([path, operations]) => ({
    parts: path
      .slice(1)
      .split('/')
      .map((part) => (part.startsWith('{') ? undefined : part)),
    operations,
  }));
  // Words before parameters, as the router has it.
  const rank = ({ parts }: KnownPath) => parts.map((part) => (part === undefined ? 1 : 0)).join('');
  return known.sort((a, b) => rank(a).localeCompare(rank(b)));
}

const fits = ({ parts: known }: KnownPath, parts: readonly string[]): boolean =>
  known.length === parts.length &&
  known.every((part, index) => part === undefined || part === parts[index]);

function bodyFault(
  { method, contentType, text }: Exchange,
  content: Documented['content'],
): string | undefined {
  if (method === 'HEAD') return text === '' ? undefined : 'an answer to HEAD has no body';
  if (content === undefined) return text === '' ? undefined : 'no body is documented';
  const [type = ''] = (contentType ?? '').split(';', 1);
  const schema = content[type]?.schema;
  if (schema === undefined) return `the content type ${type} is not documented`;
  if (type !== 'application/json') return undefined;
  const message = parsed(text);
  if (message === undefined) return 'the body is not JSON';
  const validator = validatorOf(schema);
  if (validator.Check(message)) return undefined;
  const errors = [...validator.Errors(message)].filter(({ keyword }) => keyword !== 'boolean');
  return errors
    .slice(0, 8)
    .map((error) => `${error.instancePath}: ${error.message} ${JSON.stringify(error.params)}`)
    .join('; ');
}

const validators = new WeakMap<object, Validator>();

/** Compiled at the first answer of its kind. */
function validatorOf(schema: object): Validator {
  const known = validators.get(schema) ?? Compile(closed(schema) as TSchema);
  validators.set(schema, known);
  return known;
}

/** A message has the properties of its schema and no others; what is left free may be anything. */
function closed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closed);
  if (typeof node !== 'object' || node === null) return node;
  const entries = Object.entries(node).map(([key, value]) => [key, closed(value)]);
  const isOpen = !('properties' in node) || 'additionalProperties' in node;
  return Object.fromEntries(isOpen ? entries : [...entries, ['additionalProperties', false]]);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

let ofSource: AnswerCheck | undefined;

/** Throws when an answer of the service is not what its reference says. */
export function requireDocumented(exchange: Exchange): void {
  ofSource ??= checkOfSource();
  const fault = ofSource(exchange);
  if (fault === undefined) return;
  const { method, path, status, text } = exchange;
  const where = `${method} ${path.slice(0, 200)} was answered ${status}`;
  throw new Error(`${where}, which is not as documented: ${fault}\n${text.slice(0, 400)}`);
}

function checkOfSource(): AnswerCheck {
  // The routes close over the services and ask nothing of them until a request comes.
  const services = {} as Services;
  const routes = { v1: v1Routes(services, 600), v2: v2Routes(services, 600) };
  const documents = versionDocuments({ version: '0.0.0', routes, services });
  return createAnswerCheck(documents, createV1Paths(routes.v1));
}
