import { writeJson } from '../lib/long-json.ts';
/** A JSON object whose lists are written while they are read, after its other fields. */
export interface NestedMessage<Message = unknown> {
  readonly message: Message;
  /** By key: the elements as JSON text with commas between them, in pieces. */
  readonly lists: ReadonlyMap<string, AsyncIterable<string>>;
}

/** A JSON array of messages that are found step by step. */
export async function* jsonArray(steps: AsyncIterable<readonly unknown[]>): AsyncIterable<string> {
  let separator = '[';
  for await (const step of steps) {
    if (step.length === 0) continue;
    yield separator + step.map((message) => writeJson(message)).join(',');
    separator = ',';
  }
  yield separator === '[' ? '[]' : ']';
}

/** A JSON array of objects whose lists are written while they are read. */
export async function* nestedArray(elements: AsyncIterable<NestedMessage>): AsyncIterable<string> {
  let separator = '[';
  for await (const element of elements) {
    yield separator;
    yield* nestedObject(element);
    separator = ',';
  }
  yield separator === '[' ? '[]' : ']';
}

/** A JSON object with nested lists, which stand behind its other fields. */
export async function* nestedObject({ message, lists }: NestedMessage): AsyncIterable<string> {
  let text = writeJson(message).slice(0, -1);
  for (const [key, pieces] of lists) {
    yield `${text}${text === '{' ? '' : ','}${JSON.stringify(key)}:[`;
    yield* pieces;
    text = ']';
  }
  yield `${text}}`;
}
