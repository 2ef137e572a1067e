import type { NatsSetting } from '../domain/members/nats-setting.ts';
import type { Kind } from './config-kinds.ts';

const usualPort = '4222';

/** Where NATS is: one or several servers of a cluster, with the same user or token. */
export const natsUrl: Kind<NatsSetting> = {
  must:
    'the address of a NATS server, nats://user:password@host:4222 or tls://…; of several of one ' +
    'cluster, with commas between',
  parse(text) {
    const urls = text.split(',').map((part) => URL.parse(part.trim()));
    const [first] = urls;
    if (first === null || first === undefined) return undefined;
    const servers: string[] = [];
    for (const url of urls) {
      if (url === null || !isPlain(url) || url.protocol !== first.protocol) return undefined;
      servers.push(`${url.hostname}:${url.port || usualPort}`);
    }
    const user = wordOf(first.username);
    const pass = wordOf(first.password);
    if (user === undefined || pass === undefined) return undefined;
    const who = pass === '' ? { ...(user !== '' && { token: user }) } : { user, pass };
    return { servers, isTls: first.protocol === 'tls:', ...who };
  },
};

function isPlain({ protocol, hostname, pathname, search, hash }: URL): boolean {
  const isNats = protocol === 'nats:' || protocol === 'tls:';
  return isNats && hostname !== '' && /^\/?$/.test(pathname) && search === '' && hash === '';
}

function wordOf(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
