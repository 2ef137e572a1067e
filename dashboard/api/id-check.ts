import { dotPath, idCharacters } from '../../src/domain/id-text.ts';

/** What an id may be [contract 3]; the service checks it again. */
export const isId = (text: string): boolean =>
  text.length <= 256 && idCharacters.test(text) && !dotPath.test(text);

/** A username made from what people type: "Fatou Diop" gives fatou.diop. */
export const usernameFrom = (typed: string): string =>
  plainPart(typed).replaceAll('-', '.').toLowerCase();

/**
 * An id made from a name: plain letters and digits, joined by hyphens. A name in other letters, or
 * of pictures, leaves nothing to read: the same name gives the same few letters.
 */
export function idFromName(name: string): string {
  const plain = plainPart(name);
  if (/[a-z]/i.test(plain) || !/[\p{L}\p{S}]/u.test(name)) return plain;
  const sum = Array.from(name.trim()).reduce(
    (before, letter) => (before * 31 + (letter.codePointAt(0) ?? 0)) % 0x7fff_ffff,
    7,
  );
  return `${plain || 'id'}-${sum.toString(36)}`;
}

function plainPart(name: string): string {
  return name
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/[^A-Za-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 60)
    .replace(/-+$/, '');
}
