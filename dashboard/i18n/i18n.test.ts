import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { draftSections, type MessageTable } from './dictionary.ts';
import { dictionary as en } from './en/dictionary.ts';
import { dictionary as fr } from './fr/dictionary.ts';
import { firstLanguage, language, showLanguage, t } from './i18n.ts';
import { chooseLanguage, languages } from './languages.ts';
import { formatRate } from './later-formats.ts';
import { blanksOf, createGrammar, fillMessage } from './messages.ts';
import { dictionary as pt } from './pt/dictionary.ts';
import { dictionary as sw } from './sw/dictionary.ts';

const english: MessageTable = en;
// A draft section may lack texts, never hold other ones.
const others = { fr, sw, pt } as unknown as Readonly<Record<string, MessageTable>>;
const drafts: ReadonlySet<string> = new Set(draftSections);

afterEach(() => showLanguage('en'));

for (const [name, table] of Object.entries(others)) {
  test(`${name} has every text of English, with the same blanks`, () => {
    for (const [section, texts] of Object.entries(english)) {
      if (drafts.has(section)) continue;
      assert.deepEqual(
        Object.keys(table[section] ?? {}).sort(),
        Object.keys(texts).sort(),
        `section ${section}`,
      );
      for (const [key, message] of Object.entries(texts)) {
        const translated = table[section]?.[key] ?? '';
        assert.deepEqual(blanksOf(translated), blanksOf(message), `${section}.${key}`);
      }
    }
  });

  test(`${name} has a plural text for each category of its numbers, or a general one`, () => {
    const { plurals } = createGrammar(name);
    for (const texts of Object.values(table)) {
      for (const message of Object.values(texts)) {
        if (typeof message === 'string') continue;
        const used = new Set([0, 1, 2, 3, 5, 11, 21, 100].map((n) => plurals.select(n)));
        for (const category of used) {
          const text = message[category] ?? message.other;
          assert.ok(text.length > 0);
        }
      }
    }
  });
}

test('no text is empty or has markup', () => {
  for (const table of [english, ...Object.values(others)]) {
    for (const message of Object.values(table).flatMap((texts) => Object.values(texts))) {
      const texts: readonly string[] =
        typeof message === 'string' ? [message] : Object.values(message);
      for (const text of texts) {
        assert.notEqual(text.trim(), '');
        assert.doesNotMatch(text, /<\w/);
      }
    }
  }
});

test('a number chooses the form and is written in the way of the language', () => {
  const message = { one: '{count} day', other: '{count} days' };
  const grammar = createGrammar('en');
  assert.equal(fillMessage(message, grammar, { count: 1 }), '1\u00a0day');
  assert.equal(fillMessage(message, grammar, { count: 0 }), '0\u00a0days');
  assert.equal(fillMessage(message, grammar, { count: 12345 }), '12,345\u00a0days');
  const french = createGrammar('fr');
  assert.equal(fillMessage({ one: 'un', other: 'plusieurs' }, french, { count: 0 }), 'un');
  assert.equal(fillMessage({ ...message, zero: 'no day' }, grammar, { count: 0 }), 'no day');
});

test('no line ends between a number and its noun, nor beside a mark of French', async () => {
  const said = async (wanted: (typeof languages)[number]) => {
    await showLanguage(wanted);
    return [t('common.devices', { count: 0 }), t('common.pair', { name: 'a', value: 'b' })];
  };
  assert.deepEqual(await said('en'), ['0\u00a0devices', 'a: b']);
  assert.deepEqual(await said('fr'), ['0\u00a0appareil', 'a\u00a0: b']);
  assert.deepEqual(await said('sw'), ['vifaa\u00a00', 'a: b']);
  assert.deepEqual(await said('pt'), ['0\u00a0dispositivos', 'a: b']);
  await showLanguage('fr');
  assert.equal(
    t('alerts.firstMessage', { message: 'x' }),
    'Le premier message\u00a0: «\u00a0x\u00a0»',
  );
  assert.equal(t('welcome.forgottenAsk'), 'Mot de passe oublié\u00a0?');
});

test('a moment ago is said by the grammar of Swahili', async () => {
  await showLanguage('sw');
  assert.equal(t('age.minutes', { count: 1 }), 'dakika 1 iliyopita');
  assert.equal(t('age.minutes', { count: 2 }), 'dakika 2 zilizopita');
});

test('a blank without a parameter stays, and parameters are never read as blanks', () => {
  const grammar = createGrammar('en');
  assert.equal(fillMessage('{a} and {b}', grammar, { a: '{b}' }), '{b} and {b}');
  assert.equal(fillMessage('{toString}', grammar, {}), '{toString}');
});

test('texts follow the language that is shown', async () => {
  assert.equal(t('common.retry'), 'Try again');
  for (const wanted of languages) {
    await showLanguage(wanted);
    assert.equal(language.value, wanted);
    assert.notEqual(t('common.retry'), 'common.retry');
  }
  await Promise.all([showLanguage('fr'), showLanguage('sw')]);
  assert.equal(language.value, 'sw', 'the language chosen last wins');
});

test('the language is the one chosen, else the first of the browser that there is', () => {
  assert.equal(chooseLanguage(['fr']), 'fr');
  assert.equal(chooseLanguage([null, 'de-DE', 'pt-BR', 'fr']), 'pt');
  assert.equal(chooseLanguage(['SW_ke']), 'sw');
  assert.equal(chooseLanguage(['de', undefined]), 'en');
  assert.equal(firstLanguage('sw'), 'sw');
});

test('how often is said by the grammar of each language', async () => {
  const hour = 3_600_000;
  const said = async (wanted: (typeof languages)[number]) => {
    await showLanguage(wanted);
    return [hour, 2 * hour, 24 * hour, 48 * hour].map((ms) => formatRate(ms, t));
  };
  assert.deepEqual(await said('en'), [
    ...['once an hour', 'once every 2 hours', 'once a day', 'once every 2 days'],
  ]);
  assert.deepEqual(await said('fr'), [
    ...['une fois par heure', 'toutes les 2 heures'],
    ...['une fois par jour', 'tous les 2 jours'],
  ]);
  assert.deepEqual(await said('sw'), [
    ...['mara moja kwa saa', 'mara moja kila saa 2', 'mara moja kwa siku', 'mara moja kila siku 2'],
  ]);
  assert.deepEqual(await said('pt'), [
    ...['uma vez por hora', 'a cada 2 horas', 'uma vez por dia', 'a cada 2 dias'],
  ]);
});

test('what one may do oneself is said to the reader, not of a third person', async () => {
  for (const [wanted, sentence] of [
    ['en', 'You can look, but cannot delete.'],
    ['fr', 'Vous pouvez look, mais vous ne pouvez pas delete.'],
    ['sw', 'Unaweza look, lakini huwezi delete.'],
    ['pt', 'Pode look, mas não pode delete.'],
  ] as const) {
    await showLanguage(wanted);
    assert.equal(t('sharing.mineNot', { rights: 'look', others: 'delete' }), sentence);
  }
});
