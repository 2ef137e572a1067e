import { once } from 'node:events';
import { type Agent, request } from 'node:http';
import { requireDocumented } from '../answer-check.ts';

/** A request with exactly these headers beside Host, Connection and the length of the body. */
export interface PlainRequest {
  readonly url: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Sends the body in pieces of unknown length, as clients do that encode while they send. */
  readonly isChunked?: boolean;
  readonly agent?: Agent;
}

export interface PlainReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** Sends no Accept and nothing else that was not asked for, which fetch cannot. */
export async function plainRequest(options: PlainRequest): Promise<PlainReply> {
  const { url, method = 'GET', headers = {}, body, isChunked = false, agent } = options;
  const sending = request(url, {
    method,
    headers: {
      ...headers,
      ...(body !== undefined && !isChunked && { 'Content-Length': Buffer.byteLength(body) }),
      ...(body !== undefined && isChunked && { 'Transfer-Encoding': 'chunked' }),
    },
    ...(agent !== undefined && { agent }),
  });
  sending.end(body);
  const [response] = await once(sending, 'response');
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString('utf8');
  const { statusCode: status, headers: answered } = response;
  const [path, contentType = null] = [
    url.slice(new URL(url).origin.length),
    answered['content-type'],
  ];
  if (answered['content-encoding'] === undefined) {
    requireDocumented({ method, path, status, contentType, text });
  }
  return { status, headers: answered, text };
}
