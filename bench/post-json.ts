/** Posts JSON below /api/v2; answers the text. Throws on any answer that is no success. */
export async function postJson(
  url: string,
  path: string,
  token: string | undefined,
  json: unknown,
): Promise<string> {
  const response = await fetch(`${url}/api/v2${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(json),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path} was answered ${response.status}: ${text}`);
  return text;
}
