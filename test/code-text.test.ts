import assert from 'node:assert/strict';
import { test } from 'node:test';
import { functionsOf, importsOf, readCode } from './code-text.ts';

test('comments are blank and texts stay, length and lines unchanged', () => {
  const text = `a /* b\n 'c' */ 'd // e' // f\n\`g \${'}'} /* h */\` / 2 / 3 // i\n`;
  const { withoutComments, bare } = readCode(text);
  assert.equal(withoutComments.length, text.length);
  assert.equal(withoutComments.split('\n').length, text.split('\n').length);
  const kept = `a 'd // e' \`g \${'}'} /* h */\` / 2 / 3 `;
  assert.equal(withoutComments.replace(/\s+/g, ' '), kept);
  assert.equal(bare.replace(/\s+/g, ' '), "a ' ' ' ' / 2 / 3 ");
});

test('a regular expression with quotes and slashes does not open a text', () => {
  const { bare } = readCode(`x = /['"/]\\//.test(y) ? a / b : 'c'; return /'/; f(\`\${{}.a}\`);`);
  assert.match(
    bare,
    /^x = \/ {7}\/\.test\(y\) \? a \/ b : ' '; return \/ \/; f\( {3}\{\}\.a {2}\);$/,
  );
});

test('static, type-only, re-exporting, bare and dynamic imports are all found', () => {
  const text = `
    import a from 'one';
    import type { B } from "two";
    import {
      c,
    } from './three.ts';
    import 'four';
    export * from 'five';
    export { d } from 'six';
    const e = await import('seven');
    type F = import('eight').F;
    // import 'no';
    /* from 'no' */
    const g = "import 'no'";
    const h = Buffer.from('no');
  `;
  const [statics, types, lazy] = [
    ['one', './three.ts', 'four', 'five', 'six'],
    ['two'],
    ['seven', 'eight'],
  ];
  const found = importsOf(text);
  const named = (kind: string) => found.filter((one) => one.kind === kind).map(({ name }) => name);
  assert.deepEqual([named('static'), named('type'), named('lazy')], [statics, types, lazy]);
});

test('functions, methods and arrows are measured, control blocks are not functions', () => {
  const text = [
    'function f(a: { b: string }): Promise<{ c: number }> {', // 1
    '  if (a) {',
    '    g();',
    '  }',
    '  return list.map((x: string): { y: string } => {', // 5
    "    const z = '}';",
    '    return { y: x };',
    '  });',
    '}',
    'const o = {',
    '  m(): void {', // 11
    '    for (;;) {',
    '    }',
    '  },',
    '};',
  ].join('\n');
  assert.deepEqual(
    [...functionsOf(text)].sort((left, right) => left.line - right.line),
    [
      { line: 1, kind: 'function', lines: 7, total: 9 },
      { line: 5, kind: 'function', lines: 4, total: 4 },
      { line: 11, kind: 'function', lines: 4, total: 4 },
    ],
  );
});

test('a class is measured with its methods, and a component with what it draws', () => {
  const methods = 'class A extends B<C> implements D {\n  #a = 1;\n  m() {\n    n();\n  }\n}\n';
  assert.deepEqual(
    functionsOf(methods).map(({ kind, total }) => `${kind} ${total}`),
    ['function 3', 'class 6'],
  );
  const component = [
    'export function Row({ name }: { readonly name: string }): Child | null {',
    '  const on = useCallback((): void => {',
    '    f(/[{]/);',
    '  }, []);',
    '  return (',
    '    <li onClick={on}>',
    '      <b>{name} / {t("{")}</b> <br />',
    '    </li>',
    '  );',
    '}',
  ].join('\n');
  assert.deepEqual(
    functionsOf(component, true).map(({ line, lines, total }) => [line, lines, total]),
    [
      [2, 3, 3],
      [1, 9, 10],
    ],
  );
});
