const { AnswerReader } = require('./answer-reader');
const { openTls } = require('./tls-socket');

const CLIENTS_PER_CONNECTION = 1;

/** The bytes of a request. `body` is text. */
function encodeRequest({ host, port }, { method, path, headers, body = '' }) {
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `Host: ${host}:${port}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]),
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`);
}

/** One kept-alive connection with one request under way at a time. */
class Http1Connection {
  static async open(target) {
    return new Http1Connection(await openTls(target, 'http/1.1'));
  }

  constructor(socket) {
    this.socket = socket;
    this.waiting = undefined;
    this.sink = {};
    const reader = new AnswerReader({
      onHead: (status) => this.sink.onHead?.(status),
      onBody: (piece) => this.sink.onBody?.(piece),
      onEnd: (answer) => {
        const { waiting } = this;
        this.waiting = undefined;
        waiting?.resolve(answer);
      },
    });
    socket.on('data', (data) => reader.push(data));
    socket.on('error', (error) => this.fail(error));
    socket.on('close', () => this.fail(new Error('the server closed the connection')));
  }

  send(bytes, sink = {}) {
    this.sink = sink;
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

module.exports = { CLIENTS_PER_CONNECTION, encodeRequest, open: Http1Connection.open };
