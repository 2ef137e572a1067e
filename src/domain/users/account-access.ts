import { requireAccount } from '../access/policy.ts';
import type { Actor, Person } from '../actor.ts';
import { forbidden, notFound } from '../errors.ts';
import type { UserId } from '../ids.ts';
import type { User, UserStore } from './user.ts';

/** The person asking; a guest is refused with advice to log in, a key is refused. */
export function requirePerson(actor: Actor): Person {
  if (actor.kind === 'guest') throw forbidden('log in first: this needs a token');
  requireAccount(actor);
  return actor;
}

/** The account of the person asking, as it is now. */
export async function requireOwnAccount(
  users: Pick<UserStore, 'find'>,
  actor: Actor,
): Promise<User> {
  const user = await users.find(requirePerson(actor).userId);
  if (user === undefined) throw notFound('your account ended meanwhile');
  return user;
}

/** The person asking, who must be an admin. */
export function requireAdmin(actor: Actor): Person {
  const person = requirePerson(actor);
  if (person.kind !== 'admin') throw forbidden('only an admin may do this');
  return person;
}

/** The person asking, who must be this user or an admin. */
export function requireSelfOrAdmin(actor: Actor, userId: UserId): Person {
  const person = requirePerson(actor);
  if (person.kind === 'admin' || person.userId === userId) return person;
  throw forbidden('only this user or an admin may do this');
}
