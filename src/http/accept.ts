/** Whether Accept names application/json ahead of text; a wildcard names nothing [contract 2]. */
export function prefersJson(accept: string | undefined): boolean {
  const ranges = acceptedRanges(accept);
  const jsonWeight = weightOf(ranges, ['application/json']);
  const textWeight = weightOf(ranges, ['text/plain', 'text/*']);
  if (jsonWeight === undefined) return false;
  if (textWeight === undefined) return true;
  return jsonWeight.quality > textWeight.quality
    ? true
    : jsonWeight.quality === textWeight.quality && jsonWeight.place < textWeight.place;
}

/** Whether Accept names text/csv. */
export function prefersCsv(accept: string | undefined): boolean {
  return weightOf(acceptedRanges(accept), ['text/csv']) !== undefined;
}

interface Range {
  readonly type: string;
  readonly quality: number;
  readonly place: number;
}

function acceptedRanges(accept: string | undefined): readonly Range[] {
  if (accept === undefined) return [];
  return accept.split(',', 64).map((range, place) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    return { type, quality: quality === undefined ? 1 : Number(quality) || 0, place };
  });
}

function weightOf(ranges: readonly Range[], types: readonly string[]): Range | undefined {
  return ranges
    .filter(({ type, quality }) => types.includes(type) && quality > 0)
    .toSorted((a, b) => b.quality - a.quality || a.place - b.place)[0];
}
