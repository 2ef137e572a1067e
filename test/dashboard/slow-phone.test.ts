import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { costOf, furnishForPhone, phoneScreens, quickPhone } from '../../scripts/slow-phone.ts';
import { browserTest, openStage, type Stage } from './browser.ts';

let stage: Stage;
before(async () => {
  stage = await openStage();
  await furnishForPhone(stage);
});
after(async () => {
  await stage[Symbol.asyncDispose]();
  assert.deepEqual(stage.faults, []);
});

/**
 * What may be on the line, in thousands of bytes: until a screen shows what it is for, and in all.
 * Times are measured elsewhere (`scripts/dashboard-speed.ts --phone`); these make them.
 */
const bounds: Readonly<Record<string, { readonly before: number; readonly all: number }>> = {
  '/': { before: 50, all: 80 },
  '/devices/station': { before: 128, all: 137 },
  '/map': { before: 150, all: 262 },
};
/** Of who comes back: answers, and nothing of the app. */
const knownBounds = { before: 25, all: 30 };
const shiftMax = 0.02;

for (const { name, ...screen } of phoneScreens) {
  browserTest(`with 500 devices a phone loads little, and nothing moves: ${name}`, async () => {
    const { bytesBefore, bytes, shift } = await costOf(stage, screen, quickPhone);
    const { before, all } =
      screen.isKnown === true ? knownBounds : (bounds[screen.path] ?? { before: 0, all: 0 });
    assert.ok(bytesBefore <= before * 1_000, `${bytesBefore} bytes before it shows`);
    assert.ok(bytes <= all * 1_000, `${bytes} bytes`);
    assert.ok(shift <= shiftMax, `moves by ${shift}`);
  });
}
