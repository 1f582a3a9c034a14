/** What to do when the port cannot be had; other failures as they are. */
export function explainListenFailure(error: unknown, address: string, port: number): unknown {
  const { code } = error as NodeJS.ErrnoException;
  const explanation = explanations.get(code ?? '');
  return explanation === undefined ? error : new Error(explanation(address, port), { cause: error });
}

const explanations: ReadonlyMap<string, (address: string, port: number) => string> = new Map([
  [
    'EADDRINUSE',
    (address: string, port: number) =>
      `port ${port} of ${address} is taken by another process: end that one, or choose another port with --secure-port (0 picks a free one)`,
  ],
  [
    'EACCES',
    (address: string, port: number) =>
      `port ${port} of ${address} may not be opened by this user: choose one from 1024 on with --secure-port, or grant CAP_NET_BIND_SERVICE`,
  ],
  [
    'EADDRNOTAVAIL',
    (address: string) => `${address} is no address of this machine: choose another with --bind-address`,
  ],
  ['ENOTFOUND', (address: string) => `${address} is not an address: choose another with --bind-address`],
]);
