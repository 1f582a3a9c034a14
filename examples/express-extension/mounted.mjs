import { createServer } from 'node:http';
import express from 'express';
import { startApiServer } from 'sternpost';
import extend from './routes.mjs';

const api = await startApiServer({ extend });
const app = express();
app.get('/', (request, response) => response.send('an application of its own'));
app.use('/kubernetes', api.handler);

const server = createServer(app);
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${server.address().port}`;
const headers = { authorization: `Bearer ${api.token}` };
const read = async (path) => (await fetch(`${url}${path}`, { headers })).text();

console.log(await read('/'));
console.log(JSON.parse(await read('/kubernetes/api/v1/namespaces/default')).metadata.name);
console.log(JSON.parse(await read('/kubernetes/reports/whoami')).groups.join());
console.log(JSON.parse(await read('/kubernetes/reports/broken')).reason);

await api.stop();
server.close();
