/** Ends the command when nobody reads what it prints any more, as behind `head`. */
export function leaveUnread(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
}
