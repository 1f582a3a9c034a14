/** RFC 9113, section 7. */
export const ErrorCode = {
  NO_ERROR: 0x0,
  PROTOCOL_ERROR: 0x1,
  INTERNAL_ERROR: 0x2,
  FLOW_CONTROL_ERROR: 0x3,
  SETTINGS_TIMEOUT: 0x4,
  STREAM_CLOSED: 0x5,
  FRAME_SIZE_ERROR: 0x6,
  REFUSED_STREAM: 0x7,
  CANCEL: 0x8,
  COMPRESSION_ERROR: 0x9,
  CONNECT_ERROR: 0xa,
  ENHANCE_YOUR_CALM: 0xb,
  INADEQUATE_SECURITY: 0xc,
  HTTP_1_1_REQUIRED: 0xd,
} as const;

const names = new Map<number, string>(Object.entries(ErrorCode).map(([name, code]) => [code, name]));

export function errorName(code: number): string {
  return names.get(code) ?? `error ${code}`;
}

/** The other side broke the protocol. It ends the connection, and the code goes into our GOAWAY. */
export class Http2Error extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(`${message} (${errorName(code)})`);
    this.name = 'Http2Error';
  }
}

export function protocolError(message: string): Http2Error {
  return new Http2Error(ErrorCode.PROTOCOL_ERROR, message);
}

export function compressionError(message: string): Http2Error {
  return new Http2Error(ErrorCode.COMPRESSION_ERROR, message);
}
