// What the build begins at: the code and the styles of the first load.
import './shell/begin.tsx';
import './styles/app.css';
