/**
 * True if a command line starts a service. A service is one process that hears its signals itself: SIGTERM and SIGINT
 * end it in order, and it ends with 0.
 */
export function isService([command, inner]: readonly string[]): boolean {
  return command === 'kernel' && inner === 'serve';
}
