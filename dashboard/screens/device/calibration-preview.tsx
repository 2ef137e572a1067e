import type { JSX } from 'preact';
import type { CalibrationPoint } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';
import { realValue } from '../../live/calibration.ts';

const width = 600;
const height = 160;

/** The last day as measured and as it would be corrected. */
export function CalibrationPreview(props: {
  readonly raw: readonly { readonly at: number; readonly value: number }[];
  readonly points: readonly CalibrationPoint[];
}): JSX.Element {
  const { raw, points } = props;
  const corrected = raw.map(({ at, value }) => ({ at, value: realValue(points, value) }));
  const all = [...raw, ...corrected];
  const low = Math.min(...all.map(({ value }) => value));
  const high = Math.max(...all.map(({ value }) => value));
  const from = raw[0]?.at ?? 0;
  const to = raw.at(-1)?.at ?? 1;
  const path = (line: typeof raw): string =>
    line
      .map(({ at, value }, index) => {
        const x = ((at - from) / Math.max(1, to - from)) * width;
        const y = high === low ? height / 2 : 4 + (1 - (value - low) / (high - low)) * (height - 8);
        return `${index === 0 ? 'M' : 'L'}${x.toFixed(1)} ${y.toFixed(1)}`;
      })
      .join('');
  return (
    <figure class="preview">
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img">
        <title>{t('chart.preview')}</title>
        <path class="preview-raw" d={path(raw)} />
        <path class="preview-real" d={path(corrected)} />
      </svg>
      <figcaption class="row small">
        <span class="preview-key is-raw">{t('chart.raw')}</span>
        <span class="preview-key is-real">{t('chart.calibrated')}</span>
      </figcaption>
    </figure>
  );
}
