/** Printable ASCII without white space and & ? / # + < > " ' = ; ( ) % \ [contract 3]. */
export const idCharacters = /^[!$*,\-.0-9:@A-Z[\]^_`a-z{|}~]+$/;
/** Segments that clients take out of a path before they send it [RFC 3986, 5.2.4]. */
export const dotPath = /^\.{1,2}$/;
