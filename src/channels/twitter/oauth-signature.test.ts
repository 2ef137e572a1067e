import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signedAuthorization } from './twitter-channel.ts';

test('a request is signed as the example of RFC 5849 is', () => {
  const header = signedAuthorization({
    keys: {
      appKey: 'dpf43f3p2l4k3l03',
      appSecret: 'kd94hf93k423kf44',
      accessToken: 'nnch734d00sl2jdk',
      accessSecret: 'pfkkdhi9sl3r4s00',
    },
    method: 'GET',
    url: new URL('http://photos.example.net/photos?file=vacation.jpg&size=original'),
    nonce: 'chapoH',
    timestamp: 137131202,
  });
  assert.equal(
    header,
    'OAuth oauth_consumer_key="dpf43f3p2l4k3l03", oauth_token="nnch734d00sl2jdk", ' +
      'oauth_signature_method="HMAC-SHA1", oauth_timestamp="137131202", ' +
      'oauth_nonce="chapoH", oauth_signature="MdpQcU8iPSUjWoN%2FUDMsK2sui9I%3D"',
  );
});
