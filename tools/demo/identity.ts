import { type ApiClient, refusal, textField } from '../client/api-client.ts';
import { generatePassword } from '../password-options.ts';

/** As whom the demo acts. */
export type Account =
  | { readonly kind: 'guest' }
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'user'; readonly username: string; readonly password: string }
  /** The user "demo", made when absent; the password is made up when none is given. */
  | { readonly kind: 'demo'; readonly password?: string };

const demoUsername = 'demo';

/** Logs in, with a new account where that is what was asked; answers the username or guest. */
export async function identify(
  client: ApiClient,
  account: Account,
  print: (line: string) => void,
): Promise<string> {
  switch (account.kind) {
    case 'guest':
      return 'guest';
    case 'token': {
      client.authorize(account.token);
      const { json } = await client.need({ method: 'GET', path: '/users/me' }, 200);
      return textField(json, 'username') ?? 'guest';
    }
    case 'user':
      await client.logIn(account.username, account.password);
      return account.username;
    case 'demo':
      await becomeDemo(client, account.password, print);
      return demoUsername;
  }
}

async function becomeDemo(
  client: ApiClient,
  given: string | undefined,
  print: (line: string) => void,
): Promise<void> {
  const password = given ?? generatePassword();
  const outcome = await signUp(client, { username: demoUsername, password });
  if (outcome === 'closed' && given === undefined) {
    throw new Error('this service takes no new accounts: give --username, --token, or --guest');
  }
  if (outcome === 'taken' && given === undefined) {
    throw new Error(
      `the user ${demoUsername} exists already: give its --password, or --username and ` +
        '--password-file of another account, or --guest',
    );
  }
  if (outcome === 'made' && given === undefined) {
    print(createdSentence(demoUsername, password));
  }
  await client.logIn(demoUsername, password);
}

const createdSentence = (username: string, password: string): string =>
  `Created user "${username}" with password ${password} (write it down, it is not shown again).`;

/**
 * A second user to share with; undefined where none can be made. Its password, made up and shown
 * once, is for trying what sharing looks like from the other side.
 */
export async function ensureFriend(
  client: ApiClient,
  owner: string,
  print: (line: string) => void,
): Promise<string | undefined> {
  const username = `${owner}-friend`;
  const path = `/users?username=${encodeURIComponent(username)}`;
  const { json } = await client.need({ method: 'GET', path }, 200);
  if (Array.isArray(json) && json.some((user) => textField(user, 'username') === username)) {
    return username;
  }
  const password = generatePassword();
  const outcome = await signUp(client, { username, password });
  if (outcome === 'made') {
    print(createdSentence(username, password));
    return username;
  }
  print('No second user could be made, so nothing is shared.');
  return undefined;
}

async function signUp(
  client: ApiClient,
  account: { readonly username: string; readonly password: string },
): Promise<'made' | 'taken' | 'closed'> {
  const request = { method: 'POST', path: '/users', json: account, isAnonymous: true } as const;
  const answer = await client.call(request);
  switch (answer.status) {
    case 200:
      return 'made';
    case 422:
      return 'taken';
    case 403:
      return 'closed';
    default:
      throw refusal(request, answer);
  }
}
