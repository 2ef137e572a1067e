const mailAddress = /^[^\s\p{Cc}@<>(),;:"\\[\]]{1,64}@[^\s\p{Cc}@<>(),;:"\\[\]]+$/u;

/** Whether it is a plain address: no list, no name, no comment, nothing that ends a header. */
export function isMailAddress(text: string): boolean {
  return text.length <= 254 && mailAddress.test(text);
}
