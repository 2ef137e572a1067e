import type { TObject } from 'typebox';
import { DomainError } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';
import { defined, ifDefined, isRecord } from '../../lib/record.ts';
import type { Spelling } from '../../wire/spelling.ts';
import type { Answer } from '../answer.ts';
import { type BareBody, bareJson, type RouteBody } from '../body.ts';
import { EdgeError, reworded } from '../errors.ts';
import type { NestedMessage } from '../json-pieces.ts';
import type { Params, Route, RouteAnswer, RouteRequest } from '../route.ts';
import { keyToV1, pathToV1, refusalToV1, textToV1 } from './dictionary.ts';
import { type Renaming, renamingOf } from './renaming.ts';

/** The same route in the words of version 1: what it is, what it reads, answers and refuses. */
export function translateRoute(route: Route, spelling: Spelling): Route {
  const query = route.query === undefined ? undefined : renamingOf(route.query);
  const body = route.body === undefined ? undefined : renamingOf(route.body.schema);
  const answer = route.answer.content?.['application/json'];
  const answered = answer === undefined ? undefined : renamingOf(answer);
  const paramsToV2 = createParamsToV2(route.path);

  return defined({
    ...route,
    path: pathToV1(route.path),
    tag: textToV1(route.tag),
    summary: textToV1(route.summary),
    query: ifDefined(query, (query) => query.schema as TObject),
    ...(route.body !== undefined && body && { body: bodyDataToV1(route.body, body) }),
    answer: answerDataToV1(route.answer),
    handle: async (request: RouteRequest) => {
      try {
        const answer = await route.handle({
          ...request,
          params: paramsToV2(request.params),
          query: query === undefined ? undefined : query.toV2(request.query),
          body: bodyToV2(route.body?.kind, body, request.body),
          spelling,
        });
        return answered === undefined || answered.isPlain ? answer : answerToV1(answer, answered);
      } catch (reason) {
        throw reasonToV1(reason, request);
      }
    },
  });
}

function bodyDataToV1(body: RouteBody, { schema }: Renaming): RouteBody {
  const { documented } = body;
  const renamed = documented && { documented: renamingOf(documented).schema };
  return { ...body, schema, ...renamed };
}

function createParamsToV2(path: string): (params: Params) => Params {
  const names = [...path.matchAll(/:(\w+)/g)].map(
    ([, name = '']) => [name, keyToV1(name)] as const,
  );
  return (params) => {
    const renamed: Record<string, string> = {};
    for (const [name, nameInV1] of names) renamed[name] = params[nameInV1] ?? '';
    return renamed;
  };
}

/** A push and a stream are free of words, or spelled by hand; a bare value seldom has any. */
function bodyToV2(
  kind: RouteBody['kind'] | undefined,
  renaming: Renaming | undefined,
  body: unknown,
): unknown {
  if (renaming === undefined || renaming.isPlain) return body;
  if (kind === 'json' || kind === 'optional') return renaming.toV2(body);
  if (kind !== 'bare') return body;
  const bare = body as BareBody;
  const value = bareJson(bare);
  // A text stays as it was written, with or without quotes.
  if (typeof value === 'string') return bare;
  return { ...bare, text: JSON.stringify(renaming.toV2(value)) };
}

/** Spells an answer for version 1; text written by hand is spelled already. */
function answerToV1(answer: Answer, { toV1 }: Renaming): Answer {
  if (answer.kind === 'json') return { ...answer, message: toV1(answer.message) };
  if (answer.kind === 'nested') return { ...answer, ...nestedToV1(answer, toV1) };
  if (answer.kind === 'nested-list') {
    return { ...answer, elements: nestedElements(answer.elements, toV1) };
  }
  if (answer.kind === 'list') return { ...answer, steps: mapped(answer.steps, toV1) };
  return answer;
}

/** Spells a message for version 1; its nested lists are spelled already. */
function nestedToV1({ message, lists }: NestedMessage, toV1: Renaming['toV1']): NestedMessage {
  const renamed = [...lists].map(([key, pieces]) => [keyToV1(key), pieces] as const);
  return { message: toV1(message) as object, lists: new Map(renamed) };
}

async function* nestedElements(
  elements: AsyncIterable<NestedMessage>,
  toV1: Renaming['toV1'],
): AsyncGenerator<NestedMessage> {
  for await (const { message, lists } of elements) {
    // The schema is about the list.
    const [renamed] = toV1([message]) as readonly object[];
    yield { ...nestedToV1({ message, lists }, () => renamed), message: renamed ?? {} };
  }
}

async function* mapped(
  steps: AsyncIterable<readonly unknown[]>,
  toV1: Renaming['toV1'],
): AsyncGenerator<readonly unknown[]> {
  // A step is a part of the array that the schema is about.
  for await (const step of steps) yield toV1(step) as readonly unknown[];
}

function answerDataToV1(answer: RouteAnswer): RouteAnswer {
  const { description, content, alsoOk } = answer;
  if (alsoOk !== undefined) {
    // Everything is answered 200 here: one description for both.
    const both = `${description} ${alsoOk.description}`;
    const one = { status: answer.status, ...alsoOk, description: both, isOptional: true };
    return answerDataToV1(one);
  }
  if (content === undefined) return { ...answer, description: textToV1(description) };
  const renamed = Object.entries(content).map(([type, schema]) => [
    type,
    renamingOf(schema).schema,
  ]);
  return { ...answer, description: textToV1(description), content: Object.fromEntries(renamed) };
}

/** A refusal names things in the words of version 1; what the client sent stays as it was. */
function reasonToV1(reason: unknown, request: RouteRequest): unknown {
  if (!(reason instanceof DomainError || reason instanceof EdgeError)) return reason;
  const message = refusalToV1(reason.message, givenTexts(request));
  if (reason instanceof EdgeError) return new EdgeError(reason.code, message, reason.headers);
  return reworded(reason, message);
}

/** The texts in a request that a refusal may quote, the first ones of many. */
function givenTexts({ params, query, body }: RouteRequest): readonly string[] {
  const texts: string[] = [];
  const waiting: unknown[] = [params, query, body];
  for (let at = 0; at < waiting.length; at += 1) {
    const value = waiting[at];
    if (typeof value === 'string') {
      if (value !== '' && value.length <= limits.idCharactersMax) texts.push(value);
    } else if (Array.isArray(value) || isRecord(value)) {
      const room = Math.max(0, limits.quotedTextsMax - waiting.length);
      waiting.push(...Object.values(value).slice(0, room));
    }
  }
  return texts;
}
