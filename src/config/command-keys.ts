/** Keys that the commands read from their environment; the service passes over them. */
export const commandKeys = {
  KIPIMO_PASSWORD: 'Password of the user named with --username, or of an account that is made.',
  KIPIMO_TOKEN: 'Token or access key, where neither --username nor --token is given.',
  KIPIMO_TO_PASSWORD: 'The same of the user named with --to-username, for `kipimo import cloud`.',
  KIPIMO_TO_TOKEN: 'Token or access key of the service copied into, for `kipimo import cloud`.',
} as const satisfies Readonly<Record<string, string>>;

/** The name of such a key. */
export type CommandKey = keyof typeof commandKeys;
