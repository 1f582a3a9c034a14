/** An admission webhook that says yes to everything, in a process of its own: its parent sends it a key pair and hears its port. */
const { createServer } = require('node:https');

process.once('message', ({ cert, key }) => {
  let isCalled = false;
  const server = createServer({ cert, key, keepAliveTimeout: 120_000 }, (request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const { apiVersion, kind, request: asked } = JSON.parse(Buffer.concat(chunks));
      response.setHeader('Content-Type', 'application/json');
      response.end(JSON.stringify({ apiVersion, kind, response: { uid: asked.uid, allowed: true } }));
      if (!isCalled) process.send({ called: (isCalled = true) });
    });
  });
  server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
});
process.once('disconnect', () => process.exit());
