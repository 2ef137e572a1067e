/** Ends the command when its output is not read any more, as behind `head`. */
export function leaveUnread(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
}
