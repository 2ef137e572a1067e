/** The document with every schema in the place of the references to it; none refers to itself. */
export function dereferenced(document: unknown): unknown {
  const schemas = (document as { components?: { schemas?: Readonly<Record<string, unknown>> } })
    .components?.schemas;

  function whole(node: unknown): unknown {
    if (Array.isArray(node)) return node.map(whole);
    if (typeof node !== 'object' || node === null) return node;
    const reference = Reflect.get(node, '$ref');
    if (typeof reference === 'string') return whole(schemas?.[reference.split('/').at(-1) ?? '']);
    return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, whole(value)]));
  }

  return whole(document);
}
