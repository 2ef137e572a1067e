/** What an id may be [contract 3]; the service checks it again. */
const idPattern = /^[!-~]{1,256}$/;
const forbidden = /[&?/#+<>"'=;()%\\]/;

export function isId(text: string): boolean {
  return idPattern.test(text) && !forbidden.test(text);
}

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
