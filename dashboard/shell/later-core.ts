/**
 * What most screens share and home does without: one file beside the code of whichever is opened
 * first. The build lets every screen that is loaded later import it; see
 * scripts/build-dashboard.ts.
 */
import '../api/people.ts';
import '../i18n/later-formats.ts';
import '../state/action.ts';
import '../state/device.ts';
import '../ui/dialog.tsx';
import '../ui/field.tsx';
import '../ui/form-error.tsx';
import '../ui/icons.tsx';
import './login-form.tsx';
