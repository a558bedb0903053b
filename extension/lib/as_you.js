// Hands the cookies of one host to Trailhound on this machine, when its button is pressed and at no other time.
// The permission to read cookies is asked for at that moment and given back at once; nothing is kept here.
import { Refused, ask } from "./collector.js";

/** The page's address if it is on the web, else null. */
export function webAddress(url) {
  const found = URL.canParse(url ?? "") ? new URL(url) : null;
  return found && /^https?:$/.test(found.protocol) ? found : null;
}

/** Called by a click, with nothing awaited before: browsers ask the user only then. */
export async function handOver(address, readPairing) {
  const wanted = { permissions: ["cookies"], origins: [`${address.protocol}//${address.hostname}/*`] };
  if (!(await chrome.permissions.request(wanted))) throw new Refused("Nothing was handed over: the browser was not allowed to.");
  try {
    const cookies = await cookiesOf(address);
    if (!cookies.length) throw new Refused(`${address.host} has no cookies in this browser. Log in there first.`);
    return await ask(await readPairing(), "access", { host: address.host, cookies });
  } finally {
    await chrome.permissions.remove({ permissions: ["cookies"] });
  }
}

/** Those that this page's host gets, at any of its paths; a cookie of another host is never among them. */
async function cookiesOf({ href, hostname }) {
  const [here, below] = await Promise.all([
    chrome.cookies.getAll({ url: href }),
    chrome.cookies.getAll({ domain: hostname }),
  ]);
  const own = below.filter(({ domain }) => domain.replace(/^\./, "") === hostname);
  const found = new Map([...here, ...own].map((cookie) => [`${cookie.domain}\n${cookie.path}\n${cookie.name}`, cookie]));
  return [...found.values()].map(({ name, value, domain, path, secure, hostOnly, expirationDate }) => (
    { name, value, domain, path, secure, hostOnly, expirationDate }
  ));
}
