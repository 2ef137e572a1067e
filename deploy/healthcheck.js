// Exits 0 when the service of this container says that it can store, else 1.
import { get as getOverHttp } from 'node:http';
import { get as getOverTls } from 'node:https';

const port = process.env.KIPIMO_HTTP_PORT || '8080';
const isTls = Boolean(process.env.KIPIMO_TLS_CERT);
const get = isTls ? getOverTls : getOverHttp;

// The certificate is not made out to 127.0.0.1, and nothing secret is sent.
const options = { timeout: 4_000, rejectUnauthorized: false };
get(`${isTls ? 'https' : 'http'}://127.0.0.1:${port}/readyz`, options, (answer) => {
  process.exit(answer.statusCode === 200 ? 0 : 1);
})
  .on('timeout', () => process.exit(1))
  .on('error', () => process.exit(1));
