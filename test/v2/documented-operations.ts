import assert from 'node:assert/strict';
import { dereferenced } from '../dereferenced.ts';
import type { Service } from '../service.ts';

/** What the reference says of a value; only what the tests of bad input look at. */
export interface ValueSchema {
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, ValueSchema>>;
  readonly items?: ValueSchema;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly schema: ValueSchema;
}

/** One method of one path. */
export interface Operation {
  /** For instance POST /devices. */
  readonly name: string;
  readonly method: string;
  /** With {parameters}, below /api/v2. */
  readonly path: string;
  readonly query: readonly Parameter[];
  /** A message is JSON only; a bare value may come as text too; a stream has elements or lines. */
  readonly body?: { readonly kind: 'message' | 'bare' | 'stream'; readonly schema: ValueSchema };
}

interface Content {
  readonly [type: string]: { readonly schema: ValueSchema };
}

interface DocumentedOperation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
}

interface ReferenceDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
}

/** Every operation of version 2, as the service itself documents them. */
export async function operationsOf(service: Service): Promise<readonly Operation[]> {
  const reply = await service.call({ path: '//docs/v2.json' });
  const { paths } = dereferenced(reply.json) as ReferenceDocument;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, documented]) => operation(path, method, documented)),
  );
  assert.ok(operations.length > 40, 'the reference must name the operations');
  return operations;
}

function operation(path: string, word: string, documented: DocumentedOperation): Operation {
  const method = word.toUpperCase();
  const query = (documented.parameters ?? []).filter((parameter) => parameter.in === 'query');
  const base = { name: `${method} ${path}`, method, path, query };
  const { required = false, content } = documented.requestBody ?? {};
  // A body that need not be there is never refused.
  if (!required || content === undefined) return base;
  const schema = content['application/json']?.schema ?? {};
  return { ...base, body: { kind: kindOf(content), schema } };
}

function kindOf(content: Content): 'message' | 'bare' | 'stream' {
  if (content['application/x-ndjson'] !== undefined) return 'stream';
  if (content['application/json'] === undefined) return 'stream';
  return content['text/plain'] === undefined ? 'message' : 'bare';
}

/** The path with every parameter replaced by the value of that name. */
export function filled(path: string, values: Readonly<Record<string, string>>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    assert.ok(value !== undefined, `the tests of bad input need a value for {${name}}`);
    return value;
  });
}
