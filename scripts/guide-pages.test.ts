import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { buildGuides, render } from './guide-pages.ts';

const names = new Set(['mqtt', 'esp32']);

test('Markdown of our pages becomes HTML', () => {
  const cases: Readonly<Record<string, string>> = {
    '# A `b` & c': '<h1 id="a-b--c">A <code>b</code> &amp; c</h1>',
    'one\ntwo\n\n**three** *four* 2*3*4':
      '<p>one\ntwo</p><p><strong>three</strong> <em>four</em> 2*3*4</p>',
    '1. a\n\n   ```sh\n   x <y>\n     z\n   ```\n\n2. b:\n   - c\n   - d\n':
      '<ol><li><p>a</p><pre><code>x &lt;y&gt;\n  z</code></pre></li>' +
      '<li><p>b:</p><ul><li><p>c</p></li><li><p>d</p></li></ul></li></ol>',
    '| a | b |\n|---|---|\n| `x` | y \\| z |':
      '<div><table><tr><th>a</th><th>b</th></tr>' +
      '<tr><td><code>x</code></td><td>y | z</td></tr></table></div>',
    '<!-- not run: docker -->\n`**as it is**`': '<p><code>**as it is**</code></p>',
    '[m](../mqtt.md#limits) [e](esp32.md) [w](https://a.b/c) [s](../src/x.ts) [h](#x)':
      '<p><a href="/guides/mqtt#limits">m</a> <a href="/guides/esp32">e</a> ' +
      '<a href="https://a.b/c">w</a> s <a href="#x">h</a></p>',
    '<script>alert(1)</script>': '<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>',
  };
  for (const [markdown, html] of Object.entries(cases)) {
    assert.equal(render(markdown, names), html);
  }
});

test('the whole manual is built, nothing is left raw and no link leads nowhere', () => {
  const out = mkdtempSync(join(tmpdir(), 'kipimo-guides-'));
  buildGuides(out);
  const files = readdirSync(out).filter((name) => name.endsWith('.html'));
  const pages = new Map(
    files.map((file) => [file.slice(0, -5), readFileSync(join(out, file), 'utf8')]),
  );
  rmSync(out, { recursive: true });
  assert.ok(pages.size > 30);
  for (const [name, text] of pages) {
    assert.doesNotMatch(text.replace(/<(pre|code)>.*?<\/\1>/gs, ''), /\*\*|\]\(|```|^\|/m, name);
    for (const [, at = '', place] of text.matchAll(/href="\/guides\/([\w-]+)(?:#([^"]*))?"/g)) {
      const target = pages.get(at);
      assert.ok(target !== undefined, `${name}: ${at}`);
      if (place !== undefined) assert.ok(target.includes(`id="${place}"`), `${name}: ${place}`);
    }
  }
});
