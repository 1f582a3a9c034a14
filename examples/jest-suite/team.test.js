const https = require('node:https');
const { startApiServer } = require('sternpost');
const { createTeam } = require('./team');

let server;
beforeAll(async () => {
  server = await startApiServer({ users: { alice: [] } });
});
afterAll(() => server.stop());

/** What the code under test uses: requests as that user. */
function fetchAs({ token }) {
  return (method, path, body) =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const request = https.request(
        `${server.url}${path}`,
        { method, headers, ca: server.certificateAuthority },
        (response) => {
          let text = '';
          response
            .on('data', (piece) => (text += piece))
            .on('end', () => resolve({ status: response.statusCode, text }));
        },
      );
      request.on('error', reject).end(body && JSON.stringify(body));
    });
}

test('a team has a namespace with a quota', async () => {
  const fetch = fetchAs(server);
  await createTeam(fetch, 'blue');
  const { text } = await fetch('GET', '/api/v1/namespaces/blue/resourcequotas/team');
  expect(JSON.parse(text).spec.hard).toEqual({ configmaps: '3' });
});

test('there is no second team of the same name', async () => {
  const fetch = fetchAs(server);
  await createTeam(fetch, 'red');
  await expect(createTeam(fetch, 'red')).rejects.toThrow('namespaces "red" already exists');
});

test('who may not create namespaces creates no team', async () => {
  await expect(createTeam(fetchAs(server.users.alice), 'green')).rejects.toThrow(
    'User "alice" cannot create resource "namespaces"',
  );
});
