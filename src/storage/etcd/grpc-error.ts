/** The codes of gRPC that the store tells apart. */
export const GrpcCode = {
  ok: 0,
  cancelled: 1,
  unknown: 2,
  deadlineExceeded: 4,
  permissionDenied: 7,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;

/** A call that failed: by the server's word, or because there was no way to it. */
export class GrpcError extends Error {
  constructor(
    readonly code: number,
    message: string,
    /** True when the server has certainly not seen the call. */
    readonly isUnsent: boolean = false,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'GrpcError';
  }
}
