import { createServer } from 'node:https';

/** Says whether the object of a review may be written, and if not, why. */
export function judge({ uid, object }) {
  const isOwned = object.metadata.annotations?.owner !== undefined;
  return {
    uid,
    allowed: isOwned,
    ...(isOwned ? {} : { status: { code: 403, message: 'a ConfigMap needs the annotation "owner"' } }),
  };
}

/** Answers reviews of `admission.k8s.io/v1`. */
export function createWebhook(tls) {
  return createServer(tls, async (request, response) => {
    let text = '';
    for await (const piece of request) text += piece;
    const { apiVersion, kind, request: review } = JSON.parse(text);
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify({ apiVersion, kind, response: judge(review) }));
  });
}
