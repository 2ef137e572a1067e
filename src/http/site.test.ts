import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { createClients } from './authentication.ts';
import { createSite } from './site.ts';

const clients = createClients(() => false);
const requestOf = (origin: string, isEncrypted: boolean) => ({
  headers: { origin, host: 'pond.example' },
  socket: Object.assign(new Socket(), { encrypted: isEncrypted }),
});

test('over HTTPS a page of the same host without it is of another service', () => {
  const site = createSite({ clients });
  assert.equal(site.isOwnPage(requestOf('http://pond.example', true)), false);
  assert.equal(site.isForeignPage(requestOf('http://pond.example', true)), true);
  assert.equal(site.isOwnPage(requestOf('https://pond.example', true)), true);
  assert.equal(site.isOwnPage(requestOf('https://pond.example:444', true)), false);
  assert.equal(site.isOwnPage(requestOf('http://pond.example', false)), true);
  // A proxy that is not trusted may have taken HTTPS off.
  assert.equal(site.isOwnPage(requestOf('https://pond.example', false)), true);
});

test('cookies are secure where the public address is, whatever the connection', () => {
  const request = requestOf('https://pond.example', false);
  const siteOf = (publicUrl: string) => createSite({ clients, publicUrl });
  assert.equal(siteOf('https://pond.example').isSecure(request), true);
  assert.equal(siteOf('http://pond.example').isSecure(request), false);
  assert.equal(createSite({ clients }).isSecure(request), false);
});
