import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const latestAnswer = Symbol('latestAnswer');
const answerBefore = Symbol('answerBefore');

/** A socket that remembers the answer to its latest request: this runs once for every request. */
interface WatchedSocket extends Socket {
  [latestAnswer]?: ServerResponse;
  [answerBefore]?: ServerResponse | undefined;
}

/** Remembers the answer to a request that has come; answers the one to the request before it. */
export function nextAnswer(socket: Socket, answer: ServerResponse): ServerResponse | undefined {
  const watched: WatchedSocket = socket;
  const last = watched[latestAnswer];
  watched[latestAnswer] = answer;
  watched[answerBefore] = last;
  return last;
}

/** The answer to the request whose body arrives on the socket now. */
export function answerUnderWay(socket: Socket): ServerResponse | undefined {
  return (socket as WatchedSocket)[latestAnswer];
}

/** The answer to the latest request that came whole. */
export function answerToWhole(socket: Socket): ServerResponse | undefined {
  const { [latestAnswer]: latest, [answerBefore]: before } = socket as WatchedSocket;
  return latest?.req.complete === true ? latest : before;
}
