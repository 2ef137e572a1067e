import { invalid } from '../errors.ts';
import { limits } from '../limits.ts';

/** Refuses a password that is too weak to guard an account. */
export function requireStrongPassword(password: string): void {
  const { passwordCharactersMin: min, passwordCharactersMax: max } = limits;
  if (password.length < min || password.length > max) {
    throw invalid(`password must have ${min} to ${max} characters, got ${password.length}`);
  }
}
