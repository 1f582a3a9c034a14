/** Resolves at the first SIGTERM or SIGINT. A second one ends the process at once, for those who cannot wait. */
export function untilSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let received = false;
    const handle = (signal: NodeJS.Signals): void => {
      if (received) process.exit(1);
      received = true;
      resolve(signal);
    };
    process.on('SIGTERM', handle);
    process.on('SIGINT', handle);
  });
}
