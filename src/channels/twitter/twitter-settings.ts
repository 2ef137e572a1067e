import { baseOf, needed, ProviderUrlError, readProviderUrl, schemeOf } from '../provider-url.ts';

/** An app at X, and the account in whose name it writes. */
export interface TwitterSettings {
  readonly provider: 'x';
  readonly appKey: string;
  readonly appSecret: string;
  readonly accessToken: string;
  readonly accessSecret: string;
  readonly base: URL;
}

const example = 'x://APP_KEY:APP_SECRET@api.x.com?access_token=TOKEN&access_secret=SECRET';

/** Reads KIPIMO_TWITTER_URL; throws ProviderUrlError. */
export function readTwitterUrl(text: string): TwitterSettings {
  const scheme = schemeOf(text);
  if (scheme !== 'x' && scheme !== 'twitter') throw new ProviderUrlError('a URL: x://… or log:');
  const url = readProviderUrl(text, ['access_token', 'access_secret', 'base']);
  const { access_token: accessToken, access_secret: accessSecret } = url.parameters;
  return {
    provider: 'x',
    appKey: needed(url.username, 'the API key before the @', example),
    appSecret: needed(url.password, 'the API key secret before the @', example),
    accessToken: needed(accessToken, 'access_token=', example),
    accessSecret: needed(accessSecret, 'access_secret=', example),
    base: baseOf(url, 'api.x.com'),
  };
}
