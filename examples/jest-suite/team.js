/** The code under test: gives a team its namespace and a quota. `fetch` knows the server and the token. */
async function createTeam(fetch, name) {
  await post(fetch, '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  await post(fetch, `/api/v1/namespaces/${name}/resourcequotas`, {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'team' },
    spec: { hard: { configmaps: '3' } },
  });
}

async function post(fetch, path, body) {
  const { status, text } = await fetch('POST', path, body);
  if (status !== 201) throw new Error(JSON.parse(text).message);
}

module.exports = { createTeam };
