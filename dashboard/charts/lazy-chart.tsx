import type { JSX } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import { t } from '../i18n/i18n.ts';
import { ErrorBox } from '../ui/error-box.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import type { ChartProps } from './chart-props.ts';
import { chartHeight } from './panels.ts';
import type { SensorChart } from './sensor-chart.tsx';

let loaded: typeof SensorChart | undefined;

/** The chart of sensors; its code is fetched when the first one is shown. */
export function Chart(props: ChartProps): JSX.Element {
  const [Found, setFound] = useState(() => loaded);
  const [hasFailed, setFailed] = useState(false);
  useLayoutEffect(() => {
    if (Found !== undefined || hasFailed) return;
    let isCurrent = true;
    import('./sensor-chart.tsx')
      .then((module) => {
        loaded = module.SensorChart;
        if (isCurrent) setFound(() => module.SensorChart);
      })
      .catch(() => {
        if (isCurrent) setFailed(true);
      });
    return () => {
      isCurrent = false;
    };
  }, [Found, hasFailed]);
  if (hasFailed) return <ErrorBox text={t('chart.failed')} onRetry={() => setFailed(false)} />;
  // Its place is kept from the start: what is below it does not move when it comes.
  const heightPx = chartHeight(props.sensors, props.roomPx ?? roomPx());
  return (
    <div class="chart-frame" style={{ '--chart-height': `${heightPx}px` }}>
      {Found === undefined ? <Skeleton height={heightPx} /> : <Found {...props} />}
    </div>
  );
}

const phoneMarginsPx = 32;
const wideMinPx = 900;

/** How wide a chart is, about; only what wraps at that width depends on it. */
const roomPx = (): number =>
  innerWidth < wideMinPx ? innerWidth - phoneMarginsPx : Math.min(innerWidth - 300, 760);
