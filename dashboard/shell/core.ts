/**
 * What the first load brings: the frame, home, and the parts that most screens share. The build
 * lets every screen that is loaded later import this file too, so that all of it is one chunk
 * instead of thirty; see scripts/build-dashboard.ts. What only few screens need is not named here.
 */
import '../screens/home/start.tsx';
import '../state/install.ts';
import '../state/language-choice.ts';
import '../state/page-settings.ts';
import '../state/scroll-memory.ts';
import '../state/theme.ts';
import '../ui/age.tsx';
import '../ui/error-box.tsx';
import '../ui/first-icons.tsx';
import '../ui/remembered.tsx';
import '../ui/skeleton.tsx';
import '../ui/value.tsx';
import './app.tsx';
