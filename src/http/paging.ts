import Type from 'typebox';

/** The parameters of a list that is read page by page. */
export const pageQuery = (limits: { readonly max: number; readonly usual: number }) => ({
  limit: Type.Optional(Type.Integer({ minimum: 0, maximum: limits.max, default: limits.usual })),
  offset: Type.Optional(Type.Integer({ minimum: 0, default: 0 })),
});

/** X-Total-Count and, where there are other pages, Link [RFC 8288] with relative references. */
export function pageHeaders(page: {
  readonly url: string;
  readonly total: number;
  readonly limit: number;
  readonly offset: number;
}): Readonly<Record<string, string>> {
  const { total, limit, offset } = page;
  const links: string[] = [];
  const add = (relation: string, target: number) => {
    links.push(`<${withPage(page.url, target, limit)}>; rel="${relation}"`);
  };
  if (limit > 0 && total > 0) {
    if (offset > 0) add('first', 0);
    if (offset > 0) add('prev', Math.max(0, offset - limit));
    if (offset + limit < total) add('next', offset + limit);
    if (offset + limit < total) add('last', Math.floor((total - 1) / limit) * limit);
  }
  const count = { 'x-total-count': String(total) };
  return links.length === 0 ? count : { ...count, link: links.join(', ') };
}

function withPage(url: string, offset: number, limit: number): string {
  const [path = '', query = ''] = url.split('?', 2);
  const parameters = new URLSearchParams(query);
  parameters.set('limit', String(limit));
  parameters.set('offset', String(offset));
  return `${path}?${parameters}`;
}
