/** Printable ASCII without white space and & ? / # + < > " ' = ; ( ) % \ [contract 3]. */
export const hasIdCharacters = (text: string): boolean =>
  /^[!$*,\-.0-9:@A-Z[\]^_`a-z{|}~]+$/.test(text);

/** Whether clients take this segment out of a path before they send it [RFC 3986, 5.2.4]. */
export const isDotPath = (text: string): boolean => text === '.' || text === '..';
