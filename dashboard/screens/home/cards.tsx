import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Device } from '../../api/types.ts';
import { DeviceCard } from './device-card.tsx';

/** Devices with their last values, a card each. */
export function Cards({
  devices,
  concerns,
}: {
  readonly devices: readonly Device[];
  readonly concerns?: ReadonlyMap<string, string>;
}): JSX.Element {
  const shown = useFirstFew(devices);
  return (
    <ul class="cards">
      {shown.map((device) => (
        <li key={device.id}>
          <DeviceCard device={device} concern={concerns?.get(device.id)} />
        </li>
      ))}
    </ul>
  );
}

/** No card takes less of the window, in square pixels. */
const cardArea = 50_000;
/** As many cards as the window shows; what is below is drawn right after them. */
const firstCards = Math.max(8, Math.ceil((innerWidth * innerHeight) / cardArea));
let areAllDrawn = false;

/** On a phone that is slow drawing many cards takes a second: those that are seen come first. */
function useFirstFew(devices: readonly Device[]): readonly Device[] {
  const [isWhole, setWhole] = useState(areAllDrawn);
  useEffect(() => {
    if (isWhole) return;
    const timer = setTimeout(() => {
      areAllDrawn = true;
      setWhole(true);
    });
    return () => clearTimeout(timer);
  }, [isWhole]);
  return isWhole ? devices : devices.slice(0, firstCards);
}
