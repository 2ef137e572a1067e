import { createHash } from 'node:crypto';

/** A place in a list that grows everywhere: behind so many of the items of one time. */
export interface Place {
  readonly time: number;
  readonly count: number;
}

/** The place as an opaque text, which stands for it in the list of `subject` alone. */
export function writeCursor({ time, count }: Place, subject: string): string {
  const said = `${time}.${count}`;
  const mark = createHash('sha256').update(`${subject}\n${said}`).digest('base64url').slice(0, 8);
  return Buffer.from(`${said}.${mark}`).toString('base64url');
}

/** The place that writeCursor wrote; undefined for any other text. */
export function readCursor(text: string, subject: string): Place | undefined {
  const [, time, count] =
    /^(-?\d{1,16})\.(\d{1,16})\.[\w-]{8}$/.exec(Buffer.from(text, 'base64url').toString()) ?? [];
  const place = { time: Number(time), count: Number(count) };
  return writeCursor(place, subject) === text ? place : undefined;
}
