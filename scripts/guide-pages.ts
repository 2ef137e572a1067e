import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';

const docs = resolve(import.meta.dirname, '..', 'docs');

/** Writes the manual as pages: a guide or page of docs is at /guides/NAME, the list at /guides/. */
export function buildGuides(out: string): void {
  mkdirSync(out, { recursive: true });
  const guides = globSync('guides/*.md', { cwd: docs });
  const manual = globSync('*.md', { cwd: docs }).sort();
  const names = new Set([...guides, ...manual].map(nameOf));
  const titles = manual.map((path) => `- [${titleOf(path)}](${basename(path)})`).join('\n');
  for (const path of [...guides, ...manual]) {
    const isList = nameOf(path) === 'README';
    const text = readFileSync(join(docs, path), 'utf8');
    const markdown = isList ? `${text}\n## The manual\n\n${titles}\n` : text;
    const file = isList ? 'index.html' : `${nameOf(path)}.html`;
    writeFileSync(join(out, file), pageOf(titleOf(path), render(markdown, names)));
  }
  writeFileSync(
    join(out, 'guides.css'),
    readFileSync(join(docs, '../dashboard/styles/guides.css')),
  );
}

const nameOf = (path: string): string => basename(path, '.md');

const titleOf = (path: string): string =>
  /^# (.*)$/m.exec(readFileSync(join(docs, path), 'utf8'))?.[1] ?? nameOf(path);

const pageOf = (title: string, body: string): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${escaped(title.replaceAll('`', ''))} · Kipimo</title>
    <link rel="stylesheet" href="/guides/guides.css">
  </head>
  <body>
    <nav><a href="/">Dashboard</a> <a href="/guides/">Guides</a> <a href="/docs">API</a></nav>
    <main>${body}</main>
  </body>
</html>
`;

/** HTML of the Markdown that our pages are written in; `names` are the pages that links lead to. */
export function render(markdown: string, names: ReadonlySet<string>): string {
  return blocksOf(markdown.replace(/<!--[\s\S]*?-->\n?/g, '').split('\n'), names);
}

const fence = /^```/;
const listItem = /^(-|\d+\.) +/;
const beginsBlock = (line: string): boolean =>
  line.trim() === '' || fence.test(line) || listItem.test(line) || /^(\||#{1,4} )/.test(line);

function blocksOf(lines: readonly string[], names: ReadonlySet<string>): string {
  let html = '';
  let at = 0;
  /** Takes lines from here on as long as they belong to the block. */
  const take = (belongs: (line: string) => boolean): string[] => {
    const from = at;
    do at += 1;
    while (at < lines.length && belongs(lines[at] ?? ''));
    return lines.slice(from, at);
  };
  while (at < lines.length) {
    const line = lines[at] ?? '';
    if (line.trim() === '') at += 1;
    else if (fence.test(line)) {
      const code = take((next) => !fence.test(next)).slice(1);
      at += 1;
      html += `<pre><code>${escaped(code.join('\n'))}</code></pre>`;
    } else if (line.startsWith('|')) {
      html += tableOf(
        take((next) => next.startsWith('|')),
        names,
      );
    } else if (/^#{1,4} /.test(line)) {
      const [mark = '', text = ''] = [line.split(' ', 1)[0], line.replace(/^#+ /, '')];
      const tag = `h${mark.length}`;
      html += `<${tag} id="${slugOf(text)}">${inline(text, names)}</${tag}>`;
      at += 1;
    } else if (listItem.test(line)) {
      const tag = line.startsWith('-') ? 'ul' : 'ol';
      const items = itemsOf(take((next) => /^( |$)/.test(next) || listItem.test(next)));
      const listed = items.map((item) => `<li>${blocksOf(item, names)}</li>`);
      html += `<${tag}>${listed.join('')}</${tag}>`;
    } else html += `<p>${inline(take((next) => !beginsBlock(next)).join('\n'), names)}</p>`;
  }
  return html;
}

/** The items of a list, each without its mark and indent. */
function itemsOf(lines: readonly string[]): readonly string[][] {
  const items: string[][] = [];
  let width = 0;
  for (const line of lines) {
    const mark = listItem.exec(line)?.[0];
    if (mark !== undefined) {
      width = mark.length;
      items.push([line.slice(width)]);
    } else items.at(-1)?.push(line.slice(Math.min(width, line.search(/\S|$/))));
  }
  return items;
}

function tableOf(lines: readonly string[], names: ReadonlySet<string>): string {
  const rows = lines
    .filter((line) => !/^\|[\s|:-]+\|$/.test(line) || !line.includes('-'))
    .map((line) => line.replace(/^\||\|\s*$/g, '').split(/(?<!\\)\|/));
  const cells = (row: readonly string[], tag: string) =>
    row
      .map((cell) => `<${tag}>${inline(cell.trim().replaceAll('\\|', '|'), names)}</${tag}>`)
      .join('');
  const [head = [], ...body] = rows;
  const bodyRows = body.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('');
  return `<div><table><tr>${cells(head, 'th')}</tr>${bodyRows}</table></div>`;
}

/** Text with code, links, bold and italics; what is between back-ticks is left as it is. */
function inline(text: string, names: ReadonlySet<string>): string {
  const codes: string[] = [];
  return escaped(text.replace(/`([^`]+)`/g, (_, code: string) => `\`${codes.push(code) - 1}\``))
    .replace(/\[((?:[^\][]|\[[^\]]*\])+)\]\(([^)\s]+)\)/g, (_, label: string, target: string) =>
      linkOf(label, target, names),
    )
    .replace(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>')
    .replace(/(^|[\s(])\*([^*\s][^*]*)\*/g, '$1<em>$2</em>')
    .replace(/`(\d+)`/g, (_, at: string) => `<code>${escaped(codes[Number(at)] ?? '')}</code>`);
}

/** A link to a page that is served here; what is in the repository alone stays its words. */
function linkOf(label: string, target: string, names: ReadonlySet<string>): string {
  if (/^(https?:|#)/.test(target)) return `<a href="${target}">${label}</a>`;
  const [, name = '', place = ''] = /([\w-]+)\.md(#.*)?$/.exec(target) ?? [];
  const isHere = names.has(name) && name !== 'README' && !target.includes('decisions/');
  return isHere ? `<a href="/guides/${name}${place}">${label}</a>` : label;
}

/** Anchors as the forge of the repository makes them of headings. */
const slugOf = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

const escaped = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
