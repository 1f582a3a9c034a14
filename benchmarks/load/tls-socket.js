const tls = require('node:tls');

/** A TLS connection that speaks `protocol`. Certificates are the server's own: not verified. */
async function openTls({ host, port }, protocol) {
  const socket = tls.connect({ host, port, rejectUnauthorized: false, ALPNProtocols: [protocol] });
  await new Promise((resolve, reject) => {
    socket.once('secureConnect', resolve);
    socket.once('error', reject);
  });
  if (socket.alpnProtocol !== protocol) throw new Error(`the server does not speak ${protocol}`);
  socket.setNoDelay(true);
  return socket;
}

module.exports = { openTls };
