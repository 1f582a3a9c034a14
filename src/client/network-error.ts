/** What went wrong with a connection, in the words of Go's clients. */
export function describeNetworkError(
  error: NodeJS.ErrnoException & { readonly address?: string; readonly port?: number },
): string {
  switch (error.code) {
    case 'ECONNREFUSED':
      return `dial tcp ${error.address ?? ''}:${error.port ?? ''}: connect: connection refused`;
    case 'ECONNRESET':
    case 'EPIPE':
      return 'EOF';
    case 'EHOSTUNREACH':
      return `dial tcp ${error.address ?? ''}:${error.port ?? ''}: connect: no route to host`;
    case 'ENOTFOUND':
      return `dial tcp: lookup ${(error as { readonly hostname?: string }).hostname ?? ''}: no such host`;
    case 'ABORT_ERR':
    case 'ETIMEDOUT':
      return 'context deadline exceeded';
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
      return 'x509: certificate signed by unknown authority';
    case 'CERT_HAS_EXPIRED':
    case 'CERT_NOT_YET_VALID':
      return 'x509: certificate has expired or is not yet valid';
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `x509: ${error.message}`;
    case 'EPROTO':
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
      // OpenSSL tells of its own source files.
      return /wrong version number|http request/.test(error.message)
        ? 'http: server gave HTTP response to HTTPS client'
        : 'tls: handshake failure';
    default:
      return error.message;
  }
}
