/** Ids longer than this are not compared letter by letter. */
const comparedMax = 64;

/**
 * Whether a sender that meant `id` may have written `written`: the same but for case and signs, or
 * up to two letters that are missing, too many or wrong; one where the id is short.
 */
export function isNear(written: string, id: string): boolean {
  const [one, other] = [plain(written), plain(id)];
  if (one === other) return true;
  if (Math.max(one.length, other.length) > comparedMax) return false;
  const allowed = other.length < 5 ? 1 : 2;
  return Math.abs(one.length - other.length) <= allowed && distance(one, other) <= allowed;
}

const plain = (id: string): string => id.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');

/** Edits from one text to the other; two letters that changed places count as one. */
function distance(one: string, other: string): number {
  let [before, row] = [[] as number[], Array.from({ length: other.length + 1 }, (_, n) => n)];
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const isSame = one[i - 1] === other[j - 1];
      const edits = Math.min(
        (row[j] ?? 0) + 1,
        (next[j - 1] ?? 0) + 1,
        (row[j - 1] ?? 0) + (isSame ? 0 : 1),
      );
      const isSwapped =
        i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      next.push(isSwapped ? Math.min(edits, (before[j - 2] ?? 0) + 1) : edits);
    }
    [before, row] = [row, next];
  }
  return row[other.length] ?? 0;
}
