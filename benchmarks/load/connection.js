const tls = require('node:tls');
const { AnswerReader } = require('./answer-reader');

/** The bytes of a request. `body` is text. */
function requestBytes({ host, port, token }, { method, path, headers = {}, body = '' }) {
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `Host: ${host}:${port}`,
    `Authorization: Bearer ${token}`,
    'User-Agent: sternpost-bench',
    ...Object.entries({ Accept: 'application/json', ...headers }).map(([name, value]) => `${name}: ${value}`),
    ...(body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]),
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`);
}

/** One kept-alive TLS connection with one request under way at a time. Certificates are the server's own: not verified. */
class Connection {
  static async open(target) {
    const socket = tls.connect({
      host: target.host,
      port: target.port,
      rejectUnauthorized: false,
      ALPNProtocols: ['http/1.1'],
    });
    await new Promise((resolve, reject) => {
      socket.once('secureConnect', resolve);
      socket.once('error', reject);
    });
    socket.setNoDelay(true);
    return new Connection(socket);
  }

  constructor(socket) {
    this.socket = socket;
    this.waiting = undefined;
    this.bodySink = undefined;
    const reader = new AnswerReader(
      (answer) => {
        const { waiting } = this;
        this.waiting = undefined;
        waiting?.resolve(answer);
      },
      (piece) => this.bodySink?.(piece),
    );
    socket.on('data', (data) => reader.push(data));
    socket.on('error', (error) => this.fail(error));
    socket.on('close', () => this.fail(new Error('the server closed the connection')));
  }

  /** Resolves with `{ status, head, bytes }`; `onBody` gets the body's pieces. */
  send(bytes, onBody) {
    this.bodySink = onBody;
    return new Promise((resolve, reject) => {
      this.waiting = { resolve, reject };
      this.socket.write(bytes);
    });
  }

  fail(error) {
    const { waiting } = this;
    this.waiting = undefined;
    waiting?.reject(error);
  }

  close() {
    this.socket.destroy();
  }
}

module.exports = { Connection, requestBytes };
