import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Device, Sensor } from '../../api/types.ts';
import type { Wrong } from '../../charts/chart-props.ts';
import { DeviceChart } from './device-chart.tsx';
import { WrongDialog } from './wrong-dialog.tsx';

/** The chart of a sensor, for those who may put its values right. */
export function CorrectableChart(props: {
  readonly device: Device;
  readonly sensor: Sensor;
  readonly onChange: () => void;
}): JSX.Element {
  const { device, sensor, onChange } = props;
  const [wrong, setWrong] = useState<Wrong>();
  return (
    <>
      <DeviceChart device={device} sensors={[sensor]} onWrong={setWrong} />
      {wrong !== undefined && (
        <WrongDialog {...{ device, sensor, wrong, onChange }} onClose={() => setWrong(undefined)} />
      )}
    </>
  );
}
