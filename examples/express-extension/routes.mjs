/** Routes beside the Kubernetes API. `app` is an Express 5 application. */
export default function extend(app) {
  app.get('/reports/whoami', (request, response) => {
    const { name, groups } = request.user;
    response.json({ name, groups });
  });

  // Server-sent events last until the client goes, or the server.
  app.get('/reports/clock', (request, response) => {
    response.set('Content-Type', 'text/event-stream');
    const tell = () => response.write(`data: ${new Date().toISOString()}\n\n`);
    tell();
    const clock = setInterval(tell, 1000);
    response.on('close', () => clearInterval(clock));
  });

  app.get('/reports/broken', async () => {
    throw new Error('this is logged, and the client reads a Status');
  });
}
