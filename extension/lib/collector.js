// Talks to the collector on this machine. Everything is a POST, so that the browser names us.

export class CollectorDown extends Error {}
export class NotPaired extends Error {}
export class Refused extends Error {}

const PATIENCE_MILLISECONDS = 15_000;

/** "8917-ABCDE-FGHIJ-KLMNO-PQRST" to port and token; null when it cannot be a code. */
export function readCode(code) {
  const found = /^\s*(\d{2,5})-((?:[A-Z2-7]{5}-){3}[A-Z2-7]{5})\s*$/.exec(String(code).toUpperCase());
  const port = found ? Number(found[1]) : 0;
  return port > 0 && port < 65536 ? { port, token: found[2] } : null;
}

export async function ask(pairing, path, message) {
  if (!pairing) throw new NotPaired("This browser is not paired with a collector yet.");
  let answer;
  try {
    answer = await fetch(`http://127.0.0.1:${pairing.port}/v1/${path}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Authorization: `Bearer ${pairing.token}` },
      body: JSON.stringify(message),
      credentials: "omit",
      cache: "no-store",
      redirect: "error",
      signal: AbortSignal.timeout(PATIENCE_MILLISECONDS),
    });
  } catch {
    throw new CollectorDown("The collector does not answer. Start it with: trailhound collect");
  }
  return read(answer);
}

async function read(answer) {
  const found = await answer.json().catch(() => ({}));
  if (answer.ok) return found;
  const reason = typeof found.error === "string" ? found.error : `status ${answer.status}`;
  if (answer.status === 401 || answer.status === 403) throw new NotPaired(reason);
  if (answer.status >= 500) throw new CollectorDown(reason);
  throw new Refused(reason);
}
