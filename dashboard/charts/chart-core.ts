/**
 * What charts and the screens around them share. The build lets every part that takes any of it
 * import all of it, so that it is one file to fetch instead of ten; see scripts/build-dashboard.ts.
 */
import '../api/control-value.ts';
import '../screens/device/device-chart.tsx';
import '../screens/device/device-part.tsx';
import '../state/corrections.ts';
import './bars.ts';
import './columns.ts';
import './lazy-chart.tsx';
import './panels.ts';
import './zone.ts';
