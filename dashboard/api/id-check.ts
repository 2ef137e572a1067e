import { dotPath, idCharacters } from '../../src/domain/id-text.ts';

/** What an id may be [contract 3]; the service checks it again. */
export const isId = (text: string): boolean =>
  text.length <= 256 && idCharacters.test(text) && !dotPath.test(text);

/** A username made from what people type: "Fatou Diop" gives fatou.diop. */
export const usernameFrom = (typed: string): string =>
  idFromName(typed).replaceAll('-', '.').toLowerCase();

/** An id made from a name: plain letters and digits, joined by hyphens. */
export function idFromName(name: string): string {
  return name
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/[^A-Za-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 60)
    .replace(/-+$/, '');
}
