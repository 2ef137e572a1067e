const parts = /^([a-z]+:\/\/)([^/?#]*)(.*)$/is;

/** The servers of a URL with commas between its hosts, each in a URL of its own. */
export function serverUrls(text: string): readonly string[] {
  const [, scheme = '', authority = '', rest = ''] = parts.exec(text) ?? [];
  const user = authority.slice(0, authority.lastIndexOf('@') + 1);
  const hosts = authority.slice(user.length).split(',');
  return hosts.map((host) => `${scheme}${user}${host}${rest}`);
}
