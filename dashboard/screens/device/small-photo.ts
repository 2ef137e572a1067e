import { photoCharactersMax } from '../../api/device-notes.ts';

/** The longer side, and how much is lost; smaller until it fits beside the rest of `meta`. */
const attempts = [
  [640, 0.7],
  [480, 0.6],
  [360, 0.5],
  [240, 0.5],
] as const;

/** A picture small enough to be kept with its device. Throws when it is none. */
export async function smallPhoto(file: Blob): Promise<string | undefined> {
  const picture = await createImageBitmap(file);
  for (const [sidePx, quality] of attempts) {
    const scale = Math.min(1, sidePx / Math.max(picture.width, picture.height));
    const canvas = document.createElement('canvas');
    canvas.width = Math.max(1, Math.round(picture.width * scale));
    canvas.height = Math.max(1, Math.round(picture.height * scale));
    canvas.getContext('2d')?.drawImage(picture, 0, 0, canvas.width, canvas.height);
    const address = canvas.toDataURL('image/jpeg', quality);
    if (address.length <= photoCharactersMax) return address;
  }
  return undefined;
}
