import type { TLSSocket } from 'node:tls';

/** An exchange of keys for each connection, and a cipher that authenticates as well: OpenSSL's names. */
const GOOD_SUITE = /^(EC)?DHE-.*(GCM|CCM8?|CHACHA20)/;

/** RFC 9113, 9.2.2 and appendix A: suites of TLS 1.2 with which there shall be no HTTP/2. TLS 1.3 has none of these. */
export function isProhibitedForHttp2(socket: TLSSocket): boolean {
  const { name, version } = socket.getCipher();
  return version !== 'TLSv1.3' && !name.startsWith('TLS_') && !GOOD_SUITE.test(name);
}
