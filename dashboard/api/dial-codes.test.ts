import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dialCodes, lacksDialCode, regionOf, withDialCode } from './dial-codes.ts';

test('a number without its country gets the code of the one that is chosen', () => {
  assert.equal(withDialCode('77 123 45 67', 'SN'), '+221 77 123 45 67');
  assert.equal(withDialCode('0712 345 678', 'KE'), '+254 712 345 678');
  assert.equal(withDialCode('07 12 34 56 78', 'CI'), '+225 07 12 34 56 78');
  assert.equal(withDialCode('254 712 345678', 'KE'), '+254 712 345678');
  assert.equal(
    withDialCode('+233 20 123 4567, 77 123 45 67', 'SN'),
    '+233 20 123 4567, +221 77 123 45 67',
  );
  assert.equal(withDialCode('00221771234567', 'KE'), '00221771234567');
});

test('a number lacks its country while it has neither plus nor two zeros', () => {
  assert.equal(lacksDialCode('77 123'), true);
  assert.equal(lacksDialCode('77'), false);
  assert.equal(lacksDialCode('+221 77 123 45 67'), false);
  assert.equal(lacksDialCode(''), false);
});

test('a browser says its region, or none: a guess could be saved without being seen', () => {
  assert.equal(regionOf(['sw', 'en-TZ']), 'TZ');
  assert.equal(regionOf(['fr']), undefined);
  assert.equal(regionOf(['zh-Hans-CN']), 'CN');
  assert.equal(regionOf(['de-u-co-phonebk', 'ca-valencia']), undefined);
  // As Chromium of Debian says it.
  assert.equal(regionOf(['C', 'en-ke@posix']), 'KE');
  assert.equal(withDialCode('77 123 45 67', ''), '77 123 45 67');
  for (const [region, code] of dialCodes)
    assert.match(`${region} ${code}`, /^[A-Z]{2} [1-9]\d{0,2}$/);
});
