/** The schemas of a document that have a name, each written once. */
export interface Components {
  /** The part of a document with references in place of the schemas that have a name. */
  named(part: object): object;
  /** By their names. */
  schemas(): Readonly<Record<string, unknown>>;
}

/** A schema's title is its name; `inWords` says it in the words of a version of the API. */
export function createComponents(inWords: (name: string) => string): Components {
  const schemas = new Map<string, unknown>();

  function named(node: unknown): unknown {
    if (Array.isArray(node)) return node.map(named);
    if (typeof node !== 'object' || node === null) return node;
    const { title, ...others } = node as Readonly<Record<string, unknown>>;
    const entries = Object.entries(others).map(([key, value]) => [key, named(value)]);
    const plain = Object.fromEntries(entries);
    if (typeof title !== 'string' || others['type'] !== 'object') {
      return title === undefined ? plain : { title, ...plain };
    }
    const name = title.replace(/[A-Z][a-z]+/g, inWords);
    // A version may answer more than it takes under one name: each schema has its own then.
    const known = schemas.get(name) ?? plain;
    schemas.set(name, known);
    if (JSON.stringify(known) !== JSON.stringify(plain)) return plain;
    return { $ref: `#/components/schemas/${name}` };
  }

  return { named: (part) => named(part) as object, schemas: () => Object.fromEntries(schemas) };
}
