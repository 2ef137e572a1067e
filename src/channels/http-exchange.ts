import type { IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import { gatherBytes } from '../lib/gathered-bytes.ts';
import { isRecord } from '../lib/record.ts';
import { channelLimits } from './limits.ts';

/** A request; nothing is followed, inflated or tried twice. */
export interface HttpCall {
  readonly method: 'GET' | 'POST';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
}

/** The outcome of a request. `text` is empty when the answer was longer than what is read. */
export type HttpAnswer =
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly headers: IncomingMessage['headers'];
      readonly text: string;
      readonly isCut: boolean;
    }
  | { readonly kind: 'silence' }
  | { readonly kind: 'unreachable'; readonly code: string };

/** Makes a client with its own few connections; never throws for what the other side does. */
export function createHttpClient(
  options: {
    readonly lookup?: LookupFunction;
    readonly socketsMax?: number;
    /** Worth it where messages come thick; else a connection that died meanwhile costs a try. */
    readonly keepAlive?: boolean;
  } = {},
) {
  const settings = {
    keepAlive: options.keepAlive ?? false,
    maxSockets: options.socketsMax ?? channelLimits.parallelMax,
    maxFreeSockets: options.socketsMax ?? channelLimits.idleSocketsMax,
    timeout: channelLimits.idleSocketMs,
    ...(options.lookup !== undefined && { lookup: options.lookup }),
  };
  // By a call: an import statement reads all that the module exports, which loads the client
  // behind `fetch` as well, a fifteenth of the time that a start takes.
  const http = process.getBuiltinModule('node:http');
  const plain = new http.Agent(settings);
  const secure = new HttpsAgent(settings);

  return {
    call(call: HttpCall): Promise<HttpAnswer> {
      const isSecure = call.url.protocol === 'https:';
      return new Promise((resolve) => {
        const request = (isSecure ? requestHttps : http.request)(call.url, {
          method: call.method,
          headers: withLength(call),
          agent: isSecure ? secure : plain,
          signal: call.signal,
        });
        const failed = (error: Error) => resolve(failureOf(error, call.signal));
        request.on('error', failed);
        request.on('response', (response) => {
          readAnswer(response).then(resolve, failed);
        });
        request.end(call.body);
      });
    },
    close(): void {
      plain.destroy();
      secure.destroy();
    },
  };
}

/** An HTTP client that reads a bounded answer; `lookup` decides where names lead. */
export type HttpClient = ReturnType<typeof createHttpClient>;

function withLength({ headers, body }: HttpCall): Record<string, string> {
  const length = body === undefined ? {} : { 'content-length': `${Buffer.byteLength(body)}` };
  return { ...headers, 'accept-encoding': 'identity', ...length };
}

async function readAnswer(response: IncomingMessage): Promise<HttpAnswer> {
  const gathered = gatherBytes();
  let isCut = false;
  for await (const chunk of response) {
    // Without an encoding set, Node hands over buffers.
    const part = chunk as Buffer;
    if (gathered.length + part.length > channelLimits.answerBytesMax) {
      isCut = true;
      break;
    }
    gathered.add(part);
  }
  return {
    kind: 'answer',
    status: response.statusCode ?? 0,
    headers: response.headers,
    text: isCut ? '' : gathered.take().toString('utf8'),
    isCut,
  };
}

function failureOf(error: Error, signal: AbortSignal): HttpAnswer {
  if (signal.aborted) return { kind: 'silence' };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  return { kind: 'unreachable', code };
}

/** The answer as a JSON object; undefined when it is none. */
export function jsonObjectOf(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    // A provider that answers no JSON is treated by the caller as one that makes no sense.
    return undefined;
  }
}
